"""A run as data → one page that shows it, without anything from outside.

The page has the data as compressed JSON in base 64, in an element that no browser runs: nothing
that a model or a tool said is ever part of the markup. Its script puts texts into text nodes, and
its Content-Security-Policy allows no script or style but the page's own, and no request at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from lambdagent.ir.data import Data
from lambdagent.ir.exchange import key_text
from lambdagent.ir.limits import dollars
from lambdagent.machine.state import Event, Fail, Halt, Machine, Path
from lambdagent.machine.text import text_of_value
from lambdagent.source import HIDDEN
from lambdagent.trace.macro import ends_of_steps, place_of
from lambdagent.trace.nesting import Place
from lambdagent.trace.sight import path_text, stands
from lambdagent.trace.timeline import Bar

# Most characters of one text of the macro trace that a page holds.
MOST_CHARACTERS = 20_000
# In this order they are one script.
_SCRIPTS = ("model.js", "parts.js", "charts.js", "stepper.js", "main.js")


def render(data: Mapping[str, object]) -> str:
    """Return the page that shows `data`; the same data give the same page."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    packed = base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
    style, script = _template("page.css"), "".join(map(_template, _SCRIPTS))
    script = script.replace("@HIDDEN@", _hidden())
    page = _template("page.html")
    for name, part in (
        ("STYLE-HASH", _hash(style)),
        ("SCRIPT-HASH", _hash(script)),
        ("STYLE", style),
        ("SCRIPT", script),
        ("DATA", packed),
    ):
        page = page.replace(f"@{name}@", part)
    return page


@cache
def _template(name: str) -> str:
    return (files("lambdagent.trace") / "templates" / name).read_text(encoding="utf-8")


def _hidden() -> str:
    """Return the characters that are not shown as they are, as a pattern of JavaScript."""
    return "".join(c if c in "[-]" else f"\\u{{{ord(c):x}}}" for c in HIDDEN.pattern)


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names `text`."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def outcome_row(last: Machine, told: Data) -> dict[str, object]:
    """Return what a run came to.

    Args:
        last: Its last state.
        told: The error that people were told, if one is known.
    """
    how, text = "unfinished", stands(last.root)
    match last.root.state:
        case Halt(value):
            how, text = "done", text_of_value(value)
        case Fail(error):
            how, text = "failed", str(error["message"])
    if isinstance(told, str):
        how, text = "failed" if how == "done" else how, told
    return {"how": how, "text": _bounded(text)}


def input_row(text: str) -> list[object]:
    """Return what a run was asked."""
    return _bounded(text)


def record_rows(
    bars: Sequence[Bar],
    places: Sequence[Place],
    events: Sequence[Event],
    asked: Mapping[Path, int],
) -> list[dict[str, object]]:
    """Return the macro trace as the page has it.

    Args:
        bars: The records in canonical order, and when they were.
        places: What is around each.
        events: Of the same run, as far as it is gone through; each record ended with one.
        asked: The step at which each request went out, by key.
    """
    ends: dict[tuple[Path, str], list[int]] = {}
    for event in ends_of_steps(events):
        ends.setdefault(place_of(event), []).append(event.transition)
    rows: list[dict[str, object]] = []
    for bar, place in zip(bars, places, strict=True):
        record = bar.record
        ended = ends.get((record.key, record.term))
        is_call = record.started_s is not None
        row: dict[str, object] = {
            "kind": record.kind,
            "term": record.term,
            "key": key_text(record.key),
            "thread": path_text(record.key[:-1]),
            "place": place,
            "input": _bounded(record.input),
            "output": _bounded(record.output),
            "called": is_call,
            "from": bar.start_s,
            "to": bar.end_s,
            "tokens": record.tokens,
            "cost": None if record.cost_usd is None else dollars(record.cost_usd),
            "notes": record.notes,
            "asked": asked.get(record.key) if is_call else None,
            "done": ended.pop(0) if ended else None,
        }
        rows.append(row)
    return rows


def _bounded(text: str) -> list[object]:
    """Return what a page holds of `text`, and how long all of it is."""
    return [text[:MOST_CHARACTERS], len(text)]
