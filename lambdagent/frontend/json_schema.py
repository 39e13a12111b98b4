"""The field tables as a JSON Schema, for editors: draft 2020-12.

It describes what a YAML 1.2 reader makes of the file. A file that the checker accepts is valid,
unless it writes `true` in capitals of its own. The reverse holds as far as such a schema can say
it: it knows no expressions, no environment, and not which values were quoted.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from lambdagent.frontend import kinds
from lambdagent.frontend.schema import (
    AGENT,
    BODIES,
    MODEL,
    PROMPTED,
    SCRIPT,
    STEP,
    TYPES,
)
from lambdagent.frontend.schema.paths import SERVED, below, served_yet
from lambdagent.ir.data import thaw
from lambdagent.ir.strategies import WRITTEN

Json: TypeAlias = "dict[str, Any]"

_LARGEST: Final = 2**63 - 1
# A plain scalar is read as its field wants, so a text may look like a number or a boolean.
_TEXT: Final[Json] = {"type": ["string", "number", "boolean"]}
# A text in which each `${` begins `${NAME}` or `${NAME:-default}`, or is written `$${`.
_VARIABLES: Final = r"^([^$]|\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}|\$(?!\{))*$"
_REPLY: Final[Json] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "finish_reason": {},
        "tool_calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {}, "name": {"type": "string"}, "arguments": {}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
        "usage": {},
    },
    "additionalProperties": False,
}
_FLAG: Final[Json] = {
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": "^([Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$"},
    ]
}
_NOT_YET: Final = {"en": "Not supported yet. ", "zh": "尚不支持。"}
_ONLY_YET: Final = {"en": "Only `{}` is supported yet. ", "zh": "目前仅支持 `{}`。"}
_TITLE: Final = {"en": "An agent of lambdagent", "zh": "lambdagent 的 Agent"}


def json_schema(language: str = "en") -> Json:
    """Return the JSON Schema of an agent file, its descriptions in `language`."""
    writer = _Writer(language)
    top_only = [field.name for field in AGENT.fields.values() if field.top_only]
    # Not beside the `$ref`: some editors take what stands there instead of what it refers to.
    inside = [
        _ref("agent"),
        {"properties": dict.fromkeys(top_only, False)},
        _when("type", PROMPTED, {"required": ["systemPrompt"]}, absent=True),
    ]
    step = {"if": {"required": ["type"]}, "then": _ref("nested"), "else": _ref("prompt")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _TITLE[language],
        **_ref("agent"),
        "required": ["type", "systemPrompt"],
        "$defs": {
            "agent": writer.agent(),
            "nested": {"allOf": inside},
            "step": {**step, "type": "object"},
            "prompt": writer.block(STEP, "chain.steps[]"),
            "model": writer.block(MODEL, "model"),
            "script": writer.script(),
            "reply": {"anyOf": [_TEXT, _REPLY]},
        },
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def _when(key: str, values: tuple[str, ...], then: Json, *, absent: bool = False) -> Json:
    """Return that `then` holds where `key` is one of `values`; also where it is `absent`."""
    chosen: Json = {"properties": {key: {"enum": list(values)}}}
    if not absent:
        chosen["required"] = [key]
    return {"if": chosen, "then": then}


class _Writer:
    """Writes blocks and kinds, with descriptions in one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def agent(self) -> Json:
        """Return an agent, wherever it stands: what belongs to which type."""
        written = self.block(AGENT, "")
        by_type = []
        for type_ in TYPES:
            foreign = [
                field.name
                for field in AGENT.fields.values()
                if field.types and type_ not in field.types
            ]
            then: Json = {"properties": dict.fromkeys(foreign, False)}
            if type_ in BODIES and BODIES[type_].required:
                then["required"] = [type_]
            by_type.append(_when("type", (type_,), then, absent=type_ == TYPES[0]))
        return {**written, "allOf": by_type}

    def script(self) -> Json:
        """Return a script: at least one of its fields is there."""
        some = [{"required": [name]} for name in SCRIPT.fields]
        return {**self.block(SCRIPT, "model.script"), "type": "object", "anyOf": some}

    def block(self, block: kinds.Block, path: str) -> Json:
        """Return the mapping `block`, whose fields are below `path`."""
        conditions = [each for field in block.conditional for each in _conditions(block, field)]
        written: Json = {
            "type": "object" if block.required or block is AGENT else ["object", "null"],
            "description": self.doc(block),
            "properties": {
                field.name: self.field(field, below(path, field))
                for field in block.fields.values()
            },
            "patternProperties": {"^x-": {}},
            "additionalProperties": False,
        }
        if block.required:
            written["required"] = list(block.required)
        if conditions:
            written["allOf"] = conditions
        return written

    def doc(self, described: kinds.Field | kinds.Block) -> str:
        return described.zh if self.language == "zh" else described.doc

    def field(self, field: kinds.Field, path: str) -> Json:
        written = self.kind(field.kind, path)
        served = served_yet(path)
        status = ""
        if served is None:
            status = _NOT_YET[self.language]
        elif served is not SERVED:
            status = _ONLY_YET[self.language].format(thaw(served))
        written = {**written, "description": status + self.doc(field)}
        if field.default is not None:
            written["default"] = thaw(field.default)
        return written

    def kind(self, kind: kinds.Kind, path: str) -> Json:
        """Return what a value of `kind` is that stands at `path`."""
        match kind:
            case kinds.Block():
                return self.block(kind, path)
            case kinds.ListOf(item, empty, unique):
                written: Json = {"items": self.kind(item, f"{path}[]")}
                if unique:
                    written["uniqueItems"] = True
                return _sized(written, "array", "minItems", empty)
            case kinds.MapOf(value, key, empty):
                values = self.kind(value, f"{path}.{key}")
                return _sized({"additionalProperties": values}, "object", "minProperties", empty)
            case kinds.ListOrMap(items, maps):
                return {"anyOf": [self.kind(items, path), self.kind(maps, path)]}
        return _scalar(kind)


def _scalar(kind: kinds.Kind) -> Json:
    """Return what a value without fields, items or entries of its own is."""
    match kind:
        case kinds.Text(known=known) if known:
            return {"anyOf": [{"enum": list(known)}, _TEXT]}
        case kinds.Text(connection=True):
            return {**_TEXT, "pattern": _VARIABLES}
        case kinds.Text() | kinds.Expression() | kinds.Pattern():
            return dict(_TEXT)
        case kinds.Integer(least, zero, most):
            largest = _LARGEST if most is None else most
            return {"type": "integer", "minimum": 1 if zero else least, "maximum": largest}
        case kinds.Number():
            return _number(kind)
        case kinds.Flag():
            return dict(_FLAG)
        case kinds.Remembered():
            return {"anyOf": [_FLAG, {"type": "string", "pattern": WRITTEN}]}
        case kinds.Choice(words):
            return {"enum": list(words)}
        case kinds.Anything():
            return {}
    return _ref(_NAMED[type(kind)])


_NAMED: Final[dict[type, str]] = {
    kinds.Agent: "nested",
    kinds.Model: "model",
    kinds.Reply: "reply",
    kinds.Script: "script",
    kinds.Step: "step",
}


def _sized(written: Json, type_: str, least: str, empty: str | None) -> Json:
    """Return a list or mapping; where it must not be `empty`, it must not be left out either."""
    if empty:
        return {"type": type_, least: 1, **written}
    return {"type": [type_, "null"], **written}


def _number(kind: kinds.Number) -> Json:
    written: Json = {"type": "number"}
    written["exclusiveMinimum" if kind.open else "minimum"] = kind.least
    if kind.most is not None:
        written["maximum"] = kind.most
    return written


def _conditions(block: kinds.Block, field: kinds.Field) -> list[Json]:
    """Return when `field`, which depends on another one, must not stand and when it must."""
    assert field.only_with is not None
    key, value = field.only_with
    choice = block.fields[key].kind
    assert isinstance(choice, kinds.Choice)
    default = block.defaults.get(key)
    others = tuple(word for word in choice.words if word != value)
    without = {"properties": {field.name: False}}
    conditions = [_when(key, others, without, absent=default in others)]
    if field.required:
        needed = {"required": [field.name]}
        conditions.append(_when(key, (value,), needed, absent=default == value))
    return conditions
