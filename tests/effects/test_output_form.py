"""What a provider is asked of the form of an answer."""

import pytest

from lambdagent.effects.output_form import form_of
from lambdagent.ir.data import Record, freeze
from lambdagent.ir.model import Model, model_row
from lambdagent.ir.services import SERVICES
from lambdagent.ir.sites import Site

AGE = {"type": "integer"}
CLOSED = {
    "type": "object",
    "properties": {"age": AGE},
    "required": ["age"],
    "additionalProperties": False,
}


def form(provider, schema, *, binding=None, **more):
    model = model_row(Model(provider=provider, name="m"))
    static = Record(model=model, schema=freeze(schema), **more)
    return form_of(Site("llm:w", "llm", static, binding=binding))


def openai(schema, *, strict=True):
    described = {"name": "answer", "strict": strict, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def anthropic(schema):
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_chat_completions_hold_a_model_to_a_closed_schema(provider):
    found = form(provider, CLOSED)
    assert (found.native, found.is_told) == (openai(CLOSED), False)


def test_messages_hold_a_model_to_a_closed_schema():
    found = form("anthropic", CLOSED)
    assert (found.native, found.is_told) == (anthropic(CLOSED), False)


def test_objects_are_closed_where_that_refuses_nothing_that_is_told():
    found = form("anthropic", {key: CLOSED[key] for key in ("type", "properties", "required")})
    assert (found.native, found.is_told) == (anthropic(CLOSED), False)


def test_entries_that_may_be_left_out_are_not_strict():
    schema = {"type": "object", "properties": {"age": AGE, "name": {"type": ["string", "null"]}}}
    closed = {**schema, "additionalProperties": False}
    assert form("anthropic", schema).native == anthropic(closed)
    found = form("openai", schema)
    assert (found.native, found.is_told) == (openai(closed, strict=False), True)


def test_limits_are_told_in_the_prompt():
    limited = {**CLOSED, "properties": {"age": {**AGE, "minimum": 0}}, "$comment": "of people"}
    assert form("anthropic", limited).native == anthropic(CLOSED)
    assert form("openai", limited).native == openai(CLOSED)
    for provider in ("anthropic", "openai"):
        found = form(provider, limited)
        assert found.is_told
        assert '"minimum": 0' in found.prompt


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": ["object", "null"], "properties": {}},
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "additionalProperties": AGE},
        {**CLOSED, "required": ["age", "name"]},
        {**CLOSED, "properties": {"age": {"oneOf": [AGE]}}},
        {**CLOSED, "properties": {"age": {"anyOf": [AGE, {}]}}},
        {**CLOSED, "properties": {"age": {"type": "array", "items": {"type": "object"}}}},
        {**CLOSED, "properties": {"age": True}},
        {**CLOSED, "properties": {"age": {"type": "array"}}},
        {**CLOSED, "properties": {"age": {"enum": [[1], 2]}}},
        {**CLOSED, "properties": {"age": {"enum": 1}}},
        {**CLOSED, "properties": {"age": {"anyOf": [AGE, {"$ref": "#"}]}}},
        {"not": AGE},
        {},
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_no_service_is_known_to_keep_to_is_told_only(provider, schema):
    found = form(provider, schema)
    assert (found.native, found.is_told) == ({}, True)


def test_constants_are_sent_with_their_type():
    schema = {"type": "array", "items": {"enum": ["a", None]}}
    items = {"enum": ["a", None], "type": ["string", "null"]}
    assert form("anthropic", schema).native == anthropic({**schema, "items": items})
    age = {"const": True, "description": "Whether."}
    schema, sent = (
        {**CLOSED, "properties": {"age": each}} for each in (age, {**age, "type": "boolean"})
    )
    assert form("openai", schema).native == openai(sent)


def test_what_is_inside_arrays_and_choices_is_closed_too():
    schema = {"type": "array", "items": {"anyOf": [CLOSED, {"type": "null"}]}}
    assert form("anthropic", schema).native == anthropic(schema)
    # Chat Completions want an object.
    assert (form("openai", schema).native, form("openai", schema).is_told) == ({}, True)


@pytest.mark.parametrize("provider", ["dashscope", "deepseek", "moonshot", "zhipu"])
def test_some_services_keep_to_json_only(provider):
    found = form(provider, CLOSED)
    assert (found.native, found.is_told) == ({"response_format": {"type": "json_object"}}, True)
    assert "JSON" in found.prompt  # without the word they refuse the request
    assert form(provider, {"type": "array"}).native == {}


@pytest.mark.parametrize("provider", ["custom", "claude-code", "scripted", "mine"])
def test_other_providers_are_told(provider):
    found = form(provider, CLOSED)
    assert (found.native, found.is_told) == ({}, True)


def test_what_a_schema_refers_to_is_sent_in_its_place():
    schema = {
        **CLOSED,
        "properties": {"age": {"$ref": "#/$defs/age", "description": "In years."}},
        "$defs": {"age": {"$ref": "#/$defs/whole"}, "whole": AGE},
    }
    alone = {**CLOSED, "properties": {"age": {**AGE, "description": "In years."}}}
    for provider, sent in (("openai", openai(alone)), ("anthropic", anthropic(alone))):
        found = form(provider, schema)
        assert (found.native, found.is_told) == (sent, False)


def test_objects_that_stand_in_and_models_with_tools_by_text_are_told():
    assert form("openai", CLOSED, binding="object:1").native == {}
    assert form("openai", CLOSED, tools=()).native == {}


@pytest.mark.parametrize("provider", SERVICES)
def test_models_with_tools_of_their_own_are_held_to_a_form_where_they_go_on_calling(provider):
    found, alone = form(provider, CLOSED, tools=(), native=True), form(provider, CLOSED)
    if provider in {"anthropic", "openai"}:
        assert found == alone
    else:
        assert (found.native, found.is_told) == ({}, True)


def test_a_model_call_without_a_schema_has_no_form():
    model = model_row(Model(provider="openai", name="m"))
    assert form_of(Site("llm:w", "llm", Record(model=model))) is None
    assert form_of(Site("llm:w", "llm", Record(model=None, schema=Record(CLOSED)))).is_told
