"""Values as a model or a person reads them.

Source: specification 5.4 (state of a ReAct loop) and 7.3 (injected memory).
"""

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.labels import MEMORY, REPLY, TRANSCRIPT
from lambdagent.ir.sites import Site
from lambdagent.machine.answers import text_of
from lambdagent.machine.state import CONS, PAIR, TAGGED, Value
from lambdagent.machine.values import list_items, project

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def text_of_value(value: Value) -> str:
    """Return `value` as text: strings as they are, other data as JSON.

    A pair of memory and input, and the transcript of a ReAct loop, have the layouts of the
    specification; a reply is its text.
    """
    if type(value) is str:
        return value
    if type(value) is tuple:
        if value[0] == TAGGED and value[1] == TRANSCRIPT:
            return _transcript(value[3])
        if value[0] == TAGGED and value[1] == REPLY:
            return text_of(value[3])
        if value[0] == PAIR and _is_memory(value[1]):
            return _with_memory(value[1][3], value[2])
    return text_of_data(project(value))


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


def _with_memory(entries: Value, original: Value) -> str:
    rows = _rows(project(entries))
    if not rows:
        return text_of_value(original)
    shown = "\n".join(map(_entry, rows))
    return f"[Memory Context]\n{shown}\n\n[Current Input]\n{text_of_value(original)}"


def _rows(entries: Data) -> list[Record]:
    rows = entries if isinstance(entries, tuple) else ()
    return [row for row in rows if isinstance(row, Record)]


def _entry(row: Record) -> str:
    age = row.get("age")
    when = f" ({_ago(age)} ago)" if isinstance(age, int | float) else ""
    return f"- {text_of_data(row['key'])}: {text_of_data(row['value'])}{when}"


def _ago(seconds: float) -> str:
    for unit, length in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def _transcript(payload: Value) -> str:
    _, original, entries = payload
    blocks = [f"[Previous Context]\n{text_of_value(original)}"]
    steps = list(list_items(entries))
    for number, entry in enumerate(reversed(steps), start=1):
        _, thought, (_, tool, observation) = entry
        blocks.append(
            f"[Step {number}]\nThought: {text_of_value(thought)}\nAction: {text_of_value(tool)}\n"
            f"Observation: {text_of_value(observation)}"
        )
    return "\n\n".join(blocks)


def newest_text(value: Value) -> str:
    """Return the newest part of `value` as text, at a cost flat in the length of a transcript."""
    if type(value) is tuple and value[0] == TAGGED and value[1] == TRANSCRIPT:
        entries = value[3][2]
        if entries[0] == CONS:
            return text_of_value(entries[1][2][2])
        return text_of_value(value[3][1])
    return text_of_value(value)


def asked_text(site: Site, argument: Value) -> str:
    """Return the text of what is asked at `site`: for a conversation its newest message."""
    if site.kind == "llm" and site.static["conversation"] and argument[0] == PAIR:
        return newest_text(argument[2])
    return newest_text(argument)
