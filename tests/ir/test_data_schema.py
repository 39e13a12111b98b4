"""Schemas: they say of values what the reference implementation says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.ir.data_schema import fits_alone, problems_of, unknown_keywords

VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -2.5])
    | st.sampled_from(["", "a", "ab", "b1", "λ"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c1"]), inner, max_size=3)
    ),
    max_leaves=5,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
COUNTS, NUMBERS = st.integers(0, 3), st.sampled_from([-1, 0, 1, 1.5, 2])
NAMES = st.sampled_from(["a", "b", "c1"])
PATTERNS = st.sampled_from(["a", "^b", "[0-9]$", ""])


def keywords(inner: Any) -> Any:
    schemas = st.lists(inner, min_size=1, max_size=2)
    each = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 0.5, 2]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": PATTERNS,
        "items": inner,
        "prefixItems": schemas,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "uniqueItems": st.booleans(),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "allOf": schemas,
        "anyOf": schemas,
        "oneOf": schemas,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.just("#/$defs/d"),
    }
    picked = st.lists(st.sampled_from(sorted(each)), max_size=4, unique=True)
    return picked.flatmap(
        lambda names: st.fixed_dictionaries({name: each[name] for name in names})
    )


SCHEMAS: Any = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=4)


@given(SCHEMAS, st.sampled_from([True, {"type": "string"}, {"maxItems": 1}]), VALUES)
def test_a_value_fits_where_the_reference_implementation_says_so(schema, defined, value):
    if isinstance(schema, dict):
        schema = {**schema, "$defs": {"d": defined}}
    Draft202012Validator.check_schema(schema)
    assert unknown_keywords(freeze(schema)) == []
    fits = not problems_of(freeze(value), freeze(schema))
    assert fits == Draft202012Validator(schema).is_valid(thaw(freeze(value)))


def test_a_schema_may_refer_to_itself():
    tree = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    }
    assert problems_of(freeze({"kids": [{"kids": []}, {}]}), freeze(tree)) == []
    assert problems_of(freeze({"kids": [{"kid": []}]}), freeze(tree)) == [
        "there is no `kids[0].kid`"
    ]
    deep: Any = {}
    for _ in range(60):
        deep = {"kids": [deep]}
    assert "nested too deeply" in problems_of(freeze(deep), freeze(tree))[0]


def test_a_reference_to_nothing_fits_nothing_and_one_to_itself_ends():
    assert problems_of(1, freeze({"$ref": "#/$defs/no"})) == ["it must not be there"]
    assert "too deeply" in problems_of(1, freeze({"$ref": "#"}))[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"q": 1}, ["`q` must be a string, not 1"]),
        ({}, ["`q` is missing"]),
        ({"q": "a", "n": 7, "r": 1}, ["`n` must be at most 5, not 7", "there is no `r`"]),
        ({"q": "a", "k": "x"}, ['`k` must be one of "a", "b", not "x"']),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(value, said):
    schema = {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer", "maximum": 5},
            "k": {"enum": ["a", "b"]},
        },
        "required": ["q"],
        "additionalProperties": False,
    }
    assert problems_of(freeze(value), freeze(schema)) == said


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"mandatory": ["a"]}, [("mandatory", "keyword")]),
        ({"properties": {"a": {"type": "text"}}}, [("properties.a.type", "type")]),
        ({"items": {"pattern": "("}}, [("items.pattern", "pattern")]),
        ({"anyOf": [{"$ref": "http://a/b"}]}, [("anyOf.$ref", "reference")]),
        ({"not": 3}, [("not", "schema")]),
        ({"x-note": 1, "title": "t", "$defs": {"a": {}}}, []),
    ],
)
def test_what_cannot_be_checked_is_named(schema, found):
    assert unknown_keywords(freeze(schema)) == found


PROPERTIES = st.one_of(
    st.fixed_dictionaries({"type": TYPES}, optional={"description": st.just("d")}),
    SCHEMAS,
)
OBJECTS = st.fixed_dictionaries(
    {"properties": st.dictionaries(NAMES, PROPERTIES, max_size=2)},
    optional={
        "type": st.sampled_from(["object", "string"]),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans(),
        "maxProperties": COUNTS,
    },
)


@given(VALUES, NAMES, OBJECTS)
def test_one_value_alone_fits_as_an_object_with_it(value: Any, name: str, schema: Any):
    frozen, kept = freeze(schema), freeze(value)
    assert isinstance(frozen, Record)
    assert fits_alone(kept, name, frozen) is (problems_of(Record({name: kept}), frozen) == [])
