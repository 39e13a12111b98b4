"""Arguments of model sites → the messages that a provider is sent.

Arguments are structured values; their text exists only here, and only when a handler asks for it.
"""

from typing import Any

from lambdagent.effects.history import fitting
from lambdagent.effects.protocol import Message, ToolSpec
from lambdagent.effects.tool_docs import tool_prompt
from lambdagent.effects.turns import heard, paired, said
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.surface import Model
from lambdagent.machine.state import Value
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import parts, sketch
from lambdagent.machine.window import Window, turn_of


def messages_of(site: Site, argument: Value) -> tuple[Message, ...]:
    """Return the messages of a model call, oldest first.

    A conversation is cut as its strategy says, and such that all of it fits into what the model
    reads, less the longest answer.

    Raises:
        EffectError: The argument is not of the form that the site takes (R011), or what is to be
            sent in any case does not fit (E015).
    """
    messages = [Message("system", text) for text in _system_texts(site.static)]
    natively = bool(site.static.get("native"))
    if not site.static["conversation"]:
        return _ended(messages, argument, natively=natively)
    try:
        history, newest = parts(argument)
        fixed = [message.text for message in messages]
        if natively:
            fixed.append(data_text(site.static["tools"]))
        window, mark = fitting(site, model_of(site.static), fixed, history, newest)
        messages += _said(window, mark, natively=natively)
    except (LookupError, TypeError, ValueError) as error:
        raise misfit(site, argument, "⟨what `conv.read` answers, what is new⟩") from error
    return _ended(messages, newest, natively=natively)


def message_count(site: Site, argument: Value) -> int:
    """Return how many messages `messages_of` returns; 0 where it refuses."""
    if not site.static["conversation"] and not site.static.get("native"):
        return len(_system_texts(site.static)) + 1
    try:
        return len(messages_of(site, argument))
    except EffectError:
        return 0


def _ended(messages: list[Message], newest: Value, *, natively: bool) -> tuple[Message, ...]:
    """Return `messages` with the newest at their end, and calls and results in pairs."""
    if natively:
        return paired([*messages, *heard(newest)])
    return (*messages, Message("user", text_of_value(newest)))


def misfit(site: Site, argument: Value, expected: str) -> EffectError:
    """Return the error that `site` cannot be asked with `argument`: no lowered program does."""
    name = site_reference(site.name)
    return EffectError(finding("R011", site=name, got=sketch(argument), expected=expected))


def _said(window: Window, mark: str, *, natively: bool) -> list[Message]:
    """Return what was said, oldest first, after the mark for what is left out."""
    found = [Message("system", mark)] if mark else []
    for turn in reversed(window.turns):
        asked, reply, _ = turn_of(turn)
        if natively:
            found += [*heard(asked), said(reply)]
        else:
            found.append(Message("user", text_of_value(asked)))
            found.append(Message("assistant", text_of_value(reply)))
    return found


def model_of(static: Record) -> Model | None:
    """Return the model settings of a model site, if the agent has a model."""
    row = static["model"]
    if not isinstance(row, Record):
        return None
    settings: dict[str, Data] = dict(row)
    return Model(**settings)  # type: ignore[arg-type]  # written by surface.model_row


def _system_texts(static: Record) -> list[str]:
    prompt = str(static["prompt"])
    texts = [prompt]
    tools, labels = static.get("tools", ()), static.get("labels", ())
    tools = () if static.get("native") else tools
    if tools:
        texts.append(tool_prompt(tools, several=bool(static.get("several"))))
    if not all(label in prompt for label in labels):
        texts.append(f"Answer with one of: {', '.join(labels)}")
    return [text for text in texts if text]


def tools_of(static: Record) -> tuple[ToolSpec, ...]:
    """Return the tools that a model is offered in the provider's own form."""
    offered: Any = static["tools"] if static.get("native") else ()
    return tuple(ToolSpec(**tool) for tool in offered)
