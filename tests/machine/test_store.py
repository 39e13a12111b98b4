import pytest

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.machine.state import NIL_VALUE
from lambdagent.machine.store import STORES, estimate_tokens, summary_of
from lambdagent.machine.values import list_items, pair


def conversation(max_tokens=1000, recent=20):
    static = Record(cell="conv:c", max_tokens=max_tokens, recent_turns=recent)
    return STORES["conv.read"](static), STORES["conv.append"](static)


def memory(size=3, ttl=0, **initial):
    static = Record(cell="mem:m", size=size, ttl=ttl, initial=Record(initial))
    return STORES["mem.read"](static), STORES["mem.append"](static)


def window_of(read, cell):
    (_, older, window), after = read(cell, UNIT)
    assert after is cell
    return older, [turn[1:] for turn in list_items(window)]


def test_a_new_conversation_is_empty():
    read, _ = conversation()
    assert window_of(read, None) == (NIL_VALUE, [])


def test_turns_are_read_oldest_first():
    read, append = conversation()
    cell = None
    for i in range(3):
        _, cell = append(cell, pair(f"q{i}", f"a{i}"))
    assert window_of(read, cell)[1] == [("q0", "a0"), ("q1", "a1"), ("q2", "a2")]


def test_a_window_is_bounded_by_turns_and_by_tokens():
    for limits in ({"recent": 2}, {"max_tokens": 2 * (estimate_tokens("q0") * 2)}):
        read, append = conversation(**limits)
        cell = None
        for i in range(5):
            _, cell = append(cell, pair(f"q{i}", f"a{i}"))
        older, window = window_of(read, cell)
        assert window == [("q3", "a3"), ("q4", "a4")]
        assert summary_of(older).startswith("[Conversation summary: 3 earlier turns]\n")


def test_the_newest_turn_is_kept_whatever_its_size():
    read, append = conversation(max_tokens=1)
    _, cell = append(None, pair("long " * 100, "answer"))
    assert len(window_of(read, cell)[1]) == 1


def test_appending_shares_the_older_turns():
    _, append = conversation()
    _, first = append(None, pair("q", "a"))
    _, second = append(first, pair("r", "b"))
    assert second[2] is first


def test_a_reply_may_be_a_record_with_or_without_text():
    _, append = conversation()
    for reply in (Record(text="hello"), Record(other=1), Record(), None, 7):
        _, cell = append(None, pair("q", reply))
        assert summary_of(cell)


def test_a_long_conversation_has_a_short_summary():
    _, append = conversation()
    cell = None
    for i in range(1000):
        _, cell = append(cell, pair(f"question {i} " * 50, "answer"))
    summary = summary_of(cell)
    assert "1000 earlier turns" in summary
    assert "question 999" in summary
    assert len(summary) < 5000
    assert summary_of(NIL_VALUE) == ""


@pytest.mark.parametrize(("text", "least"), [("", 1), ("a" * 400, 100), ("字" * 100, 100)])
def test_tokens_are_estimated_by_script(text, least):
    assert least <= estimate_tokens(text) <= least + 10


# --- memories ------------------------------------------------------------------------------------


def remember(append, cell, key, value, now=0):
    answer, after = append(cell, pair(pair(key, value), now))
    assert answer is None
    return after


def entries(read, cell, now=0):
    (_, rows), after = read(cell, now)
    assert after is cell
    return [(row["key"], row["value"], row["age"]) for row in rows]


def test_a_memory_starts_with_what_it_is_given():
    read, append = memory(name="Ada")
    assert entries(read, None) == [("name", "Ada", None)]
    cell = remember(append, None, "k", "v", 5)
    assert entries(read, cell, 7) == [("name", "Ada", None), ("k", "v", 2)]


def test_the_least_recent_entry_is_evicted():
    read, append = memory(size=2)
    cell = None
    for key in "abca":
        cell = remember(append, cell, key, key.upper())
    assert [key for key, *_ in entries(read, cell)] == ["c", "a"]


def test_writing_a_key_again_renews_it():
    read, append = memory(size=2)
    cell = None
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cell = remember(append, cell, key, value)
    assert [row[:2] for row in entries(read, cell)] == [("a", "3"), ("c", "4")]


def test_entries_expire():
    read, append = memory(ttl=10, forever="x")
    cell = remember(append, None, "k", "v", 100)
    assert len(entries(read, cell, 110)) == 2
    assert [key for key, *_ in entries(read, cell, 111)] == ["forever"]
    cell = remember(append, cell, "new", "v", 200)
    assert [row["key"] for row in cell[1]] == ["forever", "new"]


def test_a_memory_of_size_0_is_empty():
    read, append = memory(size=0, name="Ada")
    cell = remember(append, None, "k", "v")
    assert entries(read, cell) == []


def test_long_entries_are_cut():
    read, append = memory()
    cell = remember(append, None, "k" * 1000, "v" * 1000)
    [(key, value, _)] = entries(read, cell)
    assert (len(key), len(value)) == (60, 200)


def test_a_clock_that_goes_back_makes_no_negative_age():
    read, append = memory()
    assert entries(read, remember(append, None, "k", "v", 100), 50) == [("k", "v", 0)]
