"""What a reply of a model comes to: a call, an answer, or a call that cannot be made.

Here a call is held against the schema of its tool; `toolcall` finds it in a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import attrs

from lambdagent.ir.data import Data, NotDataError, Record, freeze
from lambdagent.ir.data_schema import checker_alone, checker_of, problems_of
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


@attrs.frozen(eq=False)
class Arguments:
    """What the arguments of one tool must be.

    Attributes:
        only: The name of the argument that a single value is; None if there is no such.
        fits: Tells whether a value fits `schema`.
        fits_alone: Tells whether an object with a value for `only` does.
    """

    schema: Record
    only: str | None
    fits: Callable[[Data], bool]
    fits_alone: Callable[[Data], bool]


def arguments_of(schemas: Data) -> Mapping[str, Arguments]:
    """Return what the arguments of tools must be, by the tool, from their JSON Schemas."""
    if not isinstance(schemas, Record):
        return {}
    return {
        tool: _arguments(schema) for tool, schema in schemas.items() if isinstance(schema, Record)
    }


def _arguments(schema: Record) -> Arguments:
    only = _only_parameter(schema)
    return Arguments(schema, only, checker_of(schema), checker_alone(schema, only or ""))


def _only_parameter(schema: Record) -> str | None:
    properties, required = schema.get("properties"), schema.get("required")
    named = isinstance(required, tuple) and len(required) == 1
    names = required if named else properties
    if not isinstance(names, tuple | Record) or len(names) != 1:
        return None
    return str(next(iter(names)))


def fitted(
    call: Call, arguments: Mapping[str, Arguments], tools: Sequence[str], how: str = _AS_TEXT
) -> Call | Invalid:
    """Return `call` if its arguments are what `arguments` says of its tool, where it does.

    One value for one argument may stand without its name. It is then read as JSON where the tool
    wants no text.
    """
    wanted, args = arguments.get(call.tool), call.args
    if wanted is None:
        return call
    schema, name = wanted.schema, wanted.only
    is_object = type(args) is Record
    problems = []
    if is_object or schema.get("type") != "object":  # else it cannot fit as it is
        if wanted.fits(args):
            return call
        problems = problems_of(args, schema)
    if not is_object:
        if name is None:
            what = ", ".join(f"`{each}`" for each in schema.get("properties") or ())
            problems = [f"they must be an object with {what}"] if what else []
        else:
            if wanted.fits_alone(args):
                return call
            reading = _reading(args)
            if wanted.fits_alone(reading):
                return Call(call.tool, reading)
            problems = problems_of(Record({name: args}), schema)
    if not problems:
        return call
    what = f"the arguments of `{call.tool}` do not fit: {', '.join(problems)}"
    return refusal("arguments", what, tools, how)


def _reading(args: Data) -> Data:
    """Return what `args` is as JSON; itself if it is none."""
    if isinstance(args, str):
        with suppress(NotDataError, ValueError, RecursionError):
            return freeze(STRICT.decode(args))
    return args
