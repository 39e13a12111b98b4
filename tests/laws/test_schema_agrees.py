"""What the checker accepts is valid by the JSON Schema, and what it refuses is not.

The files are made from the table itself: any fields, in any combination, with values that their
kinds take and, now and then, with one that they do not.
"""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lambdagent.errors import CompileError
from lambdagent.frontend import kinds
from lambdagent.frontend.check import check_config
from lambdagent.frontend.json_schema import json_schema
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.schema import AGENT, MODEL, SCRIPT, STEP
from lambdagent.source import Source
from tests.frontend.fields import complete, two

VALIDATOR = Draft202012Validator(json_schema())
OTHER = {"no": "value"}
DEEPEST = 3


def accepted(held: Any) -> bool:
    try:
        check_config(tree_of(held), Source("", ""), {})
    except CompileError:
        return False
    return True


def good_or_bad(good: st.SearchStrategy[Any], *bad: Any) -> st.SearchStrategy[Any]:
    """Values, a few of them bad."""
    wrong = st.sampled_from([OTHER, None, *bad])
    return seldom().flatmap(lambda now: wrong if now else good)


def seldom() -> st.SearchStrategy[bool]:
    """Whether to do what makes a file wrong: often enough that half of the files are."""
    return st.integers(0, 99).map(lambda n: n in (57, 58))


@cache
def held(kind: kinds.Kind, depth: int) -> st.SearchStrategy[Any]:
    """Values of `kind`, most of them good; deep inside only the smallest agents."""
    match kind:
        case kinds.Integer(least, zero, most):
            low = 1 if zero else least
            return good_or_bad(
                st.integers(low, min(most or low + 9, low + 9)), low - 1, "1", 2**63
            )
        case kinds.Number(least, most):
            high = most or least + 9
            return good_or_bad(st.floats(least + 0.1, high), least - 0.1, "1", high * 2e300)
        case kinds.Choice(words):
            return good_or_bad(st.sampled_from(words), "word")
        case kinds.Remembered():
            return good_or_bad(
                st.booleans() | st.sampled_from(["full", "summary(7)"]), "summary(0)", 1, "full()"
            )
        case kinds.ListOf(item):
            items = st.lists(held(item, depth), max_size=2)
            return good_or_bad(items, [], "a")
        case kinds.MapOf(value):
            return good_or_bad(st.dictionaries(st.sampled_from("kq"), held(value, depth)), {}, [])
        case kinds.Agent() | kinds.Step() if depth >= DEEPEST:
            return st.just(two(kind)[0])
        case kinds.Agent():
            return good_or_bad(block(AGENT, depth + 1))
        case kinds.Step():
            return good_or_bad(block(STEP, depth + 1) | block(AGENT, depth + 1))
        case _:
            return inner(kind, depth)


@cache
def inner(kind: kinds.Kind, depth: int) -> st.SearchStrategy[Any]:
    """The same for the kinds without bounds, and for blocks."""
    blocks = {kinds.Model: MODEL, kinds.Script: SCRIPT}
    known = kind if isinstance(kind, kinds.Block) else blocks.get(type(kind))
    if known is not None:
        return good_or_bad(block(known, depth), [], {})
    return good_or_bad(st.sampled_from(two(kind)), [])


@cache
def block(described: kinds.Block, depth: int) -> st.SearchStrategy[Any]:
    """Blocks: what they must have, mostly, and any three of their other fields."""

    @st.composite
    def draw_block(draw: st.DrawFn) -> dict[str, Any]:
        names = list(described.required)
        some = list(described.fields)
        type_ = "simple"
        if described is AGENT:
            type_ = draw(st.sampled_from(AGENT.fields["type"].kind.words))
            names += ["systemPrompt", *([type_] if type_ in AGENT.fields else [])]
            some = [each for each in some if draw(seldom()) or belongs(each, type_, depth)]
        names += draw(st.lists(st.sampled_from(some), max_size=3)) if some else []
        if draw(seldom()):
            names = names[1:]
        found = {name: draw(held(described.fields[name].kind, depth)) for name in names}
        if described is AGENT and not draw(seldom()):
            found["type"] = type_
        if draw(seldom()):
            found[draw(st.sampled_from(["unheard", "x-mine"]))] = 1
        return found if draw(seldom()) else complete(described, found)

    return draw_block()


def belongs(name: str, type_: str, depth: int) -> bool:
    """Whether an agent of `type_`, at `depth`, may have the field `name`."""
    field = AGENT.fields[name]
    return (not field.types or type_ in field.types) and not (field.top_only and depth)


@pytest.mark.slow
@settings(max_examples=200)
@given(block(AGENT, 0))
def test_the_schema_says_what_the_checker_says(agent):
    assert VALIDATOR.is_valid(agent) == accepted(agent)
