"""Which turns of a conversation are sent: what tools answered goes with its calls."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.ir.labels import REPLY, RESULTS
from lambdagent.ir.tokens import OF_A_CALL, OF_A_MESSAGE, estimate_tokens
from lambdagent.machine.state import NIL_VALUE, Value
from lambdagent.machine.store import STORES
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import list_value, pair, tagged
from lambdagent.machine.window import Limits, Window, split, told


def calls(*tools: str) -> Value:
    """Return a reply that calls `tools`."""
    made = tuple(Record(id=f"c-{tool}", name=tool, arguments=Record()) for tool in tools)
    return tagged(REPLY, 0, Record(text="", tool_calls=made))


def answers(*tools: str) -> Value:
    """Return what `tools` answered."""
    return tagged(RESULTS, 0, list_value(pair(tool, f"answer of {tool}") for tool in tools))


def cell_of(*turns: tuple[Value, Value]) -> Value:
    """Return the cell of a conversation of `turns`, oldest first."""
    append = STORES["conv.append"](Record())
    cell = None
    for asked, reply in turns:
        _, cell = append(cell, pair(asked, reply))
    return cell or NIL_VALUE


def chain(rounds: int, question: str = "Which way?") -> list[tuple[Value, Value]]:
    """Return the turns of a loop that calls one tool a round."""
    asked = [question, *(answers(f"t{i}") for i in range(rounds - 1))]
    return [(each, calls(f"t{i}")) for i, each in enumerate(asked)]


def sent(window: Window) -> list[Value]:
    """Return inputs and replies, oldest first."""
    return [part for turn in reversed(window.turns) for part in (turn[1], turn[2][1])]


EVERY_CALL = [calls(f"t{i}") for i in range(5)]
BEFORE = [("hello", "Hi!"), ("and?", "So.")]


def within(said: list[tuple[Value, Value]], newest: Value, **limits: int) -> Window:
    return split(cell_of(*said), newest, Limits(**limits), estimate_tokens)


def test_thoughts_that_are_sent_with_calls_are_counted():
    asked, thought = "Which way?", "First I have to look where the river is."
    plain = within([(asked, calls("map"))], answers("map")).tokens
    reply = tagged(REPLY, 0, Record({**calls("map")[3], "reasoning": thought}))
    window = within([(asked, reply)], answers("map"))
    assert window.tokens == plain + estimate_tokens(thought) + OF_A_MESSAGE


def test_a_window_that_begins_in_a_loop_begins_with_its_question():
    window = within([*BEFORE, *chain(4)], answers("t3"), turns=2)
    assert sent(window) == ["Which way?", calls("t2"), answers("t2"), calls("t3")]
    assert window.answers == answers("t1")
    assert window.older[1][1] == answers("t0")


def test_the_calls_that_are_answered_are_sent_whatever_the_limits():
    window = within([*BEFORE, *chain(3)], answers("t2"), turns=0, messages=1, tokens=0)
    assert sent(window) == ["Which way?", calls("t2")]


def test_what_a_person_says_needs_no_turn():
    assert within(BEFORE, "new", turns=0).turns == []


def test_each_answer_is_a_message():
    turns = [("q", calls("a", "b", "c")), (answers("a", "b", "c"), "Done.")]
    assert len(within(turns, "new", messages=7).turns) == 2
    clipped = within(turns, "new", messages=6)
    assert sent(clipped) == ["q", "Done."]
    assert clipped.answers == answers("a", "b", "c")


def test_answers_whose_question_is_gone_stay():
    window = within([(answers("t"), "Done.")], "new")
    assert sent(window) == [answers("t"), "Done."]


@given(
    st.lists(st.integers(1, 5), max_size=4),
    st.integers(0, 12),
    st.integers(0, 200),
    st.integers(0, 50),
    st.booleans(),
)
def test_calls_and_their_answers_are_sent_together(loops, turns, tokens, reserve, running):
    said: list[tuple[Value, Value]] = []
    for number, rounds in enumerate(loops):
        *begun, (asked, _) = chain(rounds, f"question {number}")
        said += [*begun, (asked, "Done.")]
    newest: Value = "new"
    if running:
        said += chain(2, "the last question")
        newest = answers("t1")
    window = within(said, newest, turns=turns, tokens=tokens, reserve=reserve)
    shown = [*sent(window), newest]
    for asked, reply in itertools.pairwise(shown):
        if is_answers(reply):
            assert asked == calls(*(f"t{i}" for i in range(5) if reply == answers(f"t{i}")))
    assert not is_answers(shown[0])
    texts = [text_of_value(each) for each in shown[:-1]]
    called = sum(each in EVERY_CALL for each in shown[:-1])
    sizes = [estimate_tokens(text) + OF_A_MESSAGE for text in texts]
    assert window.tokens == sum(sizes) + OF_A_CALL * called
    if not running:
        assert window.tokens <= tokens
        assert len(window.turns) <= turns


def is_answers(value: Value) -> bool:
    return type(value) is tuple and value[1] == RESULTS


# --- summaries -----------------------------------------------------------------------------------


def test_a_summary_in_the_middle_of_a_loop_keeps_its_question():
    static = Record(cell="conv:c", max_tokens=1000, recent_turns=20, strategy="summary(4)")
    over, old, fold, read = (STORES[f"conv.{kind}"](static) for kind in KINDS)
    cell = cell_of(*BEFORE, *chain(3))
    newest = answers("t2")
    assert over(cell, newest)[0] is True
    told_of: Any = old(cell, newest)[0]
    assert told_of.startswith("User:\nhello\n\nAssistant:\nHi!\n\n")
    assert told_of.endswith("Tools:\n" + text_of_value(answers("t1")))
    _, folded = fold(cell, pair(newest, "They greeted."))
    turns = read(folded, UNIT)[0][1]
    assert sent(split(turns, newest, Limits(), estimate_tokens)) == ["Which way?", calls("t2")]
    assert over(folded, newest)[0] is False


KINDS = ("over", "old", "fold", "read")


@pytest.mark.parametrize("most", [0, 5, 40, 1000])
def test_what_was_said_is_told_within_a_limit(most: int):
    window = split(cell_of(*BEFORE, *chain(5)), "new", Limits(turns=0), estimate_tokens)
    names = 12 * 10  # who said it, however little is told of it
    assert estimate_tokens(told(window, most, estimate_tokens)) <= most + names
