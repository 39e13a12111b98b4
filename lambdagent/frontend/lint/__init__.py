"""Lint: what is wrong with an agent that compiles, what it means in λ, how to mend it.

In: a `Config`, or the bounds of a program. Out: findings with a level, and edits of the text where
they are certain. Rules are rows of `table`; each is a function of a place that yields what it
finds. Nothing here reads files or runs agents. Source: specification 8; semantics.md §9.
"""
