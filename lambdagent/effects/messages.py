"""Messages on their way to a provider's SDK and back: threads, time limits, refusals, failures.

`Courier` is what the handlers of `llm` share. Each adds its SDK's client (`connect`), how its API
wants a request (`request`), how it is sent (`send`) and what an answer means (`reply`); none waits
or reports by itself. What an answer may look like is asked by `effects.replies`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from math import inf
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs

from lambdagent.effects.attempts import persist
from lambdagent.effects.loop_thread import LoopThread, aresult_of, result_of
from lambdagent.effects.output_form import OutputForm
from lambdagent.effects.protocol import Message, ModelCall, Reply, ToolSpec
from lambdagent.effects.rate_limits import RateLimit, TooOftenError, Turn
from lambdagent.effects.redaction import forms_of, is_secret
from lambdagent.effects.refusals import hint_of, refused_name, sentence_in
from lambdagent.effects.replies import OutOfFormError
from lambdagent.effects.streams import BrokenOffError, Dictation, listen, whole
from lambdagent.effects.tokenizers import request_tokens
from lambdagent.effects.transport_log import TransportLog
from lambdagent.effects.wire_names import WireNames
from lambdagent.errors import EffectError, finding
from lambdagent.ir.known_models import price_of
from lambdagent.ir.limits import Limits
from lambdagent.ir.model import Model
from lambdagent.ir.services import wants_reasoning
from lambdagent.ir.url import shown_url
from lambdagent.messages import phrase

_TOO_MANY = 429
_REFUSALS = {400, 404, 422}  # what a service answers whose model has no tool calls
_DEFAULT_TEMPERATURE = attrs.fields(Model).temperature.default

_SECRET_STATUSES = {401, 403}  # such answers like to quote the key


# The SDK's answer, of whose `http_response` nothing is read yet; it is closed at the end.
Sent: TypeAlias = AbstractAsyncContextManager[Any]

# How many calls a client has under way at most.
_MOST_CALLS = 16
# What a stream is asked for with; who cannot stream may refuse it.
_STREAMING = {"stream", "stream_options"}
_MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)


def is_default_temperature(model: Model) -> bool:
    """Whether the temperature is our default, which nobody asked for in so many words."""
    return bool(model.temperature == _DEFAULT_TEMPERATURE)


class _Cause(Exception):  # noqa: N818 - it only stands behind an error
    """What went wrong, in the words of the SDK or the transport, without secrets."""


@attrs.frozen(kw_only=True)
class Endpoint:
    """Where a provider is reached, and as whom.

    Attributes:
        provider: Its name in agent files.
        base_url: Shown without credentials.
        key: Never shown; None if the provider wants none.
        variable: Environment variable of the key, for hints.
        named_by: The setting or environment variable that says `base_url`; None if it is where the
            service always is.
        headers: What else is sent with each request, as pairs; the values are never shown.
        max_retries: Extra attempts after failures that may pass, all within the call's time.
    """

    provider: str
    base_url: str = attrs.field(repr=shown_url)
    key: str | None = attrs.field(default=None, repr=False)
    variable: str = ""
    named_by: str | None = "model.baseUrl"
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    max_retries: int = 2

    @property
    def address(self) -> str:
        """The URL without who asks, and what requests have behind their own path."""
        url = urlsplit(self.base_url)
        host = url.netloc.rpartition("@")[2]
        return url._replace(netloc=host, query="", fragment="").geturl()

    @property
    def query(self) -> dict[str, str]:
        """What the URL has every request be asked with, such as ``?api-version=1``."""
        return dict(parse_qsl(urlsplit(self.base_url).query, keep_blank_values=True))

    def masked(self, text: str) -> str:
        """Return `text` without the key, the credentials of the URL, and values of headers.

        What is short and need be no secret, such as a user called ``user``, stays where it is a
        word among others, and goes where it stands before the host.
        """
        url = urlsplit(self.base_url)
        user, password = unquote(url.username or ""), unquote(url.password or "")
        told = [("key", self.key or ""), ("password", password), ("user", user)]
        told += [*self.query.items(), *self.headers]
        secrets = [value for name, value in told if is_secret(name.replace("-", "_"), value)]
        if user or password:
            secrets += [f"{url.netloc.rpartition('@')[0]}@", f"{user}:{password}"]
            secrets.append(base64.b64encode(secrets[-1].encode()).decode())
        forms = {form for secret in secrets for form in forms_of(secret)}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, "…")
        return text


class _Line(LoopThread):
    """Clients with the event loop and the thread on which they live.

    The child of a fork has no right to the sockets: it gets a line of its own.
    """

    def __init__(self, name: str, connect: Callable[[], Any]) -> None:
        super().__init__(name)
        self._connect = connect
        self.calls = {connect(): 0}  # under way, by client

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Lend the first client that has room for another call, on the thread of the line.

        At each call a client looks at all of its connections: at a thousand of them that is most
        of what the call takes.
        """
        client = next((each for each, calls in self.calls.items() if calls < _MOST_CALLS), None)
        if client is None:
            client = self._connect()
            self.calls[client] = 0
        self.calls[client] += 1
        try:
            yield client
        finally:
            self.calls[client] -= 1


class Courier(ABC):
    """A provider behind the asynchronous client of an SDK.

    Its clients live on one event loop in a thread of its own, started by the first call. Thus the
    threads and event loops of all callers share connections, the time limit covers retries
    and dripping answers, and whoever stops waiting closes the connection.

    Attributes:
        failures: What the SDK raises on purpose; set by the constructor that imports it.
    """

    instant = False
    failures: tuple[type[Exception], ...] = ()

    def __init__(self, endpoint: Endpoint, rate: RateLimit | None = None) -> None:
        """Reach the provider at `endpoint`, as often as `rate` allows; nothing is sent yet."""
        self.endpoint = endpoint
        self._rate = rate or RateLimit(Limits())
        self._refused: dict[str, frozenset[str]] = {}
        self._lines: dict[int, _Line] = {}  # by process
        url = urlsplit(endpoint.base_url)
        host = url.netloc.rpartition("@")[2]
        way = f"POST {host}{self.path(url.path.rstrip('/'))}"
        self._log = TransportLog(way, endpoint.masked)

    @abstractmethod
    def path(self, base: str) -> str:
        """Return the path of requests, where that of the base URL is `base`."""

    @abstractmethod
    def connect(self) -> Any:
        """Return a new client of the SDK; nothing is sent yet."""

    @abstractmethod
    def request(
        self,
        model: Model,
        messages: tuple[Message, ...],
        tools: tuple[ToolSpec, ...],
        refused: frozenset[str],
    ) -> dict[str, Any]:
        """Return the arguments of the SDK's call, without what the model has refused."""

    @abstractmethod
    def send(self, client: Any, request: dict[str, Any], timeout_s: float) -> Sent:
        """Return what sends `request`, yields the answer at its beginning, and closes it."""

    def streaming(self, _refused: frozenset[str]) -> dict[str, Any]:
        """Return the arguments that ask for a stream, without what the model has refused."""
        return {"stream": True}

    @abstractmethod
    def dictation(self) -> Dictation:
        """Return what takes down such an answer."""

    @abstractmethod
    def reply(self, answer: dict[str, Any]) -> Reply:
        """Return what `answer`, an object of JSON, means; see `_MALFORMED` for what it may raise.

        Raises:
            OutOfFormError: It means nothing.
        """

    @abstractmethod
    def negotiable(self, model: Model) -> frozenset[str]:
        """Return the parameters that may be left out or renamed for a model that refuses them."""

    @abstractmethod
    async def disconnect(self, client: Any) -> None:
        """Close the SDK's client."""

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply; see `Provider`."""
        return result_of(self._submit(call), call.cancel, partial(self._cancelled, call))

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; see `Provider`."""
        return await aresult_of(self._submit(call), call.cancel, partial(self._cancelled, call))

    def close(self) -> None:
        """Close the connections and end the thread; calls under way fail."""
        line = self._lines.pop(os.getpid(), None)
        if line is not None:
            line.close(partial(self._disconnect, [*line.calls]))

    async def _disconnect(self, clients: Iterable[Any]) -> None:
        for client in clients:
            await self.disconnect(client)

    def _line(self) -> _Line:
        """Return the line of this process."""
        process = os.getpid()
        line = self._lines.get(process)
        if line is None:  # `setdefault` is atomic; no lock, which a fork might leave locked
            line = self._lines.setdefault(process, _Line(self.endpoint.provider, self.connect))
        return line

    def _submit(self, call: ModelCall) -> Future[Reply]:
        model, line = call.model, self._line()
        reasoning = bool(call.tools) and wants_reasoning(model.provider, model.name)
        names = WireNames(call.tools, reasoning=reasoning)
        messages = tuple(map(names.message, call.messages))
        answer = partial(self._answer, line, call, messages, names)
        return line.submit(self._log.follow(call, answer))

    # --- on the thread of the client -------------------------------------------------------------

    async def _answer(
        self, line: _Line, call: ModelCall, messages: tuple[Message, ...], names: WireNames
    ) -> Reply:
        caught: tuple[type[Exception], ...] = (
            TimeoutError,
            UnicodeError,
            OutOfFormError,
            BrokenOffError,
            TooOftenError,
            *self.failures,
        )
        try:
            async with asyncio.timeout(call.timeout_s) as limit:
                counts = self._rate.limits.tokens is not None
                tokens = request_tokens(call, messages) if counts else 0
                turn = Turn(self._rate, tokens, limit.when() or inf)
                body = await self._exchange(line, call, messages, turn, names)
            reply = names.reply(self._understood(body))
            if reply.usage is not None:
                turn.took(reply.usage.input + reply.usage.output)
            return self._priced(call.model, reply)
        except caught as error:
            failure = self._failure(call, error)
            cause = _Cause(self.endpoint.masked(f"{type(error).__name__}: {error}"))
        raise failure from cause  # errors of the SDKs hold requests, with keys and prompts

    async def _exchange(
        self,
        line: _Line,
        call: ModelCall,
        messages: tuple[Message, ...],
        turn: Turn,
        names: WireNames,
    ) -> bytes:
        """Send the request, again without each negotiable parameter that the model refuses."""
        model, tools = call.model, tuple(map(names.spec, call.tools))
        known = self._refused.get(model.name, frozenset())
        negotiable = self.negotiable(model) | (set() if call.speech is None else _STREAMING)
        negotiable |= set() if call.form is None else call.form.native.keys()
        refused = known & negotiable  # another agent may have asked for what this one did not
        while True:
            try:
                told = _told(messages, call.form, refused)
                request = _formed(self.request(model, told, tools, refused), call.form, refused)
                request = _keyed(request, call.idempotency_key)
                body = await persist(
                    partial(self._body, line, request, call, refused, turn),
                    retries=self.endpoint.max_retries,
                    deadline_s=turn.deadline_s,
                    again=partial(self._again, call),
                )
            except self.failures as error:
                name = refused_name(error, negotiable - refused)
                if name is None:
                    raise
                refused |= {name}
            else:
                self._refused[model.name] = known | refused
                return body

    async def _body(
        self,
        line: _Line,
        request: dict[str, Any],
        call: ModelCall,
        refused: frozenset[str],
        turn: Turn,
    ) -> bytes:
        """Return the body of the answer, told while it comes where somebody listens."""
        await turn.come()
        self._log.sends(call, request, turn.number)
        speech = None if "stream" in refused else call.speech
        if speech is not None:
            request = {**request, **self.streaming(refused)}
        try:
            with line.client() as client:
                async with self.send(client, request, call.timeout_s) as answer:
                    response = answer.http_response
                    if speech is None:
                        return await whole(response)
                    return await listen(response, self.dictation(), speech)
        except self.failures as error:
            if isinstance(error.__cause__, OutOfFormError):  # see `effects.connections`
                raise error.__cause__ from None
            raise

    def _again(self, call: ModelCall, error: Exception, wait_s: float) -> None:
        """Prepare for another attempt: what was said is void; whoever asks too often waits."""
        if getattr(error, "status_code", None) == _TOO_MANY:
            self._rate.hold(wait_s)
        self._log.tries_again(call, error, wait_s)
        if call.speech is not None:
            call.speech.again()

    def _understood(self, body: bytes) -> Reply:
        """Return the reply that is in `body`.

        Raises:
            OutOfFormError: There is none.
        """
        try:
            answer = json.loads(body)
            if isinstance(answer, dict) and not answer.get("error"):
                return self.reply(answer)
            said = sentence_in(answer)
        except _MALFORMED as error:
            what = phrase("the answer is not in the form of its API")
            raise OutOfFormError(what) from error
        what = phrase("the answer is not in the form of its API")
        if isinstance(answer, dict):
            what = phrase(
                "instead of an answer came an error: {error}",
                error=self.endpoint.masked(said) or "?",
            )
        raise OutOfFormError(what, phrase("check `model.baseUrl` and the settings under `model:`"))

    def _priced(self, model: Model, reply: Reply) -> Reply:
        """Return `reply` with what it cost, where the price is known at this host."""
        price = price_of(model.name, urlsplit(self.endpoint.base_url).hostname)
        usage = reply.usage
        if price is None or usage is None:
            return reply
        usd = price.of(usage.input, usage.output, usage.cached)
        return attrs.evolve(reply, usage=attrs.evolve(usage, usd=usd))

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
            message, hint = error.args[0], error.hint
        elif isinstance(error, BrokenOffError):
            reason = self.endpoint.masked(str(error))
            if status in _SECRET_STATUSES:
                reason = phrase("the key was refused")
            message = phrase("the answer broke off: {reason}", reason=reason)
            hint = phrase("try again later") if status is None else hint_of(status, error.body)
        elif isinstance(error, TooOftenError):
            message = phrase(
                "`runtime.rateLimits` lets the next request go out in {wait} s only",
                wait=f"{error.wait_s:.0f}",
            )
            hint = phrase("raise that limit, or `model.timeout`")
        elif isinstance(error, UnicodeError):
            message, hint = (
                phrase("the request is no Unicode text"),
                phrase("remove the half characters"),
            )
        elif isinstance(status, int):
            message = self._status_text(status, error)
            hint = hint_of(status, getattr(error, "body", None))
            if call.tools and status in _REFUSALS and "tool" in message.lower():
                hint = phrase("write `model.toolCalling: text`: this model may have no tool calls")
        else:
            message, hint = self._unreached(error)
        return self._failed(call, message, hint)

    def _unreached(self, error: Exception) -> tuple[str, str]:
        """Return what to say where no answer came at all."""
        url, reason = shown_url(self.endpoint.base_url), str(error.__cause__ or "")
        if not reason:
            return phrase("no connection to {url}", url=url), self._way_out()
        reason = self.endpoint.masked(reason)
        told = phrase("no connection to {url}: {reason}", url=url, reason=reason)
        if "CERTIFICATE" in reason:
            return told, phrase("name who signs its certificate in `SSL_CERT_FILE`")
        return told, self._way_out()

    def _way_out(self) -> str:
        """Return what to do where the server cannot be reached, by who said where it is."""
        endpoint = self.endpoint
        if endpoint.named_by is not None:
            return phrase("check {variables}", variables=f"`{endpoint.named_by}`")
        host = urlsplit(endpoint.base_url).hostname or ""
        if host == "localhost":
            return phrase("start the server, or write where it is: `model.baseUrl`")
        return phrase("check the network, or its proxy: {host} cannot be reached", host=host)

    def _status_text(self, status: int, error: Exception) -> str:
        said = sentence_in(getattr(error, "body", None))
        if not said or status in _SECRET_STATUSES:
            return f"HTTP {status}"
        return f"HTTP {status}: {self.endpoint.masked(said)}"

    def _cancelled(self, call: ModelCall) -> EffectError:
        return self._failed(call, phrase("the call was cancelled"), phrase("raise `--timeout`"))

    def _failed(self, call: ModelCall, message: str, hint: str) -> EffectError:
        endpoint = self.endpoint
        hint = hint.format(variable=endpoint.variable or "model")
        return EffectError(
            finding("E002", provider=endpoint.provider, message=message, site=call.site, hint=hint)
        )


def _told(
    messages: tuple[Message, ...], form: OutputForm | None, refused: frozenset[str]
) -> tuple[Message, ...]:
    """Return `messages` with what else they say of a form of which the request says nothing."""
    if form is None or form.is_told or not form.native.keys() & refused:
        return messages
    return (Message("system", form.prompt), *messages)


def _formed(
    request: dict[str, Any], form: OutputForm | None, refused: frozenset[str]
) -> dict[str, Any]:
    """Return `request` with what holds the model to a form."""
    native = {} if form is None else form.native
    return {**request, **{name: each for name, each in native.items() if name not in refused}}


def _keyed(request: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Return `request` with the header by which a service knows that it is the same call again."""
    if key is None:
        return request
    headers = {**(request.get("extra_headers") or {}), "Idempotency-Key": key}
    return {**request, "extra_headers": headers}
