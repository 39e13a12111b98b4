"""Types of a Python source are what pydantic makes of them, where they are read at all."""

import ast
from typing import Any

import pydantic
import pytest
from jsonschema import Draft202012Validator

from lambdagent.frontend.foreign.python_code import assigned
from lambdagent.frontend.foreign.python_types import form_of

SOURCE = '''
import enum
from typing import Annotated, Any, Literal, Optional, Union
from pydantic import BaseModel, Field

MOST = 9

class Mood(str, enum.Enum):
    GOOD = "good"
    BAD = "bad"

class Named(BaseModel):
    name: str = Field(min_length=1, description="Of a person.")

class Person(Named):
    """Who it is."""
    age: int = Field(..., ge=0, le=MOST)
    mood: Mood = Mood.GOOD
    tags: list[str] = Field(default_factory=list, max_length=2)
    boss: "Optional[Person]" = None
    kind: Literal["a", 1, None] = None
    marks: dict[str, float] = {}
    extra: Any = None
    either: Union[int, list[Mood]] = 1
    some: int | None = None
    told: Annotated[int, Field(description="Told.")] = 3
    literal: Literal[Mood.BAD] = Mood.BAD
'''
GIVEN = {
    "name": "A",
    "age": 3,
    "mood": "bad",
    "tags": ["x"],
    "kind": "a",
    "marks": {"m": 1.5},
    "extra": [1],
    "either": ["good"],
    "some": None,
    "told": 1,
    "literal": "bad",
    "boss": {"name": "B", "age": 1},
}


def read(annotation: str, source: str = SOURCE) -> Any:
    tree = ast.parse(source)
    return form_of(ast.parse(annotation, mode="eval").body, tree, assigned(tree))


@pytest.mark.parametrize(
    "more",
    [
        *({}, {"age": -1}, {"age": 10}, {"age": 1.5}, {"name": ""}, {"mood": "so"}, {"kind": 2}),
        *({"tags": ["a", "b", "c"]}, {"tags": "a"}, {"boss": {"name": "B"}}, {"boss": None}),
        *({"marks": {"m": "x"}}, {"either": [1]}, {"some": "x"}, {"told": None}, {"literal": "a"}),
    ],
)
def test_a_class_takes_what_it_takes_when_it_is_made(more: dict[str, Any]):
    made: dict[str, Any] = {}
    exec(SOURCE, made)
    made["Person"].model_rebuild(_types_namespace=made)
    value = {**GIVEN, **more}
    schema = read("Person")
    Draft202012Validator.check_schema(schema)
    try:
        made["Person"].model_validate(value)
    except pydantic.ValidationError:
        takes = False
    else:
        takes = True
    assert Draft202012Validator(schema).is_valid(value) is takes


def test_a_class_says_what_it_and_its_fields_are_for():
    schema = read("Person")["$defs"]["Person"]
    assert schema["description"] == "Who it is."
    assert schema["required"] == ["name", "age"]
    assert schema["properties"]["name"]["description"] == "Of a person."
    assert schema["properties"]["told"] == {"type": "integer", "description": "Told."}
    assert read("Mood") == {"enum": ["good", "bad"]}
    assert read("list[int] | None") == {
        "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]
    }


@pytest.mark.parametrize(
    ("annotation", "source"),
    [
        ("Elsewhere", ""),
        ("tuple[int, str]", ""),
        ("make()", ""),
        ("'no ('", ""),
        ("A", "class A(BaseModel): pass"),
        ("A", "class A(BaseModel):\n  b: int = Field(alias='c')"),
        ("A", "class A(BaseModel):\n  b: str = Field(pattern='(')"),
        ("A", "class A(BaseModel):\n  b: str = Field(max_length=most())"),
        ("A", "class A(Enum):\n  b = make()"),
        ("A", "A = B\nB = A"),
        ("Literal[A.c]", "class A(Enum):\n  b = 1"),
        ("list[" * 200 + "int" + "]" * 200, ""),
        ("A", "\n".join(f"class {a}(BaseModel):\n  x: list[{b}]" for a, b in ("AB", "BC"))),
    ],
)
def test_what_is_not_said_in_the_file_is_not_guessed(annotation: str, source: str):
    assert read(annotation, source) is None


def test_classes_that_are_made_of_each_other_are_read_once():
    source = "\n".join(f"class C{n}(C{n + 1}, C{n + 2}, C0):\n  f{n}: int" for n in range(20))
    assert len(read("C0", source)["properties"]) == 20
