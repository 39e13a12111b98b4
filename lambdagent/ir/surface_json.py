"""Surface term and program → JSON: every field by name, no host objects, no secrets."""

import re
from collections.abc import Mapping
from typing import Any

import attrs

from lambdagent.ir import surface
from lambdagent.ir.codec import encode_term
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.program import Program, site_row
from lambdagent.ir.shared_agents import definitions, is_readable
from lambdagent.ir.url import shown_url

_UNTOLD = {"binding", "implementation"}
_HIDDEN = "•••"
_URL_FIELD = "base_url"
_SECRET_KEY = re.compile(
    r"(api|access|secret|private)?[_-]?key$|token$|secret|passw|credential|authorization",
    re.IGNORECASE,
)
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY = re.compile(
    r"([?&][^=&\s]*(?:key|token|secret|sig|passw)[^=&\s]*=)[^&#\s]*", re.IGNORECASE
)
# Deeper agents are listed under `parts`: readers of JSON recurse.
_DEEPEST = 50


def program_json(
    root: surface.Term, counts: Mapping[str, int], program: Program
) -> dict[str, Any]:
    """Return all there is to know of an agent as what `json.dumps` takes.

    Values under keys such as ``api_key``, and passwords in URLs, are hidden; the URL of a model
    is shown by `shown_url`. Deterministic.
    """
    nested, parts = surface_json(root)
    found = {
        "name": program.name,
        "type": type(root).__name__,
        "surface": nested,
        "constructs": dict(counts),
        **core_json(program),
    }
    return {**found, "parts": parts} if parts else found


def core_json(program: Program) -> dict[str, Any]:
    """Return rows and sites of `program`, and its digest; secrets are hidden."""
    return {
        "core": [_told(row) for row in encode_term(program.term)],
        "sites": [_told(site_row(program.sites[name])) for name in sorted(program.sites)],
        "digest": program.digest(),
    }


def surface_json(root: surface.Term) -> tuple[Any, list[Any]]:
    """Return the fields of `root`, nested, and the list of parts too deep for that.

    In place of such a part stands ``{"part": number}``; so does, where the agent is large, what
    occurs more than once.
    """
    shared: set[int] = set()
    if not is_readable(root):
        shared = {id(term) for term in definitions(root).values() if surface.parts(term)}
    done: dict[int, tuple[Any, int]] = {}  # by identity: JSON and height
    parts: list[Any] = []
    stack = [(root, False)]
    while stack:
        term, ready = stack.pop()
        if id(term) in done:
            continue
        below = surface.parts(term)
        if not ready:
            stack.append((term, True))
            stack.extend((part, False) for part in reversed(below))
            continue
        height = 1 + max((done[id(part)][1] for part in below), default=0)
        fields = _fields(term, done)
        if (height > _DEEPEST or id(term) in shared) and term is not root:
            parts.append(fields)
            fields, height = {"part": len(parts) - 1}, 1
        done[id(term)] = fields, height
    return done[id(root)][0], parts


def _fields(value: Any, done: Mapping[int, tuple[Any, int]]) -> dict[str, Any]:
    found: dict[str, Any] = {"class": type(value).__name__}
    for field in attrs.fields(type(value)):
        if field.name not in _UNTOLD:
            found[field.name] = _field(getattr(value, field.name), field.name, done)
    return found


def _field(value: Any, name: str, done: Mapping[int, tuple[Any, int]]) -> Any:
    if isinstance(value, surface.Term):
        return done[id(value)][0]
    if isinstance(value, Model):
        return _fields(value, done)
    if name == "routes":
        return {label: done[id(agent)][0] for label, agent in value.items()}
    if isinstance(value, tuple) and any(isinstance(part, surface.Term) for part in value):
        return [done[id(part)][0] for part in value]
    return _told_under(name, value) if name == _URL_FIELD else _told(value)


def _told(value: Any) -> Any:
    """Return data as dicts and lists, its secrets hidden."""
    if isinstance(value, str):
        return _QUERY.sub(rf"\1{_HIDDEN}", _USER.sub(f"{_HIDDEN}@", value))
    if isinstance(value, tuple):
        return [_told(item) for item in value]
    if isinstance(value, Record):
        return {key: _told_under(key, item) for key, item in value.items()}
    return value


def _told_under(key: str, value: Any) -> Any:
    if isinstance(value, str) and key == _URL_FIELD:
        return shown_url(value)
    if isinstance(value, str) and value and _SECRET_KEY.search(key):
        return _HIDDEN
    return _told(value)
