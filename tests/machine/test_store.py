from lambdagent.ir.data import Record
from lambdagent.machine.store import STORES, memory_key
from lambdagent.machine.values import pair


def memory(size=3, ttl=0, **initial):
    static = Record(cell="mem:m", size=size, ttl=ttl, initial=Record(initial))
    return STORES["mem.read"](static), STORES["mem.append"](static)


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
    assert entries(read, None) == []
    cell = remember(append, None, "k", "v")
    assert cell[1] == ()
    assert entries(read, cell) == []


def test_what_a_memory_starts_with_may_be_written_again():
    read, append = memory(name="Ada")
    assert entries(read, remember(append, None, "name", "Bob")) == [("name", "Bob", 0)]


def test_a_key_is_itself_if_it_is_short_and_told_apart_if_it_is_long():
    assert memory_key("short") == "short"
    long = [memory_key("k" * 1000 + end) for end in ("", "a", "\ud800")]
    assert len(set(long)) == 3
    assert all(key.startswith("k" * 59 + "… #") for key in long)


def test_long_entries_are_cut():
    read, append = memory()
    cell = remember(append, None, "k" * 1000, "v" * 1000)
    [(key, value, _)] = entries(read, cell)
    assert (len(key), len(value)) == (60, 200)


def test_a_clock_that_goes_back_makes_no_negative_age():
    read, append = memory()
    assert entries(read, remember(append, None, "k", "v", 100), 50) == [("k", "v", 0)]
