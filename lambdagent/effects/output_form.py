"""A schema that an answer must fit → how the provider is asked for it.

What a service keeps to by itself stands in the request; whatever else there is to know of the
schema stands in the prompt. All answers are looked at when they are there:
`machine.host.fits` does so.

Source: https://platform.openai.com/docs/guides/structured-outputs and
https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs

from lambdagent.ir.data import Data, Record, thaw
from lambdagent.ir.data_text import data_text
from lambdagent.ir.schema_references import inlined
from lambdagent.ir.services import SERVICES, Service
from lambdagent.ir.sites import Site

_NAME = "answer"
_ANY_OBJECT: Final = {"response_format": {"type": "json_object"}}
_DEEPEST = 50

# Note [Closed schemas]
#
# Services that hold a model to a schema know a part of JSON Schema, in which every object says all
# its entries. A schema is sent if it has such a form that lets through nothing that it refuses but
# for limits: those are left out, told in the prompt, and looked at with the answer. One with more,
# such as objects of any entries, `oneOf` or `patternProperties`, is in the prompt alone.
_KEPT: Final = {"type", "enum", "const", "title", "description"}
_LIMITS: Final = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
    *("minProperties", "maxProperties", "default", "examples", "format"),
}
_SCALARS: Final = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
}
_SILENT: Final = {"$schema", "$id", "$comment", "deprecated", "readOnly", "writeOnly"}


_KNOWN: Final = {
    *(_KEPT | _LIMITS | _SILENT),
    *("items", "anyOf", "properties", "required", "additionalProperties"),
}


@attrs.frozen
class OutputForm:
    """How a model is asked for an answer of some form.

    Attributes:
        schema: What the answer must fit.
        native: Arguments of the SDK's call that hold the model to it, by name; none for many.
        is_told: Whether the prompt tells the schema.
    """

    schema: Record
    native: Mapping[str, Any]
    is_told: bool

    @property
    def prompt(self) -> str:
        """What the prompt says of it."""
        return "Answer with nothing but JSON that fits this JSON Schema:\n" + data_text(
            self.schema
        )

    @property
    def beside(self) -> str:
        """What the request says of it besides its messages, or in one more if it is refused."""
        prompt = "" if self.is_told else self.prompt
        asked = "" if self.native in ({}, _ANY_OBJECT) else json.dumps(self.native)
        return max(prompt, asked, key=len)


def form_of(site: Site) -> OutputForm | None:
    """Return how the model at `site` is asked for answers of its form; None if they have none.

    Objects that stand in for a provider are told only, and so are models that may call a tool
    instead: by text, or by what their service cannot do while it holds them to a form.
    """
    schema = site.static.get("schema")
    if type(schema) is not Record:
        return None
    model = site.static["model"]
    provider = model["provider"] if isinstance(model, Record) else None
    service = SERVICES.get(str(provider))
    if service is None or site.binding is not None:
        return OutputForm(schema, {}, is_told=True)
    natively = site.static.get("native") and service.structured_beside_tools
    if "tools" in site.static and not natively:
        return OutputForm(schema, {}, is_told=True)
    return _served(service, schema)


def _served(service: Service, schema: Record) -> OutputForm:
    if service.structured == "json_object" and schema.get("type") == "object":
        return OutputForm(schema, _ANY_OBJECT, is_told=True)
    closed = _Closing()
    form = closed.schema(inlined(schema), 0)
    if service.structured != "json_schema" or form is None:
        return OutputForm(schema, {}, is_told=True)
    if service.speaks == "messages":
        config = {"format": {"type": "json_schema", "schema": form}}
        return OutputForm(schema, {"output_config": config}, is_told=closed.is_loose)
    if form.get("type") != "object":
        return OutputForm(schema, {}, is_told=True)
    described = {"name": _NAME, "strict": closed.is_strict, "schema": form}
    asked = {"type": "json_schema", "json_schema": described}
    is_told = closed.is_loose or not closed.is_strict
    return OutputForm(schema, {"response_format": asked}, is_told=is_told)


class _Closing:
    """Writes the closed form of a schema; see Note [Closed schemas].

    Attributes:
        is_loose: Whether something is left out of it.
        is_strict: Whether all entries of all objects are required.
    """

    def __init__(self) -> None:
        self.is_loose = False
        self.is_strict = True

    def schema(self, schema: Data, depth: int) -> dict[str, Any] | None:
        """Return the closed form; None if there is none."""
        if not isinstance(schema, Record) or depth > _DEEPEST or not schema.keys() <= _KNOWN:
            return None
        self.is_loose |= not schema.keys().isdisjoint(_LIMITS)
        form: dict[str, Any] = {key: thaw(schema[key]) for key in schema if key in _KEPT}
        if "items" in schema:
            form["items"] = self.schema(schema["items"], depth + 1)
        choices = schema.get("anyOf")
        if isinstance(choices, tuple):
            form["anyOf"] = [self.schema(each, depth + 1) for each in choices]
        if form.get("items", {}) is None or None in form.get("anyOf", ()):
            return None
        if "object" in _names(schema.get("type")) or "properties" in schema:
            return self.object(schema, form, depth)
        if form.keys() & {"enum", "const"}:
            return _of_constants(form)
        lacks_items = "array" in _names(schema.get("type")) and "items" not in form
        return None if lacks_items or form.keys().isdisjoint({"type", "anyOf"}) else form

    def object(self, schema: Record, form: dict[str, Any], depth: int) -> dict[str, Any] | None:
        """Return the closed form of the schema of an object, of which `form` is the rest."""
        properties, required = schema.get("properties"), schema.get("required", ())
        if schema.get("additionalProperties", False) is not False:
            return None
        if schema.get("type") != "object" or not isinstance(properties, Record):
            return None
        closed = {name: self.schema(each, depth + 1) for name, each in properties.items()}
        if None in closed.values() or not isinstance(required, tuple):
            return None
        if not set(required) <= closed.keys():
            return None
        self.is_strict &= set(required) == closed.keys()
        more = {"required": list(required)} if required else {}
        return {**form, "properties": closed, **more, "additionalProperties": False}


def _of_constants(form: dict[str, Any]) -> dict[str, Any] | None:
    """Return `form` with the type of its constants: services want one everywhere."""
    values = [form["const"]] if "const" in form else form["enum"]
    if not isinstance(values, list) or not all(type(each) in _SCALARS for each in values):
        return None
    found = list(dict.fromkeys(_SCALARS[type(each)] for each in values))
    return {"type": found[0] if len(found) == 1 else found, **form}


def _names(types: Data) -> tuple[Data, ...]:
    return types if isinstance(types, tuple) else (types,)
