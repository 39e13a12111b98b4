"""Conversations in the store: reading, adding, and summaries that a model writes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.ir.labels import REPLY
from lambdagent.ir.tokens import estimate_tokens
from lambdagent.machine.conversation import merge_conversation
from lambdagent.machine.state import NIL_VALUE, Cell, Value
from lambdagent.machine.store import STORES
from lambdagent.machine.values import list_items, pair, tagged
from lambdagent.machine.window import is_summary, message_tokens


class Conversation:
    """The sites of one conversation, and its cell."""

    def __init__(self, **settings: Any) -> None:
        static = Record({"cell": "conv:c", "max_tokens": 1000, "recent_turns": 20, **settings})
        kinds = ("read", "append") + (("over", "old", "fold") if "strategy" in settings else ())
        self.sites = {kind: STORES[f"conv.{kind}"](static) for kind in kinds}
        self.cell: Cell = None

    def do(self, kind: str, argument: Value) -> Value:
        answer, self.cell = self.sites[kind](self.cell, argument)
        return answer

    def say(self, asked: Value, reply: Value) -> None:
        assert self.do("append", pair(asked, reply)) is None

    @property
    def turns(self) -> list[tuple[Value, Value, int]]:
        return [(a, r, n) for _, a, (_, r, n) in list_items(self.cell or NIL_VALUE)]

    @property
    def texts(self) -> list[tuple[Value, Value]]:
        return [
            ("summary" if is_summary(turn) else turn[1], turn[2][1])
            for turn in list_items(self.cell or NIL_VALUE)
        ]


def test_a_new_conversation_is_empty():
    assert Conversation().do("read", UNIT) == pair(NIL_VALUE, pair(1000, 20))


def test_a_conversation_is_read_with_its_limits():
    talk = Conversation(max_tokens=70, recent_turns=3)
    talk.say("q", "a")
    before = talk.cell
    assert talk.do("read", UNIT) == pair(before, pair(70, 3))
    assert talk.cell is before


def test_a_conversation_is_read_with_its_strategy():
    talk = Conversation(strategy="summary(4)")
    assert talk.do("read", UNIT) == pair(NIL_VALUE, pair(1000, "summary(4)"))


def test_turns_stand_newest_first():
    talk = Conversation()
    for i in range(3):
        talk.say(f"q{i}", f"a{i}")
    assert talk.turns == [("q2", "a2", 3), ("q1", "a1", 2), ("q0", "a0", 1)]


def test_reading_and_appending_share_the_turns():
    talk = Conversation()
    talk.say("q", "a")
    first = talk.cell
    talk.say("r", "b")
    assert talk.cell is not None
    assert talk.cell[2] is first
    assert talk.do("read", UNIT)[1] is talk.cell


# --- summaries -----------------------------------------------------------------------------------


def summarised(limit: int, count: int, **settings: Any) -> Conversation:
    """Return a conversation of so many turns, folded before each as a program does."""
    talk = Conversation(strategy=f"summary({limit})", **settings)
    for i in range(count):
        if talk.do("over", f"q{i}"):
            talk.do("fold", pair(f"q{i}", f"notes {i}"))
        talk.say(f"q{i}", f"a{i}")
    return talk


def test_nothing_is_over_while_all_messages_fit():
    talk = Conversation(strategy="summary(5)")
    for i in range(2):
        talk.say(f"q{i}", f"a{i}")
        assert talk.do("over", "new") is False
    talk.say("q2", "a2")
    assert talk.do("over", "new") is True


def test_older_turns_are_told_oldest_first():
    talk = Conversation(strategy="summary(3)")
    for i in range(3):
        talk.say(f"q{i}", tagged(REPLY, 0, Record(text=f"a{i}", finish_reason="stop")))
    assert talk.do("old", "new") == ("User:\nq0\n\nAssistant:\na0\n\nUser:\nq1\n\nAssistant:\na1")


def test_a_summary_stands_in_the_place_of_the_turns_it_is_about():
    talk = Conversation(strategy="summary(3)")
    for i in range(3):
        talk.say(f"q{i}", f"a{i}")
    assert talk.do("fold", pair("new", " what was said \n")) is None
    assert talk.texts == [("q2", "a2"), ("summary", "what was said")]
    assert [number for *_, number in talk.turns] == [3, 2]
    assert talk.do("over", "new") is False
    talk.say("new", "a3")
    assert talk.do("old", "newer") == (
        "Summary of what was said before:\nwhat was said\n\nUser:\nq2\n\nAssistant:\na2"
    )


def test_at_most_n_messages_are_kept_beside_the_summary():
    for limit in range(1, 9):
        talk = summarised(limit, 12)
        talk.do("fold", pair("q12", "notes"))
        kept = [each for each in talk.texts if each[0] != "summary"]
        assert 2 * len(kept) + 1 <= limit < 2 * len(kept) + 3
        assert kept == [(f"q{i}", f"a{i}") for i in range(11, 11 - len(kept), -1)]
        assert talk.texts[-1] == ("summary", "notes")


def test_turns_that_are_too_long_are_summarised_before_there_are_n():
    talk = Conversation(strategy="summary(99)", max_tokens=80)
    for i in range(3):
        assert talk.do("over", "new") is False
        talk.say(f"question {i}", f"an answer of some words {i}")
    talk.say("question " * 60, "an answer")
    assert talk.do("over", "new") is True
    talk.do("fold", pair("new", "word " * 100))
    *kept, (kind, text) = talk.texts
    assert kind == "summary"
    assert kept == []
    assert text.startswith("word word")
    assert estimate_tokens(text) <= 20


@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=12),
    st.integers(1, 12),
    st.integers(0, 120),
    st.text(max_size=200),
)
def test_once_folded_a_conversation_keeps_to_its_limits(turns, limit, tokens, notes):
    talk = Conversation(strategy=f"summary({limit})", max_tokens=tokens)
    for asked, reply in turns:
        if talk.do("over", asked):
            told = talk.do("old", asked)
            assert estimate_tokens(told) <= tokens + 30 * len(turns)
            talk.do("fold", pair(asked, notes))
            assert talk.do("over", asked) is False
            spent = [
                message_tokens(text, estimate_tokens)
                for kind, reply in talk.texts
                for text in ([reply] if kind == "summary" else [kind, reply])
            ]
            assert sum(spent) <= tokens + 4
            assert len(spent) <= limit
        talk.say(asked, reply)
    numbers = [number for *_, number in talk.turns]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[:1] == ([len(turns)] if turns else [])


def test_long_messages_are_cut_for_the_summary_and_short_ones_are_not():
    talk = Conversation(strategy="summary(1)", max_tokens=400)
    talk.say("Please read this: " + "lorem ipsum " * 300, "ok")
    talk.say("short", "A reply that is not long either.")
    told = talk.do("old", "new")
    assert "…\n\nAssistant:\nok\n\nUser:\nshort\n\nAssistant:\nA reply that is not" in told
    assert 150 < estimate_tokens(told) <= 200


# --- joins ---------------------------------------------------------------------------------------


def test_a_join_appends_what_a_branch_said():
    talk = Conversation()
    talk.say("q", "a")
    base = talk.cell
    talk.say("left", "l")
    left, talk.cell = talk.cell, base
    talk.say("right", "r")
    talk.cell = merge_conversation(base, left, talk.cell)
    assert talk.turns == [("right", "r", 3), ("left", "l", 2), ("q", "a", 1)]


def test_a_summary_of_a_branch_survives_the_join():
    talk = Conversation(strategy="summary(1)")
    talk.say("q", "a")
    base = talk.cell
    talk.say("left", "l")
    left, talk.cell = talk.cell, base
    talk.say("right", "r")
    talk.do("fold", pair("next", "all of it"))
    talk.say("next", "n")
    talk.cell = merge_conversation(base, left, talk.cell)
    assert talk.texts == [("next", "n"), ("summary", "all of it"), ("left", "l"), ("q", "a")]
    assert talk.do("over", "x") is True
    assert talk.do("old", "x") == (
        "User:\nq\n\nAssistant:\na\n\nUser:\nleft\n\nAssistant:\nl\n\n"
        "Summary of what was said before:\nall of it\n\nUser:\nnext\n\nAssistant:\nn"
    )
