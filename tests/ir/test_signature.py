"""Signatures and docstrings → JSON Schema."""

import dataclasses
import datetime
import enum
import functools
import pathlib
import sys
import types
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict

import attrs
import pydantic
import pytest

from lambdagent.ir.data import thaw
from lambdagent.ir.docstrings import parameter_docs, summary_of
from lambdagent.ir.signature import parameters_of


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Tree:
    name: str
    kids: list["Tree"] = dataclasses.field(default_factory=list)


@attrs.frozen
class Range:
    """A range.

    Args:
        low: The least.
    """

    low: int
    high: int = 9


class Options(TypedDict):
    a: int
    b: NotRequired[str]


class Spot(NamedTuple):
    x: float
    y: float = 0.0


class Corner(enum.Enum):
    LOW = (0, 0)
    HIGH = (9, 9)


class Kind(enum.Enum):
    SECRET = object()


@attrs.frozen
class Comment:
    documentation: str


class Part(pydantic.BaseModel):
    n: int = 1


class Order(pydantic.BaseModel):
    range: Part


class Plant(pydantic.BaseModel):
    kids: list["Plant"] = []


STRING, INTEGER = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, STRING),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (Any, {}),
        (Annotated[int, "How many."], {**INTEGER, "description": "How many."}),
        (int | None, {"type": ["integer", "null"]}),
        (list[int], {"type": "array", "items": INTEGER}),
        (list, {"type": "array"}),
        (Sequence[str], {"type": "array", "items": STRING}),
        (set[str], {"type": "array", "items": STRING, "uniqueItems": True}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
        ),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (dict, {"type": "object"}),
        (Literal["a", "b"], {**STRING, "enum": ["a", "b"]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Color, {**STRING, "enum": ["red", "blue"]}),
        (list[int] | str, {"anyOf": [{"type": "array", "items": INTEGER}, STRING]}),
        (datetime.date, {**STRING, "format": "date"}),
        (pathlib.Path, STRING),
        (uuid.UUID, STRING),
        (
            Range,
            {
                "type": "object",
                "properties": {
                    "low": {**INTEGER, "description": "The least."},
                    "high": {**INTEGER, "default": 9},
                },
                "required": ["low"],
                "additionalProperties": False,
            },
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {"a": INTEGER, "b": STRING},
                "required": ["a"],
                "additionalProperties": False,
            },
        ),
        (
            Spot,
            {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
        (type("Unknown", (), {}), {}),
        (NewType("Number", int), INTEGER),
        (Annotated[int, Comment("How many.")], {**INTEGER, "description": "How many."}),
        (Corner, {"enum": [[0, 0], [9, 9]]}),
        (Kind, {**STRING, "enum": ["SECRET"]}),
        (
            Order,
            {
                "title": "Order",
                "type": "object",
                "properties": {
                    "range": {
                        "title": "Part",
                        "type": "object",
                        "properties": {"n": {**INTEGER, "title": "N", "default": 1}},
                    }
                },
                "required": ["range"],
            },
        ),
    ],
)
def test_an_annotation_is_a_schema(hint: Any, schema: dict[str, Any]):
    def tool(value):
        return value

    tool.__annotations__ = {"value": hint}
    found = parameters_of(tool)
    assert found is not None
    assert thaw(found)["properties"]["value"] == schema


def test_a_class_that_holds_itself_is_defined_once():
    def plant(tree: Tree) -> None: ...

    found = thaw(parameters_of(plant))
    assert found["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    kids = found["$defs"]["Tree"]["properties"]["kids"]
    assert kids == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}


def test_classes_of_one_name_are_told_apart():
    def two(left: Tree, right: Other) -> None: ...

    found = thaw(parameters_of(two))
    defined = found["$defs"]
    assert found["properties"] == {
        "left": {"$ref": "#/$defs/Tree"},
        "right": {"$ref": "#/$defs/Tree_"},
    }
    assert [*defined["Tree"]["properties"]] == ["name", "kids"]
    assert defined["Tree_"]["properties"] == {"next": {"$ref": "#/$defs/Tree_"}}


@dataclasses.dataclass
class Other:
    next: "Other"


Other.__name__ = "Tree"


def test_a_model_of_pydantic_that_holds_itself_is_defined():
    def plant(tree: Plant) -> None: ...

    found = thaw(parameters_of(plant))
    assert found["properties"]["tree"] == {"$ref": "#/$defs/Plant"}
    assert found["$defs"]["Plant"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Plant"}


LATER = """
from __future__ import annotations
from typing import NotRequired, Required, TypedDict

class Options(TypedDict, total=False):
    a: Required[int]
    b: str

class More(TypedDict):
    a: NotRequired[int]
    b: str

def tool(first: int, missing: Nowhere, options: Options, more: More, endless: float = 1e999):
    pass
"""


def test_annotations_that_are_texts_are_resolved_one_by_one():
    module = types.ModuleType("later")
    sys.modules["later"] = module
    exec(LATER, vars(module))
    found = thaw(parameters_of(module.tool))["properties"]
    del sys.modules["later"]
    assert (found["first"], found["missing"]) == (INTEGER, {})
    assert (found["options"]["required"], found["more"]["required"]) == (["a"], ["b"])
    assert found["endless"] == {"type": "number"}  # JSON has no such default


def test_any_number_of_arguments_is_a_list():
    def tool(first: str, *others: int, **more: Any) -> None: ...

    assert thaw(parameters_of(tool)) == {
        "type": "object",
        "properties": {"first": STRING, "others": {"type": "array", "items": INTEGER}},
        "required": ["first"],
    }


def look(query: str, limit: int = 5, *, color: Color = Color.RED, more=None) -> str:
    """Look for pages
    of any kind.

    Args:
        query (str): What to find,
            in words.
        limit: Most pages.

    Returns:
        The pages.
    """


def test_a_signature_with_its_docstring_is_an_object():
    assert thaw(parameters_of(look)) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to find, in words."},
            "limit": {"type": "integer", "description": "Most pages.", "default": 5},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "more": {},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert summary_of(look.__doc__) == "Look for pages of any kind."


class Finder:
    def __call__(self, query: str) -> str:
        return query

    def find(self, query: str) -> str:
        return query


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*arguments: Any, **more: Any) -> Any:
        return function(*arguments, **more)

    return inner


@pytest.mark.parametrize(
    "function",
    [
        Finder(),
        Finder().find,
        functools.partial(look, limit=3, color=Color.RED, more=1),
        wrapped(Finder().find),
    ],
)
def test_methods_objects_partials_and_wrapped_functions_are_functions_too(function: Any):
    found = parameters_of(function)
    assert found is not None
    assert thaw(found)["properties"]["query"]["type"] == "string"
    assert "self" not in thaw(found)["properties"]


def test_of_a_function_of_one_thing_of_which_nothing_is_said_nothing_is_known():
    assert parameters_of(lambda x: x) is None
    assert parameters_of(len) is None
    assert parameters_of(max) is None
    assert thaw(parameters_of(lambda: 0)) == {"type": "object", "properties": {}}
    assert thaw(parameters_of(lambda a, b: 0))["required"] == ["a", "b"]
    assert "additionalProperties" not in thaw(parameters_of(lambda a, b, **more: 0))


def test_annotations_that_name_nothing_say_nothing():
    def tool(a: "Missing", b: int): ...  # type: ignore[name-defined]  # noqa: F821

    assert thaw(parameters_of(tool))["properties"] == {"a": {}, "b": {"type": "integer"}}


NUMPY = """Look.

Parameters
----------
query : str
    What to find.
limit, most : int, optional
    How many.

Returns
-------
str
"""
SPHINX = """Look.

:param query: What
    to find.
:param int limit: How many.
:type limit: int
:returns: Pages.
"""
GOOGLE = """Look.

Args:
    query (list[str], optional): What to find.
    *rest: More.
    limit (int): How many:
        many.
Raises:
    ValueError: If not.
"""


@pytest.mark.parametrize(
    ("text", "docs"),
    [
        (NUMPY, {"query": "What to find.", "limit": "How many.", "most": "How many."}),
        (SPHINX, {"query": "What to find.", "limit": "How many."}),
        (GOOGLE, {"query": "What to find.", "rest": "More.", "limit": "How many: many."}),
        ("Just a summary.", {}),
        (None, {}),
        ("Args:\n", {}),
    ],
)
def test_docstrings_tell_of_parameters(text: str | None, docs: dict[str, str]):
    assert parameter_docs(text) == docs


@pytest.mark.parametrize("text", [NUMPY, SPHINX, GOOGLE])
def test_the_summary_is_the_first_paragraph(text: str):
    assert summary_of(text) == "Look."
