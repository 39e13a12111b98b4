"""A reply that may hold several calls → calls, an answer, or the end of the loop.

The provider finds the calls, or they stand in the text: models write them there even where the
provider could find them. Each call is answered, those that cannot be made with the reason and the
tools there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lambdagent.ir.data import Data, Record
from lambdagent.ir.labels import (
    MOST_CALLS,
    NO_TOOL,
    ROUND_LABELS,
    TERMINATE,
    call_labels,
)
from lambdagent.machine.answers import text_of
from lambdagent.machine.called import (
    Answer,
    Arguments,
    Call,
    Extracted,
    Invalid,
    answer_of,
    finish_of,
    fitted,
    is_answer,
    is_cut,
    refusal,
)
from lambdagent.machine.state import Value
from lambdagent.machine.toolcall import extract_calls, read_call
from lambdagent.machine.values import inject, list_value, pair, tagged

_HOW: Final = "call one of them, or give the final answer"
# The only argument of a tool of which no more is known.
_INPUT: Final = "input"
_CALLS, _TERMINATE, _ANSWER = range(3)


def read_round(
    reply: Data, tools: tuple[str, ...], arguments: Mapping[str, Arguments], form: Data
) -> Value:
    """Return ``calls⟨[⟨tool, call⟩, …]⟩ | terminate⟨answer⟩ | answer⟨text⟩``.

    Args:
        reply: What the model said.
        tools: The tools there are, `terminate` left out.
        arguments: What those of a tool must be, where that is known.
        form: What the answer must fit, if anything.
    """
    calls = _calls_in(reply)
    if not calls:
        return _read_text(reply, tools, arguments, form)
    known = (*tools, TERMINATE)
    made: list[tuple[str, Extracted]] = []
    for number, call in enumerate(calls[:MOST_CALLS]):
        read = _read(reply, calls, number, known)
        if isinstance(read, Call) and read.tool == TERMINATE and len(calls) == 1:
            return tagged(ROUND_LABELS, _TERMINATE, answer_of(read, form))
        if isinstance(read, Call) and read.tool not in arguments:
            read = _without_name(read)
        made.append((str(call.get("name")), read))
    return _round(made, tools, arguments, _HOW)


def native_call(reply: Data, known: tuple[str, ...]) -> Extracted | None:
    """Return the first call that a provider found in a reply which may hold but one, if any."""
    calls = _calls_in(reply)
    if not calls:
        return None
    return _read(reply, calls, 0, known, by_text=True)


def _read(
    reply: Data,
    calls: list[Record],
    number: int,
    known: tuple[str, ...],
    *,
    by_text: bool = False,
) -> Extracted:
    """Return what the call of that number comes to; its text is the answer if it holds none."""
    name = str(calls[number].get("name"))
    if number == len(calls) - 1 and is_cut(finish_of(reply)):
        what = f"the call of `{name[:80]}` was cut off by the token limit, and not made"
        return refusal("truncated", what, known, _HOW)
    read = read_call(name, calls[number].get("arguments"), known, _HOW, by_text=by_text)
    if isinstance(read, Call) and read.tool == TERMINATE and not read.args:
        return Call(TERMINATE, text_of(reply))
    return read


def _calls_in(reply: Data) -> list[Record]:
    calls = reply.get("tool_calls") if isinstance(reply, Record) else None
    items = calls if isinstance(calls, tuple) else ()
    return [call for call in items if isinstance(call, Record)]


def _without_name(call: Call) -> Call:
    """Return the call of a tool of which nothing is known with its only argument alone."""
    if isinstance(call.args, Record) and call.args.keys() == {_INPUT}:
        return Call(call.tool, call.args[_INPUT])
    return call


def _read_text(
    reply: Data, tools: tuple[str, ...], arguments: Mapping[str, Arguments], form: Data
) -> Value:
    known = (*tools, TERMINATE)
    text = text_of(reply)
    calls = extract_calls(text, known, finish_of(reply))
    match calls:
        case [Answer()]:
            return tagged(ROUND_LABELS, _ANSWER, text)
        case [Call(tool) as call] if tool == TERMINATE:
            return tagged(ROUND_LABELS, _TERMINATE, answer_of(call, form))
        case [Invalid()] if is_answer(text, form):
            return tagged(ROUND_LABELS, _ANSWER, text)
    made = [(NO_TOOL, call) for call in _first(calls, known)]
    return _round(made, tools, arguments)


def _first(calls: list[Extracted], known: tuple[str, ...]) -> list[Extracted]:
    """Return as many of `calls` as are made, with a remark on the others, if there are any."""
    if len(calls) <= MOST_CALLS:
        return calls
    others = calls[MOST_CALLS - 1 :]
    names = dict.fromkeys(call.tool for call in others if isinstance(call, Call))
    listed = "".join(f", of `{name}`" for name in names)
    what = f"the last {len(others)} calls of the reply{listed}, were not made: it has too many"
    return [*calls[: MOST_CALLS - 1], refusal("too_many", what, known)]


def _round(
    calls: list[tuple[str, Extracted]],
    tools: tuple[str, ...],
    arguments: Mapping[str, Arguments],
    *how: str,
) -> Value:
    """Return ``calls⟨[⟨tool, call tool⟨args⟩⟩, ⟨name, invalid⟨why⟩⟩, …]⟩``."""
    labels, known = call_labels(tools), (*tools, TERMINATE)
    made = []
    for name, call in calls:
        if isinstance(call, Call):
            call = _possible(call, arguments, known, *how)  # noqa: PLW2901 - it is checked once more
        if isinstance(call, Call):
            payload = inject(call.args)
            made.append(pair(call.tool, tagged(labels, tools.index(call.tool), payload)))
        else:
            message = call.message if isinstance(call, Invalid) else ""
            made.append(pair(name, tagged(labels, len(tools), message)))
    return tagged(ROUND_LABELS, _CALLS, list_value(made))


def _possible(
    call: Call, arguments: Mapping[str, Arguments], known: tuple[str, ...], *how: str
) -> Extracted:
    if call.tool == TERMINATE:
        what = f"`{TERMINATE}` must be the only call of a reply: first read the other results"
        return refusal("malformed", what, known, *how)
    return fitted(call, arguments, known, *how)
