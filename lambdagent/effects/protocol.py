"""What the driver and its handlers exchange: messages, calls, replies, cancellation.

In go a `ModelCall` or a `ToolInvocation`, out come a `Reply` or `Data`. A model that fails raises
`EffectError`; a tool that fails raises `ToolFailure`, whose text the driver hands to the program.
Handlers are safe to use from many threads and event loops at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import attrs

from lambdagent.effects.output_form import OutputForm
from lambdagent.effects.speech import Speech
from lambdagent.errors import shown
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.exchange import Failure
from lambdagent.ir.fields import sized
from lambdagent.ir.limits import usd_of
from lambdagent.ir.model import Model

Role = Literal["system", "user", "assistant", "tool"]


@attrs.frozen
class ToolCall:
    """A tool that the model asks for, in the provider's own form.

    Attributes:
        id: The provider's name for this call; the answer must quote it.
        arguments: A `Record` as a rule; the raw text where a model wrote no valid JSON.
    """

    id: str
    name: str
    arguments: Data

    def to_data(self) -> Record:
        """Return the call as data; `from_data` is the inverse."""
        return Record(id=self.id, name=self.name, arguments=self.arguments)

    @classmethod
    def from_data(cls, data: Record) -> ToolCall:
        """Return the call that `to_data` wrote; objects of users may leave out all but the name.

        Raises:
            KeyError: It has no name.
        """
        key, arguments = data.get("id"), data.get("arguments")
        return cls("" if key is None else str(key), str(data["name"]), arguments)


@attrs.frozen
class Message:
    """One turn of a conversation.

    Attributes:
        tool_calls: What an assistant asked for in this turn.
        tool_call_id: For the role ``tool``: the call that `text` answers.
        name: For the role ``tool``: the tool that answers.
        reasoning: See `Reply`.
    """

    role: Role
    text: str = attrs.field(repr=sized)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    reasoning: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class ToolSpec:
    """A tool that a model is offered; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Record


@attrs.frozen
class Usage:
    """Model tokens of one call, as the provider counted them.

    Attributes:
        input: All that it read.
        cached: How many of these it had kept from an earlier call.
        usd: What the call cost, in US dollars; None if that is not known.
    """

    input: int
    output: int
    cached: int = 0
    usd: float | None = None

    def to_data(self) -> Record:
        """Return the counts as data, without what is nothing or not known."""
        items: dict[str, Data] = {"input": self.input, "output": self.output}
        if self.cached:
            items["cached"] = self.cached
        if self.usd is not None:
            items["usd"] = self.usd
        return Record(items)


@attrs.frozen
class Reply:
    """What a model answered.

    Attributes:
        text: Empty when the model said nothing.
        finish_reason: Why it stopped, in the provider's own word; None if it gave none.
        usage: None if the provider did not count.
        session: Under which name the provider keeps the conversation that ends with this reply.
        reasoning: What the model thought before, where the provider tells it and wants it back.
    """

    text: str
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    session: str | None = None
    reasoning: str | None = attrs.field(default=None, repr=False)

    def to_data(self) -> Record:
        """Return the reply as data without its empty parts; `from_data` is the inverse."""
        items: dict[str, Data] = {"text": self.text}
        if self.finish_reason is not None:
            items["finish_reason"] = self.finish_reason
        if self.tool_calls:
            items["tool_calls"] = tuple(call.to_data() for call in self.tool_calls)
        if self.usage is not None:
            items["usage"] = self.usage.to_data()
        if self.session is not None:
            items["session"] = self.session
        if self.reasoning is not None:
            items["reasoning"] = self.reasoning
        return Record(items)

    @classmethod
    def from_data(cls, data: Data) -> Reply:
        """Return the reply that `to_data` wrote; a bare text is a reply without anything else.

        Raises:
            ValueError: `data` is no such reply.
        """
        if isinstance(data, str):
            return cls(data)
        try:
            return _reply_from(data)
        except (AttributeError, KeyError, TypeError) as error:
            what = f"no reply of a model: {shown(data)}"
            raise ValueError(what) from error


def reply_of(answer: Data | Failure) -> Reply | None:
    """Return what a model said; None where it failed, or a person answered for it."""
    if isinstance(answer, Failure):
        return None
    try:
        return Reply.from_data(answer)
    except ValueError:
        return None


def _reply_from(data: Data) -> Reply:
    match data:
        case Record():
            text, reason = data["text"], data.get("finish_reason")
            calls, usage = data.get("tool_calls", ()), data.get("usage")
            session, reasoning = data.get("session"), data.get("reasoning")
        case _:
            raise TypeError(type(data).__name__)
    if not (isinstance(text, str) and isinstance(calls, tuple)):
        raise TypeError
    if not all(isinstance(call, Record) for call in calls):
        raise TypeError
    if not (isinstance(reason, str | None) and isinstance(session, str | None)):
        raise TypeError
    return Reply(
        text,
        reason,
        tuple(map(ToolCall.from_data, calls)),
        _usage_from(usage) if isinstance(usage, Record) else None,
        session,
        # Objects of users may have anything under this name.
        reasoning if isinstance(reasoning, str) else None,
    )


def _usage_from(data: Record) -> Usage:
    match (data["input"], data["output"], data.get("cached", 0), data.get("usd")):
        case (int(read), int(written), int(cached), float() | int() | None as usd):
            return Usage(read, written, cached, usd_of(usd))
    raise TypeError


class Cancellation:
    """A wish to stop that one thread speaks and others hear; once said, it stays said."""

    # Each request has one of these, so it has no lock of its own. None is needed: `cancel` first
    # says so, then runs what it can pop; `on_cancel` first adds, then looks whether it was said.
    # One of the two pops the callback, and only one, since `pop` is atomic. A lock for all would
    # hang where a collected generator or a signal cancels another run in the middle of this.
    __slots__ = ("_callbacks", "_cancelled")

    def __init__(self) -> None:
        """Start not cancelled."""
        self._callbacks: dict[object, Callable[[], object]] = {}
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Run the callbacks, once each, in this thread; later calls do nothing.

        A callback must return at once and raise nothing: it starts the end, it waits for nothing.
        """
        self._cancelled = True
        for key in list(self._callbacks):
            self._run(key)

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have `callback` run by `cancel`, or now if that was called; return how to forget it."""
        key = object()
        self._callbacks[key] = callback
        if self._cancelled:
            self._run(key)
        return lambda: self._forget(key)

    def _run(self, key: object) -> None:
        callback = self._callbacks.pop(key, None)
        if callback is not None:
            callback()

    def _forget(self, key: object) -> None:
        self._callbacks.pop(key, None)


@attrs.define(kw_only=True, eq=False)
class ModelCall:
    """One request to a model; nobody assigns to it. `frozen` would double its 0.4 µs.

    Attributes:
        site: Site of the program, such as ``llm:writer``; names the place in errors.
        agent: The agent that asks; scripts and recordings are keyed by it.
        render: Returns all messages, oldest first; called when a handler reads `messages`.
        render_last: Returns the text of the newest message alone, at a cost that does not grow
            with the conversation.
        timeout_s: Longest wait for the reply, retries included.
        tools: What the model is offered in the provider's own form; none where it calls by text.
        form: What the answer must be, and how the provider is asked for that; None for any text.
        cancel: Says when nobody waits any more.
        idempotency_key: The same for a call that is made again since its answer got lost, None
            where the run is not kept.
        speech: Wants to hear the reply while it comes; a provider that cannot do so need not.
    """

    site: str
    agent: str
    model: Model
    render: Callable[[], tuple[Message, ...]] = attrs.field(repr=False)
    render_last: Callable[[], str] = attrs.field(repr=False)
    timeout_s: float
    tools: tuple[ToolSpec, ...] = ()
    form: OutputForm | None = None
    cancel: Cancellation = attrs.field(factory=Cancellation, repr=False)
    idempotency_key: str | None = None
    speech: Speech | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first, rendered anew at each reading."""
        return self.render()

    @property
    def last_text(self) -> str:
        """The text of the newest message."""
        return self.render_last()


@attrs.define(kw_only=True, eq=False)
class ToolInvocation:
    """One request to a tool; nobody assigns to it, as with `ModelCall`.

    Attributes:
        argument: What the program passed: a text, or a structured value.
        text: `argument` as text.
        timeout_s: Longest wait for the answer.
        cancel: Says when nobody waits any more.
    """

    name: str
    argument: Data
    text: str
    timeout_s: float
    cancel: Cancellation = attrs.field(factory=Cancellation, repr=False)


class ToolFailure(Exception):  # noqa: N818 - to the program this is an answer, not an error
    """A tool failed.

    Attributes:
        text: What the program gets to see instead of an answer.
        may_pass: Whether the same call may succeed when it is made again.
    """

    def __init__(self, text: str, *, may_pass: bool = True) -> None:
        """Carry `text`."""
        super().__init__(text)
        self.text = text
        self.may_pass = may_pass


def timeout_text(limit_s: float) -> str:
    """Return what the program sees of a tool that gave no answer within `limit_s`.

    >>> timeout_text(30.0), timeout_text(0.5)
    ('[TIMEOUT after 30s]', '[TIMEOUT after 0.5s]')
    """
    return f"[TIMEOUT after {limit_s:g}s]"


class Provider(Protocol):
    """Who answers the calls of a model. Both faces do the same; a driver uses the one that fits.

    Attributes:
        instant: It answers without waiting for anything and may be called inline, on any thread.
    """

    instant: bool

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply.

        Raises:
            EffectError: The model failed, or gave no answer within ``call.timeout_s``.
        """
        ...

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; cancelling the task closes the connection."""
        ...

    def close(self) -> None:
        """Give back connections and threads; the provider is not used afterwards."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A provider whose replies depend on those before, such as one that plays a script."""

    def recall(self, call: ModelCall, reply: Reply | None) -> None:
        """Pass over `reply`, which `call` got in an earlier process; None if it failed."""
        ...


class ToolHandler(Protocol):
    """Who runs a tool. Both faces do the same.

    Attributes:
        name: The tool's name in the program.
    """

    name: str

    def call(self, invocation: ToolInvocation) -> Data:
        """Return the tool's answer; it may take its time, so a driver calls it on a worker thread.

        Raises:
            ToolFailure: The tool failed.
        """
        ...

    async def acall(self, invocation: ToolInvocation) -> Data:
        """Return the tool's answer without blocking the event loop."""
        ...


class MemoryStore(Protocol):
    """Where a memory keeps its entries (specification 7.1).

    Values are JSON values. To put the same entry twice leaves it there once, since a run that goes
    on after a kill may do that. A store is used by many threads. What fails raises.
    """

    @abstractmethod
    def get(self, key: str) -> Any | None:
        """Return the value of `key`, or None."""
        ...

    @abstractmethod
    def put(self, key: str, value: Any, ttl: int = 0) -> None:
        """Keep `value` for `ttl` seconds, as the newest entry; 0 means for ever."""
        ...

    @abstractmethod
    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        """Return the `n` newest entries, oldest first."""
        ...

    @abstractmethod
    def clear(self) -> None:
        """Forget everything."""
        ...


class StoreError(Exception):
    """A memory store that cannot do what it is asked: what is wrong, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        """Take words without credentials."""
        super().__init__(message)
        self.message = message
        self.hint = hint


@attrs.frozen
class Entry:
    """What a store keeps under a key, and since how many seconds."""

    key: str
    value: Any
    age_s: float


@runtime_checkable
class AgingStore(Protocol):
    """A store that knows how old its entries are; agents are told that, too."""

    def list_aged(self, n: int) -> list[Entry]:
        """Return the `n` newest entries, oldest first."""
        ...


def as_data(value: object) -> Data:
    """Return what a tool handed over as `Data`: whatever JSON does not have becomes text."""
    try:
        return freeze(value)
    except TypeError:
        return hex(value) if isinstance(value, int) else str(value)
