"""The digest by which a replay knows that the same is asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.machine.request_digest import RequestDigest
from lambdagent.machine.state import CONS, NIL_VALUE, OPAQUE, PAIR, TAGGED


def of(value: Any) -> int:
    return RequestDigest().of("llm:a", value)


def listed(*values: Any) -> Any:
    found = NIL_VALUE
    for value in reversed(values):
        found = (CONS, value, found)
    return found


def nested(depth: int) -> Any:
    value = "end"
    for number in range(depth):
        value = (PAIR, number, value)
    return value


def doubled(depth: int, leaf: Any = "leaf") -> Any:
    for _ in range(depth):
        leaf = (PAIR, leaf, leaf)
    return leaf


@pytest.mark.parametrize(
    ("value", "digest"),
    [
        ("text", 7755632913436060556),
        (UNIT, 2494681176830897378),
        ((PAIR, "a", (PAIR, 1, (OPAQUE, (1, Record(a=2.5))))), 5913665952200564149),
        (listed("a", (PAIR, "b", "c"), listed(1, True)), 6335784174884218036),
        ((TAGGED, ("x", "y"), 1, (PAIR, None, "p")), 11665804992018057099),
        (nested(400), 9426589486062755235),
        (doubled(8), 7702136392630908046),
    ],
)
def test_runs_on_disk_hold_these(value, digest):
    assert of(value) == digest


def test_what_holds_itself_twice_takes_time_for_what_is_distinct_in_it():
    deep = doubled(20_000)
    assert of(deep) != of(doubled(19_999))
    assert of((TAGGED, ("x",), 0, deep)) != of(deep)


@pytest.mark.parametrize("depth", [3, 9, 10, 12])
def test_what_is_shared_does_not_show(depth):
    def grown(left: int) -> Any:
        return (PAIR, grown(left - 1), grown(left - 1)) if left else "leaf"

    assert of(grown(depth)) == of(doubled(depth))


@pytest.mark.parametrize("depth", [332, 333, 334, 499, 500, 501])
def test_what_was_asked_before_does_not_show(depth):
    """Pairs just below and above the length from which they are hashes, first alone in a list."""
    left: Any = "end"
    for number in range(depth):
        left = (PAIR, left, number)
    rest = listed(left, nested(depth), "x")
    whole = (CONS, nested(3_000), rest)
    asked_before = RequestDigest()
    asked_before.of("llm:a", rest)
    assert asked_before.of("llm:a", whole) == of(whole)


values = st.recursive(
    st.text(max_size=3) | st.integers(0, 3) | st.none(),
    lambda inner: (
        st.builds(lambda tag, a, b: (tag, a, b), st.sampled_from([PAIR, CONS]), inner, inner)
        | st.builds(lambda a: (TAGGED, ("x", "y"), 1, a), inner)
    ),
    max_leaves=8,
)


@given(values, values, st.sampled_from([0, 3, 10]))
def test_different_values_have_different_digests(one, other, depth):
    digest = RequestDigest()
    first, second = doubled(depth, one), doubled(depth, other)
    assert (digest.of("s", first) == digest.of("s", second)) is (repr(one) == repr(other))
