"""λ text → tree with names, by the grammar `lambda.lark`."""

from __future__ import annotations

from functools import cache
from typing import cast

from lark import Lark

from lambdagent.frontend.lambda_builder import TREE_BUILDER
from lambdagent.frontend.lambda_tree import File


def parse_tree(text: str) -> File:
    """Return the tree of `text`; linear in it, whatever its nesting.

    Raises:
        UnexpectedInput: The text is not of the grammar.
        LambdaSyntaxError: A lexeme of it is wrong.
    """
    return cast(File, _parser().parse(text))


@cache
def _parser() -> Lark:
    return Lark.open_from_package(
        __name__,
        "lambda.lark",
        parser="lalr",
        start="file",
        maybe_placeholders=False,
        transformer=TREE_BUILDER,
    )
