"""Messages on their way to a provider's SDK and back: threads, time limits, refusals, failures.

`Courier` is what the handlers of `llm` share. Each adds how its API wants a request (`request`),
how it is sent (`send`) and what an answer means (`reply`); none waits or reports by itself.
"""

from __future__ import annotations

import asyncio
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

import attrs

from lambdagent.effects.protocol import Message, ModelCall, Reply
from lambdagent.errors import EffectError, finding
from lambdagent.ir.surface import Model

T = TypeVar("T")

_BAD_REQUEST = 400
_DEFAULT_TEMPERATURE = attrs.fields(Model).temperature.default

_HINTS = {
    400: "check the settings under `model:`",
    401: "check the key in `{variable}`",
    403: "check the key in `{variable}` and what it may use",
    404: "check `model.name` and `model.baseUrl`",
    408: "raise `model.timeout`",
    413: "send less text, or lower `model.maxHistoryTokens`",
    422: "check the settings under `model:`",
    429: "wait a little, or run fewer calls at once",
}
_SECRET_STATUSES = {401, 403}  # such answers like to quote the key


class OutOfFormError(Exception):
    """The provider answered with something that is no answer of its API."""


def text_of(content: object) -> str:
    """Return the text of a message's content: null, a text, or a list of parts.

    >>> text_of(None), text_of("a"), text_of([{"type": "text", "text": "a"}, "b"])
    ('', 'a', 'ab')
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(text_of(part) for part in content)
    text = content.get("text") if isinstance(content, Mapping) else getattr(content, "text", None)
    return text if isinstance(text, str) else ""


def is_default_temperature(model: Model) -> bool:
    """Whether the temperature is our default, which nobody asked for in so many words."""
    return bool(model.temperature == _DEFAULT_TEMPERATURE)


@attrs.frozen(kw_only=True)
class Endpoint:
    """Where a provider is reached, and as whom.

    Attributes:
        provider: Its name in agent files.
        key: Never shown; None if the provider wants none.
        variable: Environment variable of the key, for hints.
        max_retries: Extra attempts after failures that may pass, all within the call's time.
    """

    provider: str
    base_url: str
    key: str | None = attrs.field(default=None, repr=False)
    variable: str = ""
    max_retries: int = 2


class Courier(ABC):
    """A provider behind the asynchronous client of an SDK.

    The client lives on one event loop in a thread of its own, started by the first call. Thus the
    threads and event loops of all callers share one connection pool, the time limit covers retries
    and dripping answers, and whoever stops waiting closes the connection.

    Attributes:
        failures: What the SDK raises on purpose; set by the constructor that imports it.
    """

    instant = False
    failures: tuple[type[Exception], ...] = ()

    def __init__(self, endpoint: Endpoint) -> None:
        """Reach the provider at `endpoint`; nothing is sent yet."""
        self.endpoint = endpoint
        self._refused: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @abstractmethod
    def request(
        self, model: Model, messages: tuple[Message, ...], refused: frozenset[str]
    ) -> dict[str, Any]:
        """Return the arguments of the SDK's call, without what the model has refused."""

    @abstractmethod
    async def send(self, request: dict[str, Any], timeout_s: float) -> object:
        """Return the SDK's answer to `request`."""

    @abstractmethod
    def reply(self, answer: Any) -> Reply:
        """Return what `answer` means.

        Raises:
            OutOfFormError: It means nothing.
        """

    @abstractmethod
    def negotiable(self, model: Model) -> frozenset[str]:
        """Return the parameters that may be left out or renamed for a model that refuses them."""

    @abstractmethod
    async def close_client(self) -> None:
        """Close the SDK's client."""

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply; see `Provider`."""
        future = self._submit(self._answer(call, call.messages))
        forget = call.cancel.on_cancel(future.cancel)
        try:
            return future.result()
        except CancelledError as error:
            raise self._cancelled(call) from error
        finally:
            future.cancel()  # an interrupted wait, such as Ctrl-C; a finished future does not mind
            forget()

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; see `Provider`."""
        future = self._submit(self._answer(call, call.messages))
        forget = call.cancel.on_cancel(future.cancel)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if call.cancel.cancelled and task is not None and not task.cancelling():
                raise self._cancelled(call) from error
            raise
        finally:
            forget()

    def close(self) -> None:
        """Close the connections and end the thread; calls under way fail."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end(self.close_client()), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    # --- on the thread of the client -------------------------------------------------------------

    async def _answer(self, call: ModelCall, messages: tuple[Message, ...]) -> Reply:
        caught: tuple[type[Exception], ...] = (TimeoutError, OutOfFormError, *self.failures)
        try:
            async with asyncio.timeout(call.timeout_s):
                answer = await self._exchange(call, messages)
            return self.reply(answer)
        except caught as error:
            raise self._failure(call, error) from error

    async def _exchange(self, call: ModelCall, messages: tuple[Message, ...]) -> object:
        """Send the request, again without each negotiable parameter that the model refuses."""
        model = call.model
        while True:
            refused = self._refused.get(model.name, frozenset())
            try:
                return await self.send(self.request(model, messages, refused), call.timeout_s)
            except self.failures as error:
                name = self._refusal(error, self.negotiable(model) - refused)
                if name is None:
                    raise
                self._refused[model.name] = refused | {name}

    def _refusal(self, error: Exception, negotiable: frozenset[str]) -> str | None:
        if getattr(error, "status_code", None) != _BAD_REQUEST:
            return None
        text = str(getattr(error, "message", ""))
        found = ((text.find(name), name) for name in negotiable if re.search(rf"\b{name}\b", text))
        return min(found, default=(0, None))[1]

    # --- failures --------------------------------------------------------------------------------

    def _failure(self, call: ModelCall, error: Exception) -> EffectError:
        name = type(error).__name__
        if isinstance(error, TimeoutError) or name == "APITimeoutError":
            limit = f"{call.timeout_s:g}"
            return EffectError(
                finding("E003", site=call.site, limit=limit, setting="model.timeout")
            )
        status = getattr(error, "status_code", None)
        if isinstance(error, OutOfFormError):
            message, hint = str(error), "check `model.baseUrl`"
        elif isinstance(status, int):
            message, hint = self._status_text(status, error), _hint(status)
        else:
            message, hint = f"no connection to {self.endpoint.base_url}", "check `model.baseUrl`"
        return self._failed(call, message, hint)

    def _status_text(self, status: int, error: Exception) -> str:
        said = _said(getattr(error, "body", None))
        if not said or status in _SECRET_STATUSES:
            return f"HTTP {status}"
        key = self.endpoint.key
        return f"HTTP {status}: {said.replace(key, '…') if key else said}"

    def _cancelled(self, call: ModelCall) -> EffectError:
        return self._failed(call, "the call was cancelled", "raise `--timeout`")

    def _failed(self, call: ModelCall, message: str, hint: str) -> EffectError:
        endpoint = self.endpoint
        hint = hint.format(variable=endpoint.variable or "model")
        return EffectError(
            finding("E002", provider=endpoint.provider, message=message, site=call.site, hint=hint)
        )

    # --- the thread ------------------------------------------------------------------------------

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name=self.endpoint.provider, daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end(closing: Coroutine[Any, Any, None]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await closing


def _hint(status: int) -> str:
    return _HINTS.get(status, "try again later" if status >= 500 else _HINTS[_BAD_REQUEST])


def _said(body: object) -> str:
    """Return the one sentence of an error body, in the usual places."""
    while isinstance(body, Mapping):
        body = body.get("error", body.get("message"))
    return body.strip() if isinstance(body, str) and "<" not in body[:1] else ""
