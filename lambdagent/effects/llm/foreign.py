"""Provider objects of the user's own: ``chat(messages) -> str``.

In go messages as ``[{"role": …, "content": …}]``, out comes a text, or a mapping with what
`Reply.to_data` writes. `chat` may be asynchronous; whatever it raises is a failure of the model.
Where a run is not awaited, all calls of an asynchronous `chat` are made on one event loop, so that
it may keep a client; where it is, on the loop of the caller.

With `toolCalling: native` it gets ``tools=[{"name": …, "description": …, "parameters": …}]`` too;
a message then may have ``tool_calls`` (``id``, ``name``, ``arguments``) or a ``tool_call_id``, and
the ``reasoning`` that the reply had.

Source: specification 5.5 and 11.1.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import attrs

from lambdagent.effects.classes import FAULTS, NoClassError, UnmadeError, class_at, made
from lambdagent.effects.loop_thread import LoopThread
from lambdagent.effects.protocol import Cancellation, Message, ModelCall, Provider, Reply
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.tools import in_thread
from lambdagent.effects.transport_log import TransportLog
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.ir.model import Model
from lambdagent.ir.signature import signature_of
from lambdagent.messages import phrase

_PATIENCE_S = 5.0  # for foreign code that is to end
_HINT = phrase("check the object that was passed as `providers=`")


class ForeignProvider:
    """Asks an object that only knows ``chat(messages)``."""

    instant = False

    def __init__(self, name: str, provider: Any, hint: str, *, is_ours: bool = False) -> None:
        """Ask `provider`, which stands in for the provider `name`.

        Args:
            name: What it is called in agent files.
            provider: Has a method `chat`.
            hint: What to do when it fails.
            is_ours: Whether it is closed with us, and not by whoever made it.
        """
        self._name = name
        self._provider = provider
        self._hint = hint
        self._is_ours = is_ours
        self._log = TransportLog(f"{type(provider).__name__}.chat", str)
        self._loops: dict[int, LoopThread] = {}  # by process

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply.

        Raises:
            EffectError: The object raised, or returned no reply.
        """
        messages, offered = _messages(call), _offered(call)  # may be too large to be sent
        with self._log.telling(call) as tell:
            try:
                answer = self._answer(call, messages, offered)
                if inspect.isawaitable(answer):
                    answer = self._awaited(answer, call.cancel)
                reply = Reply.from_data(freeze(answer))
            except FAULTS as error:
                raise self._failed(call, error) from error
            tell(reply)
        return reply

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; a plain `chat` runs on a thread of its own."""
        if not inspect.iscoroutinefunction(self._provider.chat):
            return await in_thread(lambda: self.chat(call))
        messages, offered = _messages(call), _offered(call)
        with self._log.telling(call) as tell:
            try:
                reply = Reply.from_data(freeze(await self._answer(call, messages, offered)))
            except FAULTS as error:
                raise self._failed(call, error) from error
            tell(reply)
        return reply

    def _answer(
        self, call: ModelCall, messages: list[dict[str, Any]], offered: dict[str, Any]
    ) -> Any:
        self._log.sends(call, {"messages": messages, **offered}, 1)
        return self._provider.chat(messages, **offered)

    def close(self) -> None:
        """Close the object, if it is ours and can be closed, and end what it runs on."""
        close = getattr(self._provider, "close", None)
        if self._is_ours and callable(close):
            with suppress(*FAULTS):  # all it was asked is answered
                closing = close()
                if inspect.isawaitable(closing):
                    self._awaited(closing, Cancellation())
        loop = self._loops.pop(os.getpid(), None)
        if loop is not None:
            loop.close(patience_s=_PATIENCE_S)

    def _awaited(self, answer: Awaitable[Any], cancel: Cancellation) -> Any:
        """Return what `answer` comes to, on the loop that all such answers share."""
        process = os.getpid()
        loop = self._loops.get(process)
        if loop is None:  # `setdefault` is atomic
            loop = self._loops.setdefault(process, LoopThread(f"lambdagent-{self._name}"))
        future = loop.submit(_held(answer))
        forget = cancel.on_cancel(future.cancel)
        try:
            outcome = future.result()
        finally:
            future.cancel()  # an interrupted wait, such as Ctrl-C; a finished future does not mind
            forget()
        if isinstance(outcome, SystemExit | KeyboardInterrupt):
            raise outcome
        return outcome

    def _failed(self, call: ModelCall, error: BaseException) -> EffectError:
        message = f"{type(error).__name__}: {error}"
        return EffectError(
            finding("E002", provider=self._name, message=message, site=call.site, hint=self._hint)
        )


async def _held(answer: Awaitable[Any]) -> Any:
    """Return what `answer` comes to, also what would end the event loop, had it escaped."""
    try:
        return await answer
    except (SystemExit, KeyboardInterrupt) as error:
        return error


def _messages(call: ModelCall) -> list[dict[str, Any]]:
    return [_message(message) for message in call.messages]


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        written["tool_calls"] = [thaw(call.to_data()) for call in message.tool_calls]
    if message.reasoning is not None:
        written["reasoning"] = message.reasoning
    if message.tool_call_id is not None:
        written |= {"tool_call_id": message.tool_call_id, "name": message.name}
    return written


def _offered(call: ModelCall) -> dict[str, Any]:
    if not call.tools:
        return {}
    return {"tools": [thaw(Record(attrs.asdict(tool, recurse=False))) for tool in call.tools]}


def adapted(
    name: str,
    provider: object,
    hint: str = _HINT,
    *,
    natively: bool = False,
    is_ours: bool = False,
) -> Provider:
    """Return `provider` as the driver wants it: as it is, or behind a `ForeignProvider`.

    Args:
        name: The provider that it stands in for.
        provider: The object.
        hint: What to do when it fails.
        natively: Whether it is to be told of tools.
        is_ours: Whether it is closed with the others, and not by whoever made it.

    Raises:
        EffectError: It has no method `chat`, or none that could be told of tools (E005).
    """
    if callable(getattr(provider, "achat", None)):
        return cast("Provider", provider)
    if not callable(getattr(provider, "chat", None)):
        message = phrase("a {name} has no method `chat`", name=type(provider).__name__)
        raise EffectError(finding("E005", provider=name, message=message, hint=hint))
    if natively and not _takes_tools(provider.chat):  # type: ignore[attr-defined]
        message = phrase("`chat` of {name} takes no `tools`", name=type(provider).__name__)
        remedy = phrase("remove `model.toolCalling: native`, or let `chat` take `tools`")
        raise EffectError(finding("E005", provider=name, message=message, hint=remedy))
    return ForeignProvider(name, provider, hint, is_ours=is_ours)


def _takes_tools(chat: Any) -> bool:
    signature = signature_of(chat)
    if signature is None:
        return True
    taken = signature.parameters.values()
    return any(each.name == "tools" or each.kind is each.VAR_KEYWORD for each in taken)


def provider_of_class(
    path: str, model: Model, environment: Mapping[str, str], base_dir: Path | None
) -> Provider:
    """Return a new object of the class at `path`, which answers for `model`.

    Args:
        path: See `class_at`.
        model: Its settings are the constructor's, where it names them.
        environment: Whose secrets are taken out of what the class says.
        base_dir: Where modules are found that are installed nowhere.

    Raises:
        EffectError: There is no such class, it cannot be made, or is no provider (E005).
    """
    name = model.provider
    hint = phrase("check `{path}`, and what it needs", path=path)
    offered = {
        "name": model.name,
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
        "top_p": model.top_p,
        "stop_sequences": model.stop_sequences,
        "base_url": model.base_url,
        "timeout_s": model.timeout_s,
        "context_window": model.context_window,
    }
    try:
        found, _ = made(path, class_at(path, base_dir), {}, offered)
    except (NoClassError, UnmadeError) as error:
        message = Redaction(environment).text(error.args[0])
        raise EffectError(finding("E005", provider=name, message=message, hint=hint)) from error
    natively = model.tool_calling == "native"
    return adapted(name, found, hint, natively=natively, is_ours=True)
