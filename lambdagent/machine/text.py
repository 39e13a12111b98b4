"""Values as a model or a person reads them.

Source: specification 5.4 (state of a ReAct loop) and 7.3 (injected memory).
"""

import math
from collections.abc import Callable, Mapping

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text, integer_text
from lambdagent.ir.labels import MEMORY, REPLY, RESULTS, ROUNDS, TRANSCRIPT
from lambdagent.ir.sites import Site
from lambdagent.machine.answers import text_of
from lambdagent.machine.state import CONS, NIL, PAIR, TAGGED, Value
from lambdagent.machine.values import is_pair, project, proper_list

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def text_of_value(root: Value) -> str:
    """Return `root` as text: strings as they are, other data as JSON.

    A pair of memory and input, and the transcript of a ReAct loop, have the layouts of the
    specification; a reply is its text, and its tool calls one to a line. A value that has the tag
    of one of them but not its shape, as in a term written by hand, is data like any other. Nothing
    recurses.
    """
    if type(root) is str:
        return root
    out: list[str] = []
    stack: list[Value] = [root]
    while stack:
        value = stack.pop()
        if type(value) is str:
            out.append(value)
            continue
        parts = _laid_out(value) if type(value) is tuple else None
        if parts is None:
            out.append(text_of_data(project(value)))
        else:
            stack.extend(reversed(parts))
    return "".join(out)


def _laid_out(value: Value) -> list[Value] | None:
    """Return the texts and values that stand one after the other for `value`; None for data."""
    if value[0] == TAGGED:
        layout = _LAYOUTS.get(value[1])
        return None if layout is None else layout(value[3])
    if value[0] == PAIR and _is_memory(value[1]):
        return _with_memory(value[1][3], value[2])
    return None


def text_of_data(data: Data) -> str:
    """Return `data` as text: strings as they are, null as nothing, other data as JSON."""
    if isinstance(data, str):
        return data
    return "" if data is None else data_text(data)


def cut(text: str, limit: int) -> str:
    """Return `text` on one line of at most `limit` characters."""
    looked_at = 4 * limit
    line = " ".join(text[:looked_at].split())
    whole = len(line) <= limit and not text[looked_at:].strip()
    return line if whole else f"{line[: limit - 1]}…"


def _is_memory(value: Value) -> bool:
    return type(value) is tuple and value[0] == TAGGED and value[1] == MEMORY


def _with_memory(entries: Value, original: Value) -> list[Value] | None:
    rows = _rows(project(entries))
    if not rows:
        return None if rows is None else [original]
    shown = "\n".join(map(_entry, rows))
    return [f"[Memory Context]\n{shown}\n\n[Current Input]\n", original]


def _rows(entries: Data) -> list[Record] | None:
    """Return the entries of a memory, None where they are none."""
    if not isinstance(entries, tuple):
        return None
    rows = [row for row in entries if isinstance(row, Record) and {"key", "value"} <= {*row}]
    return rows if len(rows) == len(entries) else None


def _entry(row: Record) -> str:
    age = row.get("age")
    timed = isinstance(age, int | float) and 0 <= age < math.inf
    when = f" ({_ago(age)} ago)" if timed else ""
    return f"- {text_of_data(row['key'])}: {text_of_data(row['value'])}{when}"


def _ago(seconds: float) -> str:
    for unit, length in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if seconds >= length:
            return f"{integer_text(int(seconds // length))}{unit}"
    return f"{int(seconds)}s"


def _transcript(payload: Value) -> list[Value] | None:
    if not is_pair(payload):
        return None
    _, original, entries = payload
    steps = proper_list(entries)
    if steps is None or not all(map(_is_step, steps)):
        return None
    parts: list[Value] = ["[Previous Context]\n", original]
    for number, (_, thought, (_, tool, observation)) in enumerate(reversed(steps), start=1):
        parts += [f"\n\n[Step {number}]\nThought: ", thought, "\nAction: ", tool]
        parts += ["\nObservation: ", observation]
    return parts


def _is_step(entry: Value) -> bool:
    return is_pair(entry) and is_pair(entry[2])


def text_of_reply(reply: Data) -> str:
    """Return what a model said: its text, and the calls in its own form one to a line."""
    text, calls = text_of(reply), reply.get("tool_calls") if isinstance(reply, Record) else None
    if not calls or not isinstance(calls, tuple):
        return text
    lines = [text] if text else []
    for call in calls:
        if isinstance(call, Record):
            arguments = data_text(call.get("arguments"))
            lines.append(f"{text_of_data(call.get('name'))}({arguments})")
    return "\n".join(lines)


def _reply(payload: Value) -> list[Value]:
    return [text_of_reply(project(payload))]


def _results(payload: Value) -> list[Value] | None:
    rows = proper_list(payload)
    if rows is None or not all(map(is_pair, rows)):
        return None
    parts: list[Value] = []
    for _, tool, observation in rows:
        parts += ["\n\n" if parts else "", "Observation from ", tool, ": ", observation]
    return parts


def _rounds(payload: Value) -> list[Value] | None:
    if not is_pair(payload):
        return None
    _, original, entries = payload
    rounds = proper_list(entries)
    if rounds is None or not all(map(is_pair, rounds)):
        return None
    parts: list[Value] = ["[Previous Context]\n", original]
    for number, (_, reply, results) in enumerate(reversed(rounds), start=1):
        parts += [f"\n\n[Step {number}]\nThought: ", reply, "\n", results]
    return parts


_LAYOUTS: Mapping[tuple[str, ...], Callable[[Value], list[Value] | None]] = {
    REPLY: _reply,
    TRANSCRIPT: _transcript,
    RESULTS: _results,
    ROUNDS: _rounds,
}


def newest_text(value: Value) -> str:
    """Return the newest part of `value` as text, at a cost flat in the length of a transcript."""
    if type(value) is tuple and value[0] == TAGGED and value[1] in {TRANSCRIPT, ROUNDS}:
        payload = value[3]
        if is_pair(payload) and type(payload[2]) is tuple:
            _, original, entries = payload
            if entries[0] == NIL:
                return text_of_value(original)
            if entries[0] == CONS and value[1] == ROUNDS and is_pair(entries[1]):
                return text_of_value(entries[1][2])
            if entries[0] == CONS and _is_step(entries[1]):
                return text_of_value(entries[1][2][2])
    return text_of_value(value)


def asked_text(site: Site, argument: Value) -> str:
    """Return the text of what is asked at `site`: for a conversation its newest message."""
    if site.kind == "llm" and site.static["conversation"] and is_pair(argument):
        argument = argument[2]
    if site.static.get("repair") and is_pair(argument) and is_pair(argument[2]):
        return repair_text(argument[2][2])
    return newest_text(argument)


def repair_text(why: Value) -> str:
    """Return what a model is told whose answer does not fit its schema."""
    told = text_of_value(why)
    return f"That answer cannot be used: {told}.\nAnswer again, with nothing but JSON that fits."
