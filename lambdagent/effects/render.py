"""Arguments of model sites → the messages that a provider is sent.

Arguments are structured values; their text exists only here, and only when a handler asks for it.
"""

from typing import Any

from lambdagent.effects.history import fitting
from lambdagent.effects.output_form import form_of
from lambdagent.effects.protocol import Message, ToolSpec
from lambdagent.effects.tool_docs import tool_prompt
from lambdagent.effects.turns import heard, paired, said
from lambdagent.effects.wire_names import told_beside
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.machine.state import Value
from lambdagent.machine.text import repair_text, text_of_value
from lambdagent.machine.values import parts, sketch
from lambdagent.machine.window import Window, turn_of

# What a tool takes of which a λ text says nothing.
_ANY_OBJECT = Record(type="object")


def messages_of(site: Site, argument: Value) -> tuple[Message, ...]:
    """Return the messages of a model call, oldest first.

    A conversation is cut as its strategy says, and such that all of it fits into what the model
    reads, less the longest answer.

    Raises:
        EffectError: The argument is not of the form that the site takes (R011), or what is to be
            sent in any case does not fit (E015).
    """
    messages = [Message("system", text) for text in _system_texts(site)]
    natively = bool(site.static.get("native"))
    if not site.static["conversation"]:
        asked, after = _repaired(site, argument)
        return (*_ended(messages, asked, natively=natively), *after)
    try:
        history, newest = parts(argument)
        asked, after = _repaired(site, newest)
        fixed = [message.text for message in (*messages, *after)]
        form = form_of(site)
        if form is not None and form.beside:
            fixed.append(form.beside)
        if natively:
            tools: Any = site.static["tools"]
            fixed += [data_text(tools), *told_beside(str(each["name"]) for each in tools)]
        window, mark = fitting(site, site.model, fixed, history, asked)
        messages += _said(window, mark, natively=natively)
    except (LookupError, TypeError, ValueError) as error:
        raise misfit(site, argument, "⟨what `conv.read` answers, what is new⟩") from error
    return (*_ended(messages, asked, natively=natively), *after)


def _repaired(site: Site, newest: Value) -> tuple[Value, list[Message]]:
    """Return what was asked, and what comes after it where an answer is to be repaired.

    Raises:
        EffectError: `newest` is not of that form (R011).
    """
    if not site.static.get("repair"):
        return newest, []
    try:
        asked, answered = parts(newest)
        reply, why = parts(answered)
    except (LookupError, TypeError) as error:
        raise misfit(
            site, newest, "⟨what was asked, ⟨the answer, what is wrong with it⟩⟩"
        ) from error
    said = text_of_value(reply)
    # No provider takes a message without text.
    begun = [Message("assistant", said)] if said.strip() else []
    return asked, [*begun, Message("user", repair_text(why))]


def message_count(site: Site, argument: Value) -> int:
    """Return how many messages `messages_of` returns; 0 where it refuses."""
    static = site.static
    if not (static["conversation"] or static.get("native") or static.get("repair")):
        return len(_system_texts(site)) + 1
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


def _system_texts(site: Site) -> list[str]:
    static, form = site.static, form_of(site)
    prompt = str(static["prompt"])
    texts = [prompt]
    tools, labels = static.get("tools", ()), static.get("labels", ())
    tools = () if static.get("native") else tools
    if tools:
        texts.append(tool_prompt(tools, several=bool(static.get("several"))))
    if not all(label in prompt for label in labels):
        texts.append(f"Answer with one of: {', '.join(labels)}")
    if form is not None and form.is_told:
        texts.append(form.prompt)
    return [text for text in texts if text]


def tools_of(static: Record) -> tuple[ToolSpec, ...]:
    """Return the tools that a model is offered in the provider's own form."""
    offered: Any = static["tools"] if static.get("native") else ()
    return tuple(ToolSpec(**{"parameters": _ANY_OBJECT, **tool}) for tool in offered)
