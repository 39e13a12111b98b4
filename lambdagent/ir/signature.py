"""A Python function → the JSON Schema of its arguments.

Types come from the annotations, defaults from the signature, descriptions from the docstring.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import attrs

from lambdagent.ir.data import Data, NotDataError, Record, freeze, is_json
from lambdagent.ir.docstrings import parameter_docs
from lambdagent.ir.schema_references import inlined

_SCALARS: Final[Mapping[Any, Record]] = {
    str: Record(type="string"),
    int: Record(type="integer"),
    float: Record(type="number"),
    bool: Record(type="boolean"),
    None: Record(type="null"),
    type(None): Record(type="null"),
    bytes: Record(type="string"),
    decimal.Decimal: Record(type="number"),
    datetime.datetime: Record(type="string", format="date-time"),
    datetime.date: Record(type="string", format="date"),
    datetime.time: Record(type="string", format="time"),
}
_ANYTHING: Final = Record()
UNIONS: Final = (Union, types.UnionType)
_SEVERAL: Final = inspect.Parameter.VAR_POSITIONAL
# What looking up a name in an annotation may raise.
_UNRESOLVED: Final = (NameError, TypeError, AttributeError, SyntaxError)


@attrs.frozen(eq=False)
class Member:
    """A field of a class that stands for an object.

    Attributes:
        hint: What it is annotated with.
        default: None if it must be there, else its value in a tuple.
    """

    hint: Any
    default: tuple[Any] | None


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of `function`; None for a builtin that does not tell."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the parameters of `function` are annotated with, names resolved.

    Annotations that name what is not there are left out.
    """
    target: Any = inspect.unwrap(function)
    target = getattr(target, "func", target)  # a `partial`
    if inspect.isclass(target):
        target = target.__init__
    elif not inspect.isroutine(target):
        target = getattr(target, "__call__", target)  # noqa: B004 - it is looked at
    return _resolved(target)


def _resolved(target: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(target, include_extras=True)
    except _UNRESOLVED:
        found: dict[str, Any] = {}
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    names = getattr(target, "__globals__", getattr(module, "__dict__", {}))
    for name, hint in (getattr(target, "__annotations__", None) or {}).items():
        alone = types.SimpleNamespace(__annotations__={name: hint})
        with suppress(*_UNRESOLVED):
            found |= typing.get_type_hints(alone, globalns=names, include_extras=True)
    return found


def doc_of(function: Callable[..., Any]) -> str:
    """Return the docstring of `function`; of a `partial`, that of what it calls."""
    return inspect.getdoc(getattr(function, "func", function)) or ""


def members_of(kind: Any) -> dict[str, Member] | None:
    """Return the fields of a dataclass, an attrs class, a `NamedTuple` or a `TypedDict`."""
    if not inspect.isclass(kind):
        return None
    hints = _resolved(kind)
    if typing.is_typeddict(kind):
        required = _required_keys(kind, hints)
        names = {name: None if name in required else (None,) for name in kind.__annotations__}
    elif hasattr(kind, "__dataclass_fields__") or attrs.has(kind) or _is_named_tuple(kind):
        signature = signature_of(kind)
        if signature is None:
            return None
        parameters = signature.parameters.values()
        names = {p.name: None if p.default is p.empty else (p.default,) for p in parameters}
    else:
        return None
    return {name: Member(hints.get(name, Any), default) for name, default in names.items()}


def _required_keys(kind: Any, hints: Mapping[str, Any]) -> set[str]:
    """Return the keys that must be there, also where the annotations of `kind` are texts."""
    marked = {name: get_origin(hint) for name, hint in hints.items()}
    required = {*kind.__required_keys__, *(n for n in marked if marked[n] is typing.Required)}
    return {name for name in required if marked.get(name) is not typing.NotRequired}


def validates_itself(kind: Any) -> bool:
    """Whether `kind` is a class that says what JSON it takes, and takes it, as pydantic's do."""
    return inspect.isclass(kind) and all(
        callable(getattr(kind, name, None)) for name in ("model_json_schema", "model_validate")
    )


def choices_of(kind: type[enum.Enum]) -> list[tuple[Data, enum.Enum]]:
    """Return what stands for each member: its value, or its name where values are no data."""
    try:
        return [(freeze(member.value), member) for member in kind]
    except NotDataError:
        return [(member.name, member) for member in kind]


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def plain_hint(hint: Any) -> Any:
    """Return `hint` without what only comments on it: `Annotated`, `Required` and the like."""
    while True:
        if get_origin(hint) in {Annotated, typing.Required, typing.NotRequired}:
            hint = get_args(hint)[0]
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        else:
            return hint


def parameters_of(function: Callable[..., Any]) -> Record | None:
    """Return the JSON Schema of the arguments of `function`, by keyword.

    None if nothing is known of them: the function takes one thing, and neither its annotation nor
    its docstring says more.
    """
    signature = signature_of(function)
    if signature is None:
        return None
    each = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    hints = hints_of(function)
    docs = parameter_docs(doc_of(function))
    if len(each) == 1 and each[0].name not in {*hints, *docs}:
        return None
    writer = _Writer()
    properties: dict[str, Data] = {}
    for parameter in each:
        hint = hints.get(parameter.name, Any)
        several = parameter.kind is _SEVERAL
        written = writer.schema(types.GenericAlias(list, (hint,)) if several else hint)
        written = described(written, docs.get(parameter.name, ""))
        if parameter.default is not parameter.empty:
            written = _with_default(written, parameter.default)
        properties[parameter.name] = written
    required = tuple(p.name for p in each if p.default is p.empty and p.kind is not _SEVERAL)
    more = not each or any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    return writer.whole(properties, required, more=more)


def described(schema: Record, text: str) -> Record:
    """Return `schema` with a description, where there is one."""
    return Record({**schema, "description": text}) if text else schema


def _with_default(schema: Record, default: object) -> Record:
    if default is None:
        return schema
    try:
        written = freeze(_jsonable(default))
    except NotDataError:
        return schema
    return Record({**schema, "default": written}) if is_json(written) else schema


def _jsonable(value: object) -> object:
    if isinstance(value, enum.Enum):
        return next(choice for choice, member in choices_of(type(value)) if member is value)
    return value


class _Writer:
    """Writes schemas; a class that holds itself is written once, and referred to."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._names: dict[Any, str] = {}  # of classes that are referred to
        self._defined: dict[str, Data] = {}

    def whole(
        self, properties: dict[str, Data], required: tuple[str, ...], *, more: bool
    ) -> Record:
        """Return the schema of an object, with what the properties refer to."""
        written: dict[str, Data] = {"type": "object", "properties": Record(properties)}
        if required:
            written["required"] = required
        if not more:
            written["additionalProperties"] = False
        if self._defined:
            written["$defs"] = Record(self._defined)
        return Record(written)

    def schema(self, hint: Any) -> Record:
        """Return the schema of what is annotated with `hint`; of what is unknown, anything."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            texts = filter(None, map(_said, arguments[1:]))
            return described(self.schema(arguments[0]), " ".join(texts))
        if isinstance(hint, typing.NewType):
            return self.schema(hint.__supertype__)
        if origin in {typing.Required, typing.NotRequired}:
            return self.schema(arguments[0])
        if _is_hashable(hint) and hint in _SCALARS:
            return _SCALARS[hint]
        if origin is Literal:
            return _choice(arguments)
        if origin in UNIONS:
            return self._union(arguments)
        if inspect.isclass(hint) and issubclass(hint, enum.Enum):
            return _choice([choice for choice, _ in choices_of(hint)])
        if validates_itself(hint):
            return self._own(hint)
        members = members_of(hint)
        if members is not None:
            return self._object(hint, members)
        return self._container(origin or hint, arguments)

    def _union(self, arguments: Iterable[Any]) -> Record:
        parts = list(dict.fromkeys(map(self.schema, arguments)))
        if _ANYTHING in parts:
            return _ANYTHING
        if all(part.keys() == {"type"} and isinstance(part["type"], str) for part in parts):
            return Record(type=tuple(part["type"] for part in parts))
        return Record(anyOf=tuple(parts)) if len(parts) > 1 else parts[0]

    def _object(self, kind: Any, members: Mapping[str, Member]) -> Record:
        if kind in self._open:
            name = self._names.setdefault(kind, self._free(kind.__name__))
            self._defined.setdefault(name, None)
            return Record({"$ref": f"#/$defs/{name}"})
        self._open.append(kind)
        docs = parameter_docs(kind.__doc__)
        properties = {
            key: described(self._member(member), docs.get(key, ""))
            for key, member in members.items()
        }
        self._open.pop()
        required = tuple(key for key, member in members.items() if member.default is None)
        written: dict[str, Data] = {"type": "object", "properties": Record(properties)}
        if required:
            written["required"] = required
        written["additionalProperties"] = False
        if kind not in self._names:
            return Record(written)
        self._defined[self._names[kind]] = Record(written)
        return Record({"$ref": f"#/$defs/{self._names[kind]}"})

    def _free(self, name: str) -> str:
        """Return a name like `name` that nothing has been defined under."""
        while name in self._defined:
            name += "_"
        return name

    def _own(self, kind: Any) -> Record:
        """Return the schema that a class has of itself; if there is none, anything."""
        try:
            written = freeze(kind.model_json_schema())
        except Exception:  # noqa: BLE001 - foreign code, which may be of any kind of field
            return _ANYTHING
        if not isinstance(written, Record):
            return _ANYTHING
        alone = inlined(written)
        return self._hoisted(written) if alone is None else alone

    def _hoisted(self, written: Record) -> Record:
        """Return a schema that holds itself, its definitions among ours; where they clash, not."""
        definitions = written.get("$defs")
        if not isinstance(definitions, Record):
            return _ANYTHING
        if any(self._defined.get(name, each) != each for name, each in definitions.items()):
            return _ANYTHING
        self._defined |= definitions
        return Record({key: each for key, each in written.items() if key != "$defs"})

    def _member(self, member: Member) -> Record:
        written = self.schema(member.hint)
        return written if member.default is None else _with_default(written, member.default[0])

    def _container(self, kind: Any, arguments: tuple[Any, ...]) -> Record:
        if not inspect.isclass(kind):
            return _ANYTHING
        if hasattr(kind, "__fspath__") or kind.__name__ == "UUID":
            return Record(type="string")
        if issubclass(kind, tuple) and arguments and arguments[-1] is not Ellipsis:
            items = tuple(map(self.schema, arguments))
            count = len(items)
            return Record(type="array", prefixItems=items, minItems=count, maxItems=count)
        if issubclass(kind, Mapping):
            values = self.schema(arguments[1]) if len(arguments) == 2 else _ANYTHING
            if not values:
                return Record(type="object")
            return Record(type="object", additionalProperties=values)
        if issubclass(kind, Collection | Iterator) or kind is Iterable:
            written: dict[str, Data] = {"type": "array"}
            if arguments:
                written["items"] = self.schema(arguments[0])
            if issubclass(kind, Set):
                written["uniqueItems"] = True
            return Record(written)
        return _ANYTHING


def _is_hashable(hint: Any) -> bool:
    return getattr(type(hint), "__hash__", None) is not None


def _said(comment: object) -> str:
    """Return what a comment of `Annotated` says: a text, or what holds one, such as `Field`."""
    said = getattr(comment, "description", None) or getattr(comment, "documentation", comment)
    return said if isinstance(said, str) else ""


def _choice(values: Iterable[object]) -> Record:
    try:
        choices = tuple(freeze(_jsonable(value)) for value in values)
    except NotDataError:
        return _ANYTHING
    kinds = {_SCALARS[type(choice)]["type"] for choice in choices if type(choice) in _SCALARS}
    if len(kinds) == 1 and all(type(choice) in _SCALARS for choice in choices):
        return Record(type=kinds.pop(), enum=choices)
    return Record(enum=choices)
