"""Where two runs part."""

import pytest

from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.sites import Site
from lambdagent.machine.state import NIL_VALUE, PAIR
from lambdagent.trace.comparison import Comparison, Side, asked_by, by_key, compare, render
from lambdagent.trace.macro import TraceRecord

LLM = Site("llm:a", "llm", Record(conversation=False))
TALK = Site("llm:a", "llm", Record(conversation=True))
TOOL = Site("tool:b", "tool", Record())


def side(*asked: tuple[object, ...], input: Data = "x", outcome: str = "answer: y") -> Side:  # noqa: A002
    """Return a run: key, site, argument, answer, and whether it came, of each request."""
    requests = {key: rest if len(rest) == 4 else (*rest, True) for key, *rest in asked}
    records = [
        TraceRecord(i, site.kind, site.name, str(argument), str(answer), 0.0, key=key)
        for i, (key, (site, argument, answer, came)) in enumerate(sorted(requests.items()))
        if came
    ]
    return Side("run", input, asked_by(requests), by_key(records), outcome)  # type: ignore[arg-type]


def said(text: str, **more: Data) -> Record:
    return Record(text=text, **more)


BASE = (((0,), LLM, "x", said("y")), ((1, 0, 0), TOOL, "y", "z"), ((2,), LLM, "z", said("end")))


def both(*other: tuple[object, ...]) -> Comparison:
    return compare(side(*BASE), side(*other), "")


def test_equal_runs_do_not_differ():
    found = compare(side(*BASE), side(*BASE), "a prompt")
    assert found.is_same
    assert render(found, 80).splitlines() == [
        "the programs differ: a prompt",
        "no difference: 3 requests, 3 steps and the outcome agree",
    ]


@pytest.mark.parametrize(
    ("changed", "what", "texts"),
    [
        (((1, 0, 0), LLM, "y", "z"), "site", ("tool:b", "llm:a")),
        (((1, 0, 0), TOOL, "Y", "z"), "argument", ("y", "Y")),
        (((1, 0, 0), TOOL, "y", "Z"), "answer", ("z", "Z")),
        (((1, 0, 0), TOOL, "y", Failure("ToolError", "no")), "answer", ("z", "ToolError: no")),
        (((1, 0, 0), TOOL, "y", None, False), "answer", ("z", None)),
        (((1, 1, 0), TOOL, "y", "z"), "request", ("y", None)),
    ],
)
def test_the_first_request_that_differs_is_found(changed, what: str, texts):
    found = both(BASE[0], changed, BASE[2])
    first = found.requests[0]
    assert (first.key, first.what, first.texts) == ((1, 0, 0), what, texts)
    assert not found.is_same


def test_answers_that_read_the_same_are_shown_whole():
    found = both((*BASE[0][:3], said("y", finish_reason="length")), *BASE[1:])
    (first,) = found.requests
    assert first.texts == ('{"text": "y"}', '{"text": "y", "finish_reason": "length"}')


def test_arguments_that_read_the_same_are_shown_whole():
    ours = (PAIR, (PAIR, "before", NIL_VALUE), "now")
    theirs = (PAIR, (PAIR, "elsewhere", NIL_VALUE), "now")
    found = compare(side(((0,), TALK, ours, said("y"))), side(((0,), TALK, theirs, said("y"))), "")
    assert found.requests[0].texts == ('[["before", []], "now"]', '[["elsewhere", []], "now"]')


def test_steps_of_one_key_are_compared_in_order():
    choice = TraceRecord(0, "route", "route", "", "selected: b", key=(1,))
    call = TraceRecord(1, "tool", "Tool:b", "", "z", key=(1,))
    ours = Side("run", "x", {}, by_key([choice, call]), "")
    theirs = Side("other", "x", {}, by_key([choice]), "")
    found = compare(ours, theirs, "")
    (first,) = found.records
    assert (first.what, first.name, first.texts) == ("step", "Tool:b", ("z", None))
    assert "@1 Tool:b, only in -" in render(found, 80)
    assert "only in +" in render(compare(theirs, ours, ""), 80)


def test_texts_are_shown_around_the_place_where_they_part():
    ours, theirs = "a" * 500_000 + "\x1b[31m" + "b" * 500_000, "a" * 500_000 + "c\u202e"
    found = compare(side(input=ours), side(input=theirs), "")
    mine, other = render(found, 60).splitlines()[3:]
    assert mine.startswith("  - …aaaaaaaaaaaaaaaaaaaa\\u001b[31mbbb")
    assert mine.endswith("…")
    assert other == '  + …aaaaaaaaaaaaaaaaaaaac\\u202e"'
    assert len(mine) <= 60


def test_many_differences_are_listed_in_part():
    ours = [((i,), TOOL, "x", "y") for i in range(50)]
    found = compare(side(*ours), side(outcome="no end"), "")
    lines = render(found, 80).splitlines()
    assert "after that 98 more differ:" in lines
    assert "  … and 78 more" in lines
    assert lines[-3:] == ["the outcome differs:", '  - "answer: y"', '  + "no end"']
    assert len(found.to_json()["requests"]) == 50  # type: ignore[arg-type]
