"""Values of a conversation → messages, where the provider finds the tool calls itself.

An assistant's message with calls is followed by one message for each of them, in their order, and
each call has an id of its own: services refuse anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from lambdagent.effects.protocol import Message, Reply, ToolCall
from lambdagent.ir.labels import MOST_CALLS, REPLY, RESULTS, ROUNDS, TERMINATE
from lambdagent.machine.state import TAGGED, Value
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import list_items, parts, project

_ENDED: Final = "(the final answer was given)"
_UNSEEN: Final = "(the loop ended before this was seen)"
_NOT_MADE: Final = f"[NOT_RUN] at most {MOST_CALLS} calls of one reply are made"


def heard(value: Value) -> list[Message]:
    """Return what a model hears: an input, what tools answered, or all rounds of a loop."""
    if _is(value, RESULTS):
        return [_result(*parts(each)) for each in list_items(value[3])]
    if _is(value, ROUNDS):
        original, rounds = parts(value[3])
        messages = heard(original)
        for each in reversed(list(list_items(rounds))):
            reply, results = parts(each)
            messages += [said(reply), *heard(results)]
        return messages
    return [Message("user", text_of_value(value))]


def said(value: Value) -> Message:
    """Return what a model said, with the calls in it."""
    if _is(value, REPLY):
        try:
            reply = Reply.from_data(project(value))
        except ValueError:
            return Message("assistant", text_of_value(value))
        return Message("assistant", reply.text, reply.tool_calls, reasoning=reply.reasoning)
    return Message("assistant", text_of_value(value))


def _is(value: Value, labels: tuple[str, ...]) -> bool:
    return type(value) is tuple and bool(value[0] == TAGGED) and bool(value[1] == labels)


def _result(tool: Value, observation: Value) -> Message:
    return Message("tool", text_of_value(observation), name=text_of_value(tool))


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return `messages` with a result for each call and a call for each result.

    Calls get an id where they have none or one that stood before. A result that no call asked for,
    as where a model wrote its call as text, becomes what the user says; a call that nobody
    answered is told so.
    """
    return tuple(_paired(messages))


def _paired(messages: Sequence[Message]) -> Iterator[Message]:
    known: set[str] = set()
    open_calls: list[ToolCall] = []
    rest = _UNSEEN
    for message in messages:
        if message.role == "tool" and open_calls:
            call, rest = open_calls.pop(0), _NOT_MADE
            yield attrs.evolve(message, tool_call_id=call.id, name=call.name)
            continue
        yield from _unanswered(open_calls, rest)
        open_calls = []
        if message.role == "tool":
            yield Message("user", f"Observation from {message.name}: {message.text}")
        elif message.tool_calls:
            open_calls = [_distinct(call, known) for call in message.tool_calls]
            ends = [call.name for call in open_calls] == [TERMINATE]
            rest = _ENDED if ends else _UNSEEN
            yield attrs.evolve(message, tool_calls=tuple(open_calls))
        else:
            yield message
    yield from _unanswered(open_calls, rest)


def _unanswered(calls: list[ToolCall], text: str) -> Iterator[Message]:
    for call in calls:
        yield Message("tool", text, tool_call_id=call.id, name=call.name)


def _distinct(call: ToolCall, known: set[str]) -> ToolCall:
    """Return `call` with an id that is not among `known`, and enter it there."""
    key, number = call.id, len(known)
    while not key or key in known:
        number += 1
        key = f"call_{number}"
    known.add(key)
    return call if key == call.id else attrs.evolve(call, id=key)
