"""What a reply of a model comes to: a call, an answer, or a call that cannot be made.

Here a call is held against the schema of its tool; `toolcall` finds it in a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import attrs

from lambdagent.ir.data import Data, NotDataError, Record, freeze
from lambdagent.ir.data_schema import fits_alone, problems_of
from lambdagent.ir.data_text import data_text
from lambdagent.ir.finish_reasons import finish_of_reason
from lambdagent.ir.loose_json import STRICT
from lambdagent.machine.decoders import DecodeError, decode_output
from lambdagent.machine.text import text_of_data

_AS_TEXT: Final = 'call one with {"tool": "<name>", "args": {…}}, or give the final answer'
# What providers call it that a reply was cut off by the token limit, or by the end of the window.

# What objects of all kinds of calls have.
_OF_CALLS: Final = {
    *("tool", "tool_name", "action", "function", "name", "tool_calls", "tool_call"),
}

Reason: TypeAlias = Literal["unknown_tool", "truncated", "malformed", "arguments", "too_many"]


@attrs.frozen
class Call:
    """The reply calls `tool`.

    Attributes:
        args: For `terminate`, the text of the final answer.
        given: For `terminate`, the arguments as the model gave them.
    """

    tool: str
    args: Data
    given: Data = attrs.field(default=None, eq=False)


@attrs.frozen
class Answer:
    """The reply is an answer; reasoning blocks are removed."""

    text: str


@attrs.frozen
class Invalid:
    """The reply is a call that must not run; `message` tells the model what to do instead."""

    reason: Reason
    message: str


Extracted: TypeAlias = Call | Answer | Invalid


def finish_of(reply: Data) -> str | None:
    """Return why a model stopped, if its reply says so."""
    reason = reply.get("finish_reason") if isinstance(reply, Record) else None
    return reason if isinstance(reason, str) else None


def is_cut(finish_reason: str | None) -> bool:
    """Whether a reply ends before its end."""
    return finish_of_reason(finish_reason) == "length"


def refusal(reason: Reason, what: str, tools: Sequence[str], how: str = _AS_TEXT) -> Invalid:
    """Return that a call cannot be made; the model is told `what`, the tools, `how` to go on."""
    return Invalid(reason, f"{what}; the tools are: {', '.join(tools)}; {how}")


def answer_of(call: Call, form: Data) -> str:
    """Return the answer that a call of `terminate` gives, of the `form` that it must fit, if any.

    It may stand in the arguments as data, alone or as ``answer``.
    """
    text = text_of_data(call.args)
    if not isinstance(form, Record) or _value_of_form(text, form) is not None:
        return text
    named = call.given.get("answer", call.given) if isinstance(call.given, Record) else call.given
    for meant in (named, call.given):
        if not problems_of(meant, form):
            return data_text(meant)
    return text


def is_answer(text: str, form: Data) -> bool:
    """Whether `text`, which looks like a call, is JSON that fits the `form` of answers, if any.

    All that makes it look like a call must be an entry of that form.
    """
    if not isinstance(form, Record):
        return False
    found = _value_of_form(text, form)
    entries = form.get("properties")
    known = entries.keys() if isinstance(entries, Record) else ()
    return found is not None and not (
        isinstance(found[0], Record) and _OF_CALLS & found[0].keys() - known
    )


def _value_of_form(text: str, form: Record) -> tuple[Data] | None:
    """Return the value of the JSON in `text` if there is one that fits `form`."""
    try:
        value = decode_output("json", text)
    except DecodeError:
        return None
    return None if problems_of(value, form) else (value,)


def fitted(
    call: Call, schemas: Record, tools: Sequence[str], how: str = _AS_TEXT
) -> Call | Invalid:
    """Return `call` if its arguments fit the schema of its tool, where there is one.

    One value for one argument may stand without its name. It is then read as JSON where the tool
    wants no text.
    """
    schema = schemas.get(call.tool)
    if not isinstance(schema, Record):
        return call
    args = call.args
    is_object = isinstance(args, Record)
    problems = []
    if is_object or schema.get("type") != "object":  # else it cannot fit as it is
        problems = problems_of(args, schema)
        if not problems:
            return call
    if not is_object:
        name = _only_parameter(schema)
        if name is None:
            what = ", ".join(f"`{each}`" for each in schema.get("properties") or ())
            problems = [f"they must be an object with {what}"] if what else []
        else:
            for reading in _readings(args):
                if fits_alone(reading, name, schema):
                    return Call(call.tool, reading)
            problems = problems_of(Record({name: args}), schema)
    if not problems:
        return call
    what = f"the arguments of `{call.tool}` do not fit: {', '.join(problems)}"
    return refusal("arguments", what, tools, how)


def _only_parameter(schema: Record) -> str | None:
    """Return the name of the argument that a single value is."""
    properties, required = schema.get("properties") or (), schema.get("required") or ()
    names = [*required] if len(required) == 1 else [*properties]
    return str(names[0]) if len(names) == 1 else None


def _readings(args: Data) -> Iterator[Data]:
    yield args
    if isinstance(args, str):
        with suppress(NotDataError, ValueError, RecursionError):
            yield freeze(STRICT.decode(args))
