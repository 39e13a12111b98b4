"""Schemas: they say of values what the reference implementation says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.ir.data_schema import checker_alone, checker_of, problems_of
from lambdagent.ir.schema_faults import unknown_keywords
from lambdagent.ir.schema_references import inlined

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
    "schema",
    [
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"oneOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "minItems": 1}]},
        {"not": {"items": {"not": {"$ref": "#"}, "allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
    ],
)
def test_a_schema_that_holds_itself_twice_is_not_followed_for_ever(
    schema: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lambdagent.ir.data_schema._MOST_REFERENCES", 1_000)
    value: Any = 1
    for _ in range(30):
        value = [value]
    assert problems_of(freeze(value), freeze(schema)) == ["there is too much to look at"]


def test_many_different_items_are_told_apart_in_no_time():
    items = freeze([*range(50_000), {"a": 1}, True, 1.5, [1], "1", None])
    assert isinstance(items, tuple)
    assert problems_of(items, Record(uniqueItems=True)) == []
    assert problems_of((*items, freeze({"a": 1.0})), Record(uniqueItems=True)) != []


LIMITS = [
    *("minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength", "maxItems"),
    *("minContains", "required", "dependentRequired", "pattern", "enum", "properties", "type"),
    *("patternProperties", "anyOf", "items", "$ref", "uniqueItems", "const", "contains"),
]


@given(st.sampled_from(LIMITS), VALUES | st.just(float("inf")), VALUES | st.just(float("nan")))
def test_a_schema_that_makes_no_sense_is_told_and_looked_at_all_the_same(
    keyword: str, wanted: Any, value: Any
):
    schema = {keyword: wanted, "propertyNames": {}}
    assert isinstance(problems_of(freeze(value), freeze(schema)), list)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        assert unknown_keywords(freeze(schema))


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
        ({"minimum": "5"}, [("minimum", "number")]),
        ({"maximum": float("inf")}, [("maximum", "number")]),
        ({"multipleOf": 0}, [("multipleOf", "positive")]),
        ({"minItems": -1}, [("minItems", "count")]),
        ({"required": "a"}, [("required", "names")]),
        ({"properties": []}, [("properties", "mapping")]),
        ({"anyOf": []}, [("anyOf", "schemas")]),
        ({"default": [float("nan")]}, [("default", "json")]),
        ({"patternProperties": {"(": {}}}, [("patternProperties", "pattern")]),
        ({"$ref": "#/$defs/a"}, [("$ref", "reference")]),
        ({"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}}, [("$ref", "reference")]),
        ({"$ref": "#"}, [("$ref", "reference")]),
        ({"items": {"$ref": "#"}}, []),
        ({"$ref": "#/$defs/a%20b~1c", "$defs": {"a b/c": {"type": "null"}}}, []),
        ({"x-note": 1, "title": "t", "$defs": {"a": {}}}, []),
    ],
)
def test_what_cannot_be_checked_is_named(schema, found):
    assert unknown_keywords(freeze(schema)) == found


DEFINED = {"a": {"type": "string"}, "b": {"items": {"$ref": "#/$defs/a"}, "maxItems": 1}}
REFERRING = st.sampled_from(
    [
        {"$ref": "#/$defs/b"},
        {"$ref": "#/$defs/a", "description": "d"},
        {"$ref": "#/$defs/a", "minLength": 2},
        {"$ref": "#/$defs/b", "allOf": [{"$ref": "#/$defs/b"}]},
        {"$ref": "#/properties/c1"},
    ]
)


@given(REFERRING, REFERRING.filter(lambda one: "properties" not in one["$ref"]), VALUES)
def test_a_schema_without_references_says_the_same(one: Any, other: Any, value: Any):
    schema = {"properties": {"a": one, "c1": other}, "items": one, "$defs": DEFINED}
    frozen, kept = freeze(schema), freeze(value)
    assert isinstance(frozen, Record)
    alone = inlined(frozen)
    assert alone is not None
    assert "$ref" not in str(alone)
    assert (problems_of(kept, alone) == []) is (problems_of(kept, frozen) == [])


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/%24defs/a"}}}},
        {
            "$ref": "#/$defs/d0",
            "$defs": {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(1000)},
        },
        {  # a billion of them
            "$ref": "#/$defs/d0",
            "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 9} for n in range(9)}
            | {"d9": {}},
        },
    ],
)
def test_a_schema_that_has_no_end_without_references_keeps_them(schema: Any):
    frozen = freeze(schema)
    assert isinstance(frozen, Record)
    assert inlined(frozen) is None


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
def test_what_checks_by_a_schema_finds_whether_there_are_problems(
    value: Any, name: str, schema: Any
):
    frozen, kept = freeze(schema), freeze(value)
    assert isinstance(frozen, Record)
    fits = checker_of(frozen)
    for each in (kept, Record({name: kept}), Record({name: kept, "a": 1})):
        assert fits(each) is (problems_of(each, frozen) == [])
    alone = checker_alone(frozen, name)
    assert alone(kept) is (problems_of(Record({name: kept}), frozen) == [])
