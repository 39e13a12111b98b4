"""REQUEST → REPLY: all input and output of a run.

The driver steps a machine and answers its requests; handlers know how: models (`llm`), tools
(`tools`), stores. `protocol` holds what they exchange.
"""
