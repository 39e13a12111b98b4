from typing import Any

import pytest

from lambdagent.errors import RunError
from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.machine.state import CLOSURE, NIL_VALUE, OPAQUE, PAIR
from lambdagent.machine.values import (
    inject,
    list_items,
    list_value,
    pair,
    project,
    tagged,
    tuple_items,
)


def test_data_goes_in_and_comes_out():
    for data in (None, True, 0, 1.5, "text", ("a", (1,)), Record(k=("v",)), ()):
        assert project(inject(data)) == data
    assert project(UNIT) is None


def test_an_array_is_no_pair():
    assert inject((1, 2)) == (OPAQUE, (1, 2))
    assert inject((0, 1, 2)) != (PAIR, 1, 2)


def test_lists_and_pairs_are_arrays_outside():
    assert project(list_value([1, pair("a", "b"), NIL_VALUE])) == (1, ("a", "b"), ())
    assert project(pair(1, pair(2, 3))) == (1, 2, 3)
    assert project(pair(pair(1, 2), 3)) == ((1, 2), 3)
    assert project(tagged(("a", "b"), 1, pair(1, 2))) == (1, 2)


def test_a_list_has_its_items_in_order():
    assert list(list_items(list_value("abc"))) == ["a", "b", "c"]
    assert list(list_items(NIL_VALUE)) == []


def test_a_tuple_has_the_items_of_pairs_nested_to_the_right():
    assert tuple_items(pair(1, pair(2, 3))) == [1, 2, 3]
    assert tuple_items(pair(pair(1, 2), 3)) == [pair(1, 2), 3]
    assert tuple_items("text") == ["text"]


def test_a_function_has_a_mark_for_its_text():
    assert project((CLOSURE, (), ())) == "<function>"


def test_deep_values_end_in_a_mark():
    deep = 0
    for _ in range(100_000):
        deep = pair(deep, 0)
    shown = project(deep)
    for _ in range(50):
        shown = shown[0]
    long = 0
    for _ in range(100_000):
        long = pair(0, long)
    assert len(project(long)) == 100_001


@pytest.mark.parametrize("double", [pair, lambda a, b: list_value([a, b])], ids=["pair", "list"])
def test_a_value_that_doubles_at_each_level_does_not_leave_the_machine(double):
    value: Any = "x"
    for _ in range(60):
        value = double(value, value)
    with pytest.raises(RunError, match=r"R012.*more than 1,000,000 parts"):
        project(value)


def test_a_large_value_that_shares_little_leaves_the_machine(monkeypatch):
    monkeypatch.setattr("lambdagent.machine.values._LARGEST", 10)
    shared = list_value([1, 2, 3])
    assert project(list_value([*range(100), shared, shared])) == (
        *range(100),
        (1, 2, 3),
        (1, 2, 3),
    )
    value: Any = NIL_VALUE
    for _ in range(1000):
        value = list_value([value])
    assert len(project(value)) == 1
