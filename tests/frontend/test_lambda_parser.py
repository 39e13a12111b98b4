"""Our loop through the table of the grammar does what lark's own does."""

import re
import tracemalloc
from contextlib import suppress
from functools import cache
from typing import Any

import attrs
import pytest
from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.lambda_builder import TREE_BUILDER
from lambdagent.frontend.lambda_faults import explained
from lambdagent.frontend.lambda_parser import parse_tree
from lambdagent.frontend.lambda_tree import span_of
from tests.fuzz.corpus import AGENTS
from tests.fuzz.files import file

# `TREE_BUILDER` cuts these up, for which lark's lexemes are not made.
EQUATION = re.compile(r"\(\s*\w+\s*=")


@cache
def by_lark() -> Lark:
    return Lark.open_from_package(
        "lambdagent.frontend.lambda_parser",
        "lambda.lark",
        parser="lalr",
        start="file",
        maybe_placeholders=False,
        transformer=TREE_BUILDER,
    )


def shown(item: Any) -> Any:
    """A tree as tuples, with the place of each lexeme."""
    if isinstance(item, Token):
        return item.type, str(item), span_of(item)
    if attrs.has(type(item)):
        parts = [getattr(item, each.name) for each in attrs.fields(type(item))]
        return type(item).__name__, [shown(part) for part in parts]
    if isinstance(item, list | tuple):
        return [shown(part) for part in item]
    return repr(item)


def outcome(read: Any, text: str) -> Any:
    try:
        return shown(read(text))
    except UnexpectedInput as error:
        return type(error).__name__, explained(error, text)
    except LambdaSyntaxError as error:
        return error.diagnostics


TEXTS = [*AGENTS[".lam"], "", " # a", "λ", "f (x", "x in y", "--", "f é ⟩", '"', "x\n\n  = \r\n1"]


@pytest.mark.parametrize("text", [text for text in TEXTS if not EQUATION.search(text)])
def test_texts_are_read_alike(text: str):
    assert outcome(parse_tree, text) == outcome(by_lark().parse, text)


def test_texts_of_any_lexemes_are_read_alike():
    compared = 0
    for number in range(500):
        made = file(number)
        if not made.name.endswith(".lam") or len(made.data) > 3_000:
            continue
        text = made.data.decode("utf-8", "replace")
        if not EQUATION.search(text):
            compared += 1
            assert outcome(parse_tree, text) == outcome(by_lark().parse, text), number
    assert compared > 40


@pytest.mark.parametrize(
    "text",
    ['"{}"', "λx{}. x", "`{}`", "llm.{}", "{{x | '{}'}}", "{{x | {}}}", 'LLM_{{gpt-4o, "{}"}}(x)'],
    ids=["text", "name", "quoted", "site", "guard", "bare", "prompt"],
)
def test_a_long_lexeme_takes_little_memory(text: str):
    """To look again where a lexeme might end sooner, 700 bytes a character would be kept."""
    parse_tree("λx. x")  # makes the table
    long = text.format("a" * 300_000)
    tracemalloc.start()
    with suppress(UnexpectedInput, LambdaSyntaxError):
        parse_tree(long)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * len(long)
