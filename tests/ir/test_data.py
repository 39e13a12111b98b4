import pytest
from hypothesis import given

from lambdagent.ir.data import NotDataError, Record, freeze, thaw
from tests.laws.terms import data


@given(data)
def test_thawing_and_freezing_give_the_value_back(value):
    assert freeze(thaw(value)) == value
    assert freeze(value) == value
    assert hash(freeze(value)) == hash(value)


def test_lists_and_dicts_become_immutable():
    assert freeze({"a": [1, {"b": None}]}) == Record(a=(1, Record(b=None)))
    with pytest.raises(TypeError):
        freeze({"a": 1})["a"] = 2


def test_thawed_data_is_fresh():
    value = freeze({"a": [1]})
    thaw(value)["a"].append(2)
    assert value == Record(a=(1,))


@pytest.mark.parametrize("value", [object(), {1: "a"}, {"a": {1, 2}}, print, b"bytes", [object()]])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(NotDataError):
        freeze(value)


def test_values_that_nest_too_deep_are_refused():
    deep: list = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(NotDataError, match="deep"):
        freeze(deep)


def test_records_are_equal_whatever_their_order():
    left, right = Record({"a": 1, "b": 2}), Record({"b": 2, "a": 1})
    assert left == right
    assert hash(left) == hash(right)
    assert list(left) == ["a", "b"]
    assert Record(left, a=3) == Record(a=3, b=2)
    assert left == {"a": 1, "b": 2}
