"""What is told of requests and events, where whole runs do not get to."""

from typing import Any

import pytest

from lambdagent.effects.handlers import Request
from lambdagent.effects.narrator import Narrator
from lambdagent.effects.run_events import LlmCalled, LoopExited, Token, ToolDispatched, TurnStarted
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import action_labels
from lambdagent.ir.sites import Site
from lambdagent.machine.state import Event
from lambdagent.machine.values import tagged

REPLY = Record(text="r")


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def narrator(told: list[Any]) -> Narrator:
    return Narrator(told.append, run="r", agent="program", wants_tokens=True)


def think(clock: int, name: str = "outer", path: tuple[int, ...] = ()) -> Request:
    row = Record(agent=name, prompt="p", conversation=False, model=None, tools=())
    return Request((*path, clock), Site(f"llm:{name}", "llm", row), "question")


def tool(clock: int, name: str = "look", path: tuple[int, ...] = ()) -> Request:
    return Request((*path, clock), Site(f"tool:{name}", "tool", Record(name=name)), "x")


def answer(clock: int) -> Event:
    """The event of a reply that ends its loop."""
    labels = action_labels(("look",))
    return Event((clock,), "action", "route", tagged(labels, 3, "done"), clock, 0)


def exchange(narrator: Narrator, request: Request, reply: Any = REPLY) -> None:
    narrator.asked(request)
    narrator.answered(request, reply, 0.0)


def test_a_loop_inside_a_tool_of_a_loop_has_turns_of_its_own(narrator: Narrator, told: list[Any]):
    exchange(narrator, think(0))
    exchange(narrator, think(1, "inner"))
    exchange(narrator, think(2, "inner"))
    narrator.happened(answer(3))
    exchange(narrator, think(3))
    narrator.happened(answer(4))
    turns = [(each.agent, each.turn_number) for each in told if isinstance(each, TurnStarted)]
    assert turns == [("outer", 1), ("inner", 1), ("inner", 2), ("outer", 2)]
    inner, outer = (each for each in told if isinstance(each, LoopExited))
    assert (inner.agent, inner.total_turns, inner.total_llm_calls) == ("inner", 2, 2)
    assert (outer.agent, outer.total_turns, outer.total_llm_calls) == ("outer", 2, 4)


def looped(clock: int, name: str, value: Any = None) -> Event:
    """An event of a loop that is none of ReAct."""
    return Event((clock,), "loop", name, value, clock, 0)


def exits(told: list[Any]) -> list[tuple[str, int, str]]:
    return [(e.agent, e.total_turns, e.exit_reason) for e in told if isinstance(e, LoopExited)]


def test_a_loop_inside_a_react_loop_leaves_its_turns_alone(narrator: Narrator, told: list[Any]):
    exchange(narrator, think(0))
    narrator.happened(looped(1, "entered"))
    exchange(narrator, tool(1), "seen")
    narrator.happened(looped(2, "tested", value=False))
    exchange(narrator, tool(2), "seen")
    narrator.happened(looped(3, "tested", value=True))
    exchange(narrator, think(3))
    narrator.happened(answer(4))
    assert [e.turn_number for e in told if isinstance(e, ToolDispatched)] == [1, 1]
    assert [e.turn_number for e in told if isinstance(e, TurnStarted)] == [1, 2]
    assert exits(told) == [("outer", 2, "exit_condition"), ("outer", 2, "stop")]


def test_loops_that_a_caught_failure_ended_are_told_when_others_go_on(
    narrator: Narrator, told: list[Any]
):
    exchange(narrator, think(0))
    exchange(narrator, think(1, "inner"))
    narrator.happened(looped(2, "entered"))
    exchange(narrator, think(3))
    assert exits(told) == [("inner", 0, "error"), ("inner", 1, "error")]
    narrator.happened(looped(4, "entered"))
    exchange(narrator, think(4, "inner"))
    narrator.happened(looped(5, "exhausted"))
    narrator.happened(answer(6))
    assert exits(told)[2:] == [
        ("inner", 1, "error"),
        ("outer", 0, "max_turns"),
        ("outer", 2, "stop"),
    ]


def test_loops_of_a_run_that_answered_all_the_same_ended_in_failures(
    narrator: Narrator, told: list[Any]
):
    narrator.happened(looped(0, "entered"))
    narrator.ended("answered")
    assert exits(told) == [("program", 0, "error")]


def test_what_a_branch_of_a_tool_does_belongs_to_the_loop(narrator: Narrator, told: list[Any]):
    exchange(narrator, think(0))
    exchange(narrator, tool(0, path=(1, 1)), "seen")
    dispatched = next(each for each in told if isinstance(each, ToolDispatched))
    assert (dispatched.turn_number, dispatched.agent, dispatched.branch) == (1, "outer", (1, 1))


def test_of_two_calls_of_one_tool_the_first_is_made(narrator: Narrator, told: list[Any]):
    calls = tuple(Record(id=f"call_{n}", name="look", arguments=n) for n in range(2))
    exchange(narrator, think(0), Record(text="", tool_calls=calls))
    exchange(narrator, tool(1), "seen")
    assert told[-1].tool_call_id == "call_0"


def test_who_is_answered_for_is_not_heard_any_more(narrator: Narrator, told: list[Any]):
    request = think(0)
    narrator.asked(request)
    assert request.tell is not None
    request.tell("in time", 1)
    narrator.answered(request, Failure("Timeout", "too late"), 1.0)
    request.tell("too late", 1)
    assert [each.text for each in told if isinstance(each, Token)] == ["in time"]
    assert not told[-1].success


def test_what_a_person_says_in_place_of_a_model_is_told(narrator: Narrator, told: list[Any]):
    exchange(narrator, think(0), 42)
    called = told[-1]
    assert isinstance(called, LlmCalled)
    assert (called.text, called.success) == ("42", False)


def test_events_of_programs_by_hand_may_hold_anything(narrator: Narrator, told: list[Any]):
    for kind in ("action", "route", "exit", "loop", "terminate", "llm"):
        for name in ("x", "tested", "exhausted"):
            narrator.happened(Event((0,), kind, name, "no label", 0, 0))
    assert told == []


def test_marks_by_hand_in_a_loop_do_not_end_it(narrator: Narrator, told: list[Any]):
    narrator.happened(looped(0, "entered"))
    narrator.happened(answer(1))
    narrator.happened(Event((2,), "exit", "thought", "max_turns", 2, 0))
    assert told == []


def test_a_model_that_cannot_be_asked_what_it_is_gets_no_message(
    narrator: Narrator, told: list[Any]
):
    row = Record(agent="a", prompt="p", conversation=True, model=None)
    narrator.asked(Request((0,), Site("llm:a", "llm", row), "no conversation"))
    assert told[-1].message_count == 0
