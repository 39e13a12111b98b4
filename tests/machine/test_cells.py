"""Joins: how branches agree on the store (laws of merging)."""

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.data import Record
from lambdagent.machine.cells import merge
from lambdagent.machine.store import STORES
from lambdagent.machine.values import list_items, pair

CONV, MEM = "conv:c#1", "mem:m#1"
APPEND = STORES["conv.append"](Record(cell=CONV, max_tokens=1000, recent_turns=20))
REMEMBER = STORES["mem.append"](Record(cell=MEM, size=5, ttl=0, initial=Record()))

texts = st.lists(st.sampled_from("abcdef"), max_size=3)


def spoken(store, lines):
    for line in lines:
        _, cell = APPEND(store.get(CONV), pair(line, line.upper()))
        store = {**store, CONV: cell}
    return store


def remembered(store, keys, mark=""):
    for key in keys:
        _, cell = REMEMBER(store.get(MEM), pair(pair(key, f"{key}{mark}"), 0))
        store = {**store, MEM: cell}
    return store


def lines_of(store):
    cell = store.get(CONV)
    turns = [] if cell is None else list(list_items(cell))
    assert all(turn[2][1] == turn[1].upper() for turn in turns)
    return [turn[1] for turn in reversed(turns)], [turn[2][2] for turn in reversed(turns)]


@given(texts, st.lists(texts, min_size=1, max_size=4))
def test_a_conversation_takes_what_each_branch_added_in_order(base, branches):
    start = spoken({}, base)
    merged = merge(start, [spoken(start, branch) for branch in branches])
    lines, numbers = lines_of(merged)
    assert lines == base + [line for branch in branches for line in branch]
    assert numbers == list(range(1, len(lines) + 1))


@given(texts, st.lists(texts, min_size=1, max_size=4))
def test_a_memory_takes_what_each_branch_added_in_order(base, branches):
    start = remembered({}, base)
    merged = merge(start, [remembered(start, keys, f"{i}") for i, keys in enumerate(branches)])
    expected = dict.fromkeys(base, "")
    for i, keys in enumerate(branches):
        for key in keys:
            expected.pop(key, None)
            expected[key] = str(i)
    rows = merged[MEM][1] if MEM in merged else ()
    assert [(row["key"], row["value"]) for row in rows][-5:] == [
        (key, f"{key}{mark}") for key, mark in expected.items()
    ][-5:]
    numbers = [row["number"] for row in rows]
    assert numbers == sorted(set(numbers))


@given(texts, texts)
def test_a_branch_alone_is_taken_as_it_is(base, added):
    start = remembered(spoken({}, base), base)
    branch = remembered(spoken(start, added), added)
    assert merge(start, [branch]) == branch
    assert merge(start, [start, branch, start]) == branch


def test_no_write_leaves_the_store_itself():
    start = spoken({}, "a")
    assert merge(start, [start, start]) is start


def test_disjoint_cells_do_not_meet():
    start = {}
    left, right = spoken(start, "ab"), remembered(start, "c")
    assert merge(start, [left, right]) == {**left, **right}
    assert merge(start, [right, left]) == {**left, **right}


def test_of_several_writes_of_another_cell_the_highest_index_wins():
    start = {"cell:x": 1}
    assert merge(start, [{"cell:x": 2}, {"cell:x": 3}, start]) == {"cell:x": 3}
    assert merge(start, [{"cell:x": 2}, start]) == {"cell:x": 2}


@given(texts, texts, texts)
def test_merging_is_associative_in_the_order_of_branches(base, left, right):
    start = spoken({}, base)
    a, b = spoken(start, left), spoken(start, right)
    at_once = merge(start, [a, b, a])
    one_by_one = merge(start, [merge(start, [a, b]), a])
    assert lines_of(at_once) == lines_of(one_by_one)


def test_branches_that_find_everything_expired_still_both_remember():
    append = STORES["mem.append"](Record(cell=MEM, size=5, ttl=10, initial=Record()))
    _, base = append(None, pair(pair("old", "o"), 0))
    branches = [{MEM: append(base, pair(pair(key, key), 100))[1]} for key in "ab"]
    rows = merge({MEM: base}, branches)[MEM][1]
    assert [row["key"] for row in rows] == ["a", "b"]


def test_what_a_memory_starts_with_is_nothing_that_a_branch_added():
    append = STORES["mem.append"](Record(cell=MEM, size=5, ttl=0, initial=Record(name="Ada")))
    branches = [{MEM: append(None, pair(pair(key, key), 0))[1]} for key in "ab"]
    assert [row["key"] for row in merge({}, branches)[MEM][1]] == ["name", "a", "b"]
