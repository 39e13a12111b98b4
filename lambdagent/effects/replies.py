"""What an answer of a model may look like, whoever's API it came by: text, calls, counts."""

from __future__ import annotations

from collections.abc import Mapping

from lambdagent.effects.protocol import Reply, ToolCall, Usage
from lambdagent.ir.finish_reasons import finish_of_reason
from lambdagent.messages import phrase

CHECK_URL = phrase("check `model.baseUrl`")
_CHANGE = phrase("change the prompt or the input")
_RAISE = phrase("raise `model.maxTokens`")
_REMEDIES = {"length": _RAISE}


class OutOfFormError(Exception):
    """The provider answered with something that is no answer of a model.

    Attributes:
        hint: What to do about it.
    """

    def __init__(self, what: str, hint: str = CHECK_URL) -> None:
        """Say what is wrong, and what to do."""
        super().__init__(what)
        self.hint = hint


def text_of(content: object) -> str:
    """Return the text of a message's content: null, a text, or a list of parts.

    Parts that are no text, such as thoughts, are left out.

    Raises:
        OutOfFormError: It is none of these.

    >>> text_of(None), text_of("a"), text_of([{"type": "text", "text": "a"}, "b"])
    ('', 'a', 'ab')
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_part_text, content))
    what = phrase("the content of the answer is no text")
    raise OutOfFormError(what)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type", "text") if isinstance(part, Mapping) else None
    if isinstance(part, Mapping) and isinstance(kind, str):
        text = part.get(kind) if kind in {"text", "refusal"} else ""
        if isinstance(text, str):
            return text
    what = phrase("a part of the answer is no text")
    raise OutOfFormError(what)


def reply_of(
    content: object,
    reason: object,
    calls: tuple[ToolCall, ...],
    usage: Usage | None,
    *,
    session: str | None = None,
    reasoning: object = None,
) -> Reply:
    """Return the reply with the text of `content`, and the `reasoning` if that is a text.

    Raises:
        OutOfFormError: It has neither text nor calls, and did not end as an empty answer does.
    """
    text = text_of(content)
    if not isinstance(reason, str | None):
        what = phrase("the reason why the model stopped is no text")
        raise OutOfFormError(what)
    if not text and not calls:
        if reason is None and content is None:
            what = phrase("the answer has no text")
            raise OutOfFormError(what)
        finish = finish_of_reason(reason)
        if reason is not None and finish != "stop":
            what = phrase("the model gave no text, it stopped with `{reason}`", reason=reason[:40])
            raise OutOfFormError(what, _REMEDIES.get(finish or "", _CHANGE))
    thought = reasoning if isinstance(reasoning, str) else None
    return Reply(text, reason, calls, usage, session, thought)


def has_counts(usage: Mapping[str, object], *names: str) -> bool:
    """Whether there is a number under each of `names`: what is not told is not known."""
    return all(usage.get(name) is not None for name in names)


def count(usage: Mapping[str, object], *names: str) -> int:
    """Return the sum of the numbers under `names`; what is missing counts nothing.

    Raises:
        OutOfFormError: One is no number of tokens.
    """
    total = 0
    for name in names:
        number = usage.get(name)
        if number is None:
            continue
        if isinstance(number, float) and number.is_integer():  # as some languages write them
            number = int(number)
        if type(number) is not int or number < 0:
            what = phrase("`{name}` of the answer is no number of tokens", name=name)
            raise OutOfFormError(what)
        total += number
    return total
