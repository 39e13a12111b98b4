"""Events and exchanges → records."""

import pytest

from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Exchange
from lambdagent.ir.labels import action_labels
from lambdagent.ir.sites import Site
from lambdagent.machine.state import PAIR, TAGGED, Event
from lambdagent.trace.macro import (
    TraceRecord,
    ends_of_steps,
    macro_trace,
    numbered,
    tokens_of,
    total_tokens,
    watcher,
)

USAGE = Record(input=3, output=4)
LLM = Site("llm:a", "llm", Record(conversation=False))


def exchange(key: tuple[int, ...], argument: str, answer: object, **more: object) -> Exchange:
    settings = {"started_s": 0.5, "elapsed_s": 0.25, **more}
    return Exchange(key, LLM, argument, answer, **settings)  # type: ignore[arg-type]


def event(
    key: tuple[int, ...], kind: str, name: str, value: object = "", started: int = 0
) -> Event:
    return Event(key, kind, name, value, started, 0)


def chosen(label: str) -> tuple[object, ...]:
    return (TAGGED, ("call wc", "terminate", "_"), ("call wc", "terminate", "_").index(label), "x")


def test_a_model_call_is_what_was_asked_and_answered():
    answer = Record(text="hi", usage=USAGE)
    (record,) = macro_trace([event((1,), "llm", "a", "hi")], {(0,): exchange((0,), "x", answer)})
    assert record == TraceRecord(0, "llm", "a", "x", "hi", 0.5, 0.25, (3, 4), key=(0,))


@pytest.mark.parametrize(
    ("index", "said"),
    [(0, "wc"), (1, "invalid"), (2, "terminate (λx.x)"), (3, "answer")],
)
def test_what_a_reply_means_is_told_as_a_route(index: int, said: str):
    value = (TAGGED, action_labels(("wc",)), index, "x")
    (record,) = macro_trace([event((1,), "action", "route", value)], {})
    assert (record.kind, record.output) == ("route", f"selected: {said}")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("call wc", "selected: call wc"),
        ("terminate", "selected: terminate"),
        ("_", "selected: (other)"),
    ],
)
def test_a_route_tells_what_was_selected(label: str, said: str):
    (record,) = macro_trace([event((1,), "route", "route", chosen(label))], {})
    assert (record.kind, record.input, record.output) == ("route", "", said)


@pytest.mark.parametrize("kind", ["route", "action"])
@pytest.mark.parametrize(
    ("value", "said"),
    [(2, "2"), ("a", '"a"'), ((PAIR, 1, True), "(1, true)")],
)
def test_a_route_that_selects_nothing_tells_its_value(kind: str, value: object, said: str):
    (record,) = macro_trace([event((1,), kind, "l", value)], {})
    assert (record.kind, record.output) == ("route", f"selected: {said}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [(True, "approved"), (False, "denied"), ("", "denied"), ("why: x", "denied: why: x")],
)
def test_a_confirmation_tells_what_a_person_said(answer: object, said: str):
    asked = Exchange(
        (0,),
        Site("confirm:t", "confirm", Record(tool="t")),
        "x",
        answer,
        started_s=0.5,
        elapsed_s=9.0,
    )
    (record,) = macro_trace([event((1,), "confirm", "Confirm:t")], {(0,): asked})
    found = (record.kind, record.term, record.input, record.output, record.elapsed_s)
    assert found == ("confirm", "Confirm:t", "x", said, 9.0)


def test_terminate_answers_with_what_it_got():
    (record,) = macro_trace([event((1,), "terminate", "terminate", "end")], {})
    assert (record.input, record.output) == ("end", "end")


def test_records_are_in_canonical_order_whatever_the_schedule_was():
    events = [
        event((3, 1, 1), "llm", "second"),
        event((4,), "llm", "last"),
        event((3, 0, 1), "llm", "first"),
    ]
    assert [record.term for record in macro_trace(events, {})] == ["first", "second", "last"]
    assert [record.step for record in macro_trace(events, {})] == [0, 1, 2]


def test_steps_have_the_numbers_of_their_records_whatever_else_happens():
    kinds = ("memory", "llm", "exit", "tool", "guard", "confirm", "note", "route", "terminate")
    events = [
        event((thread, number), kind, kind, started=number)
        for thread in (1, 0)
        for number, kind in enumerate(kinds)
    ]
    records = macro_trace(events, {})
    assert len(records) == 10
    assert numbered(events) == {(each.key, each.term): each.step for each in records}
    assert [each.kind for each in ends_of_steps(events)] == [each.kind for each in records]


def test_remarks_go_to_the_record_before_them():
    events = [
        event((0,), "note", "nobody", "is there"),
        event((1,), "llm", "a"),
        event((2,), "guard", "g", started=2),
        event((3,), "note", "predicate", "it raised"),
        event((4,), "guard", "g", started=0),
    ]
    (record,) = macro_trace(events, {})
    assert record.notes == (
        "guard: not valid, 2 retries left",
        "predicate: it raised",
        "guard: not valid, fallback",
    )


def test_a_record_as_json():
    record = TraceRecord(3, "llm", "a", "x", "y", 0.1, 1.2345, (3, 4), ("note",))
    assert record.to_json() == {
        "step": 3,
        "term": "a",
        "kind": "llm",
        "duration_ms": 1234,
        "input": "x",
        "output": "y",
        "tokens": {"input": 3, "output": 4},
        "notes": ["note"],
    }
    assert set(TraceRecord(0, "route", "route", "", "").to_json()) == {
        "step",
        "term",
        "kind",
        "duration_ms",
        "input",
        "output",
    }


def test_values_that_are_no_text_are_shown_as_json():
    (record,) = macro_trace([event((1,), "terminate", "t", (PAIR, 1, True))], {})
    assert record.output == "[1, true]"


@pytest.mark.parametrize(
    "answer",
    ["text", None, Record(text="x"), Record(usage=Record(input=1)), Record(usage="many")],
)
def test_no_tokens_are_guessed(answer: object):
    assert tokens_of(answer) is None  # type: ignore[arg-type]


def test_the_total_of_tokens_needs_a_count_of_every_call():
    one = TraceRecord(0, "llm", "a", "", "", tokens=(1, 2))
    assert total_tokens([one, one]) == 6
    assert total_tokens([one, TraceRecord(1, "llm", "a", "", "")]) is None
    assert total_tokens([one, TraceRecord(1, "route", "r", "", "")]) == 3
    assert total_tokens([]) is None


def test_a_watcher_numbers_what_it_shows_and_skips_remarks():
    shown: list[TraceRecord] = []
    watch = watcher(shown.append)
    watch(event((1,), "llm", "a", "hi"), {(0,): exchange((0,), "x", "hi")})
    watch(event((2,), "guard", "g"), {})
    watch(event((3,), "note", "n"), {})
    watch(event((4,), "route", "route", chosen("_")), {})
    assert [(record.step, record.term) for record in shown] == [(0, "a"), (1, "route")]
    assert shown[0].input == "x"
