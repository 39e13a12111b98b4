"""Data → values of the types that a Python function is annotated with."""

import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from typing import Any, Literal, NamedTuple, NewType, TypedDict

import attrs
import pydantic
import pytest

from lambdagent.effects.protocol import ToolFailure
from lambdagent.effects.tools.python import PythonTool
from lambdagent.effects.typed_arguments import MisfitError, made
from lambdagent.ir.data import freeze
from lambdagent.ir.data_schema import problems_of
from lambdagent.ir.signature import parameters_of
from tests.effects.calls import invocation


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Tree:
    name: str
    kids: list["Tree"] = dataclasses.field(default_factory=list)


@attrs.frozen
class Range:
    low: int
    day: datetime.date | None = None


class Options(TypedDict, total=False):
    color: Color


class Spot(NamedTuple):
    x: float


class Corner(enum.Enum):
    LOW = (0, 0)
    HIGH = (9, 9)


class Kind(enum.Enum):
    SECRET = object()


class Order(pydantic.BaseModel):
    count: int = pydantic.Field(description="How many.")
    parts: list["Order"] = []


@dataclasses.dataclass
class Picky:
    name: str

    def __post_init__(self) -> None:
        raise KeyError(self.name)


DAY = datetime.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (str, "a", "a"),
        (int | None, None, None),
        (int | str, "7", "7"),
        (float | str, 7, 7.0),
        (Literal["a"], "a", "a"),
        (Color, "red", Color.RED),
        (list[Color], ["red"], [Color.RED]),
        (set[int], [1, 2.0], {1, 2}),
        (frozenset[int], [1], frozenset({1})),
        (tuple[int, Color], [1, "red"], (1, Color.RED)),
        (tuple[int, ...], [1, 2], (1, 2)),
        (dict[str, Color], {"a": "red"}, {"a": Color.RED}),
        (Tree, {"name": "a", "kids": [{"name": "b"}]}, Tree("a", [Tree("b")])),
        (Range, {"low": 1, "day": "2026-11-30"}, Range(1, DAY)),
        (Options, {"color": "red"}, {"color": Color.RED}),
        (Spot, {"x": 1}, Spot(1.0)),
        (datetime.date, "2026-11-30", DAY),
        (decimal.Decimal, 0.1, decimal.Decimal("0.1")),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
        (uuid.UUID, f"{'0' * 31}1", uuid.UUID(int=1)),
        (Any, [1], [1]),
        (collections.deque[int], [1, 2.0], collections.deque([1, 2])),
        (dict[int, Color], {"7": "red"}, {7: Color.RED}),
        (dict[Color, int], {"red": 1}, {Color.RED: 1}),
        (Corner, [0, 0], Corner.LOW),
        (Kind, "SECRET", Kind.SECRET),
        (NewType("Number", int), 3.0, 3),
        (Order, {"count": "2"}, Order(count=2)),
        (type("Unknown", (), {}), 5, 5),
    ],
)
def test_data_becomes_what_is_wanted(hint: Any, value: Any, expected: Any):
    found = made(hint, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, True),
        (int, "7"),
        (int, 1.5),
        (int, float("inf")),
        (float, 10**400),
        (set, [[1]]),
        (dict[int, str], {"a": "b"}),
        (Picky, {"name": "a"}),
        (Order, {"count": "many"}),
        (Corner, [0, 1]),
        (float, "x"),
        (Color, "green"),
        (list[int], "12"),
        (tuple[int, int], [1]),
        (dict[str, int], {"a": "x"}),
        (Tree, {"nom": "a"}),
        (Tree, {}),
        (Tree, "a"),
        (datetime.date, "someday"),
        (datetime.date, 5),
        (int | None, "x"),
    ],
)
def test_what_does_not_fit_is_refused(hint: Any, value: Any):
    with pytest.raises(MisfitError):
        made(hint, value)


def plan(name: str, when: datetime.date, /, *, tree: Tree, scale: float = 1.0) -> str:
    return f"{name} {when:%d.%m.} {type(tree).__name__} {scale!r}"


def test_a_function_gets_arguments_of_its_types_by_name_and_by_place():
    tool = PythonTool("plan", plan)
    given = freeze({"name": "a", "when": "2026-11-30", "tree": {"name": "t"}, "scale": 2})
    assert tool.call(invocation(given)) == "a 30.11. Tree 2.0"


def test_a_value_of_another_kind_is_a_failure_that_trying_again_does_not_mend():
    tool = PythonTool("plan", plan)
    with pytest.raises(ToolFailure) as caught:
        tool.call(invocation(freeze({"name": "a", "when": "someday", "tree": {"name": "t"}})))
    said = (
        "[TOOL_ERROR: plan] `when` must be date, not someday (Invalid isoformat string: 'someday')"
    )
    assert caught.value.text == said
    assert not caught.value.may_pass


def test_one_value_without_a_name_stays_as_it_is_where_it_does_not_fit():
    assert PythonTool("twice", lambda n: 2 * n).call(invocation("a")) == "aa"

    def twice(n: int) -> Any:
        return 2 * n

    assert PythonTool("twice", twice).call(invocation("a")) == "aa"
    assert PythonTool("twice", twice).call(invocation(2.0)) == 4


def test_a_mapping_in_a_mapping_is_an_argument_by_name():
    def keys(config: dict[str, Any]) -> list[str]:
        return [*config]

    tool = PythonTool("keys", keys)
    assert tool.call(invocation(freeze({"config": {"a": 1}}))) == ("a",)
    assert tool.call(invocation(freeze({"config": 1}))) == ("config",)
    assert tool.call(invocation(freeze({"a": 1}))) == ("a",)


def spread(first: int, second: int = 2, *others: Color, **more: datetime.date) -> str:
    return f"{first} {second} {others} {more}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"first": 1}, "1 2 () {}"),
        ({"first": 1, "others": ["red"]}, "1 2 (<Color.RED: 'red'>,) {}"),
        ({"second": 3, "first": 1, "others": ["red"]}, "1 3 (<Color.RED: 'red'>,) {}"),
        ({"first": 1, "day": "2026-11-30"}, "1 2 () {'day': datetime.date(2026, 11, 30)}"),
    ],
)
def test_arguments_of_any_number_come_as_a_list_and_those_of_any_name_by_name(given, said):
    assert problems_of(freeze(given), parameters_of(spread)) == []
    assert PythonTool("spread", spread).call(invocation(freeze(given))) == said
    with pytest.raises(ToolFailure, match="`others` must be Color"):
        PythonTool("spread", spread).call(invocation(freeze({"first": 1, "others": ["green"]})))


def test_a_name_that_nothing_is_known_of_goes_with_a_single_argument():
    def tag(x: int, **more: Any) -> str:
        return f"{x} {more}"

    assert PythonTool("tag", tag).call(invocation(freeze({"x": 1, "y": 2}))) == "1 {'y': 2}"


def test_what_a_class_refuses_tells_the_model_why():
    def order(order: Order) -> str:
        return str(order)

    with pytest.raises(ToolFailure, match="valid integer") as caught:
        PythonTool("order", order).call(invocation(freeze({"order": {"count": "x"}})))
    assert not caught.value.may_pass
