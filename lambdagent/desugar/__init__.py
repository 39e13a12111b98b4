"""Surface → core: each agent becomes a function value of five node shapes and a table of sites.

One form per module, headed by its equation. Source: semantics.md §8.
"""
