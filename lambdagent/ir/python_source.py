"""Surface term → Python that rebuilds an equal one.

What occurs more than once becomes a variable, so that sharing (one agent, one conversation)
survives; so does what is nested deeper than people, or Python's parser, can read. Functions and
objects of the registry cannot be written: a comment says so, and the argument is left out. Nor are
the credentials in the URL of a model: a comment says that too, and the model rebuilt is another.
"""

import keyword
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.data_text import data_text, escaped, integer_text
from lambdagent.ir.layout import Mark, bracketed, call, laid_out
from lambdagent.ir.model import Model
from lambdagent.ir.url import shown_url

_DEEPEST = 6  # levels of agents in one statement
_DEEPEST_DATA = 30
_LONG = 70
_VARIADIC = {surface.Compose: "stages", surface.Par: "branches"}
_BINDINGS = {"binding": "object", "implementation": "function"}
_URL_FIELD = "base_url"


def to_python(root: surface.Term) -> str:
    """Return Python source that sets `agent` to a term equal to `root`.

    Linear in the distinct subterms. Values are written as they are, but for what `shown_url` drops
    of the URL of a model: with such a model, the term is equal up to that.
    """
    return _Writer(root).source()


@attrs.frozen(eq=False)
class _Name:
    """A variable of the source, or a value that is not written yet."""

    value: Any
    nested: bool = True


class _Writer:
    def __init__(self, root: surface.Term) -> None:
        self.root = root
        self.names: dict[object, str] = {}  # by key of the value
        self.used: set[str] = {"agent"}
        self.numbers: dict[str, int] = {}
        self.imports: set[str] = set()
        self.data_imports: set[str] = set()
        self.statements: list[str] = []
        self.uses: dict[object, int] = {}
        self.order: list[Any] = []

    def source(self) -> str:
        self.survey()
        heights: dict[object, int] = {}
        for value in self.order:
            key = _key(value)
            below = [heights[_key(part)] for part in _parts(value) if _key(part) not in self.names]
            height = 1 + max(below, default=0)
            heights[key] = height
            shared = self.uses.get(key, 0) > 1 and _worth_sharing(value)
            if value is not self.root and (shared or height >= _DEEPEST):
                self.assign(self.new_name(value), value)
                self.names[key] = self.last_name
        self.assign("agent", self.root)
        names = sorted(self.imports)
        lines = [f"from lambdagent import {', '.join(names)}"]
        if len(lines[0]) > 88:
            lines = ["from lambdagent import (", *(f"    {name}," for name in names), ")"]
        if self.data_imports:
            lines.append(f"from lambdagent.ir.data import {', '.join(sorted(self.data_imports))}")
            if "freeze" in self.data_imports:
                lines.insert(0, "import json\n")
        return "\n".join(lines) + "\n\n" + "".join(self.statements)

    def survey(self) -> None:
        """List the distinct terms and models, parts before wholes, and count their uses."""
        seen: set[object] = set()
        stack: list[tuple[Any, bool]] = [(self.root, False)]
        while stack:
            value, ready = stack.pop()
            if ready:
                self.order.append(value)
            elif _key(value) not in seen:
                seen.add(_key(value))
                stack.append((value, True))
                for part in reversed(_parts(value)):
                    self.uses[_key(part)] = self.uses.get(_key(part), 0) + 1
                    stack.append((part, False))

    def new_name(self, value: Any) -> str:
        raw = value.name if isinstance(value, surface.Lam | surface.Tool) else ""
        stem = re.sub(r"[^a-z0-9]+", "_", raw.lower(), flags=re.ASCII).strip("_")[:30]
        if not stem or stem[0].isdigit() or keyword.iskeyword(stem) or stem in {"json", "freeze"}:
            stem = type(value).__name__.lower()
            stem = f"{stem}_" if keyword.iskeyword(stem) else stem
        name = stem
        while name in self.used:
            self.numbers[stem] = self.numbers.get(stem, 1) + 1
            name = f"{stem}_{self.numbers[stem]}"
        self.used.add(name)
        self.last_name = name
        return name

    def assign(self, name: str, value: Any) -> None:
        """Add the statement ``name = value``."""
        notes: list[str] = []
        pieces: list[Any] = []
        stack: list[Any] = [_Name(value, nested=False)]
        while stack:
            piece = stack.pop()
            if not isinstance(piece, _Name):
                pieces.append(piece)
            elif piece.nested and _key(piece.value) in self.names:
                pieces.append(self.names[_key(piece.value)])
            else:
                notes += _missing(piece.value)
                stack += reversed(self.construction(piece.value))
        text = laid_out([f"{name} = ", *pieces], indent=4)
        self.statements.append("".join(f"# {note}\n" for note in notes) + text + "\n")

    def construction(self, value: Any) -> list[Any]:
        """Return the pieces of the call that makes `value`."""
        kind = type(value)
        self.imports.add(kind.__name__)
        if kind in _VARIADIC:
            arguments = [[_Name(part)] for part in getattr(value, _VARIADIC[kind])]
        else:
            arguments = [list(self.argument(*each)) for each in _arguments(value)]
        pieces = call(kind.__name__, arguments)
        if arguments:
            pieces.insert(-3, Mark.COMMA)
        return pieces

    def argument(self, keyword_: str, value: Any) -> Iterable[Any]:
        if keyword_:
            yield f"{keyword_}="
        if isinstance(value, surface.Term | Model):
            yield _Name(value)
        elif keyword_ == "tools":
            yield from _with_comma(bracketed("[", [[_Name(tool)] for tool in value], "]"), value)
        elif keyword_ == "routes":
            items = [[*_text(label), ": ", _Name(agent)] for label, agent in value.items()]
            yield from _with_comma(bracketed("{", items, "}"), value)
        else:
            yield from self.data(
                value, frozen=keyword_ not in {"initial", "settings", "output_schema"}
            )

    def data(self, value: Any, *, frozen: bool) -> Iterable[Any]:
        """Return a constant; with `frozen`, objects are `Record`s."""
        if isinstance(value, str):
            return _text(value)
        if _depth(value) > _DEEPEST_DATA:
            self.data_imports.add("freeze")
            return ["freeze(json.loads(", *_text(data_text(value)), "))"]
        if frozen and _holds_record(value):
            self.data_imports.add("Record")
        return _data(value, frozen=frozen)


def _key(value: Any) -> object:
    """Return what makes two uses of `value` one: identity, or equality for models."""
    if isinstance(value, Model):
        return (value.binding, data_text(Record(_model_row(value))))
    return id(value)


def _model_row(model: Model) -> dict[str, Any]:
    return {field.name: getattr(model, field.name) for field in attrs.fields(type(model))}


def _worth_sharing(value: Any) -> bool:
    # An empty term is as short as a variable; only agents with effects are worth one.
    return not isinstance(value, surface.Fst | surface.Snd | surface.Concat)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Model):
        return []
    if isinstance(value, surface.Lam):
        return [] if value.model is None else [value.model]
    return surface.parts(value)


def _arguments(value: Any) -> list[tuple[str, Any]]:
    """Return keyword and value of what differs from the default; the first one without keyword."""
    found: list[tuple[str, Any]] = []
    for field in attrs.fields(type(value)):
        each = getattr(value, field.name)
        if field.name in _BINDINGS or _is_default(field.default, each):
            continue
        if field.name == _URL_FIELD:
            each = shown_url(each)
        first = not found and not field.kw_only and field.default is attrs.NOTHING
        found.append(("" if first and field.name == "name" else field.name, each))
    return found


def _is_default(default: Any, value: Any) -> bool:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class, typed as a function
        if default.takes_self:  # derived from what cannot be written here
            return value is None
        default = default.factory()
    return type(value) is type(default) and bool(value == default)


def _missing(value: Any) -> Iterable[str]:
    for name, what in _BINDINGS.items():
        if getattr(value, name, None) is not None:
            owner = type(value).__name__
            called = escaped(str(getattr(value, "name", "")))[:60]
            server = getattr(value, "server", None)
            if server is not None:
                yield f"{owner} {called}: where its server is, is in the agent file alone"
                continue
            yield f"{owner} {called}: its {name}, a Python {what}, cannot be written here"
    url = getattr(value, _URL_FIELD, None)
    if url is not None and shown_url(url) != url:
        called = escaped(value.name)[:60]
        yield f"Model {called}: the credentials in its {_URL_FIELD} are left out"


# --- constants -----------------------------------------------------------------------------------


def _with_comma(pieces: list[Any], items: Any) -> list[Any]:
    if items:
        pieces.insert(-3, Mark.COMMA)
    return pieces


def _text(text: str) -> list[Any]:
    """Return a string literal; a long one as several, line by line."""
    if len(text) <= _LONG and "\n" not in text[:-1]:
        return [_literal(text)]
    chunks = [part for line in text.splitlines(keepends=True) for part in _chunks(line)]
    pieces: list[Any] = [Mark.OPEN, "(", Mark.INDENT]
    for chunk in chunks:
        pieces += [Mark.LINE, _literal(chunk)]
    return [*pieces, Mark.DEDENT, Mark.LINE, ")", Mark.CLOSE]


def _chunks(line: str) -> Iterable[str]:
    """Cut a line after blanks, or anywhere, into pieces of a readable width."""
    start = 0
    while len(line) - start > _LONG:
        blank = line.rfind(" ", start, start + _LONG)
        end = blank + 1 if blank > start else start + _LONG
        yield line[start:end]
        start = end
    yield line[start:]


def _literal(text: str) -> str:
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in text else shown


def _data(value: Any, *, frozen: bool) -> list[Any]:
    opened = "Record({" if frozen else "{"
    pieces: list[Any] = []
    stack: list[Any] = [_Name(value)]
    while stack:
        piece = stack.pop()
        if not isinstance(piece, _Name):
            pieces.append(piece)
            continue
        item = piece.value
        if isinstance(item, Mapping):
            entries = [[*_text(key), ": ", _Name(each)] for key, each in item.items()]
            closed = "})" if frozen else "}"
            stack += reversed(_with_comma(bracketed(opened, entries, closed), item))
        elif isinstance(item, tuple):
            ends = ",)" if len(item) == 1 else ")"
            stack += reversed(bracketed("(", [[_Name(each)] for each in item], ends))
        else:
            pieces += _scalar(item)
    return pieces


def _scalar(value: Any) -> list[Any]:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return [f'float("{value}")']
    if isinstance(value, int) and not isinstance(value, bool):
        return [integer_text(value)]
    return [repr(value)]


def _depth(value: Any) -> int:
    deepest = 0
    stack = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        deepest = max(deepest, depth)
        below = item.values() if isinstance(item, Mapping) else item
        if isinstance(item, Mapping | tuple):
            stack += [(each, depth + 1) for each in below]
    return deepest


def _holds_record(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            return True
        if isinstance(item, tuple):
            stack += item
    return False
