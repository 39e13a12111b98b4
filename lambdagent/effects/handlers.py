"""Who answers which site of a program, people aside: requests → answers.

`Handlers` looks at every site before the run starts, so a missing key or tool is told before the
first call goes out. Faults of the world become `Failure`s here; they never leave as exceptions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from itertools import count
from math import ceil
from pathlib import Path
from typing import Final, Protocol

import attrs

from lambdagent.effects.classes import FAULTS
from lambdagent.effects.llm import Providers
from lambdagent.effects.llm.foreign import ForeignProvider, adapted
from lambdagent.effects.mcp import Servers
from lambdagent.effects.output_form import form_of
from lambdagent.effects.protocol import (
    AgingStore,
    Cancellation,
    MemoryStore,
    ModelCall,
    Provider,
    Remembering,
    Reply,
    StoreError,
    ToolFailure,
    ToolHandler,
    ToolInvocation,
    as_data,
)
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.render import messages_of, misfit, tools_of
from lambdagent.effects.retrying import pause, retries_of, retry_delay_s
from lambdagent.effects.speech import Speech
from lambdagent.effects.stores import NOBODY, Owner, Stores, store_failure, turn
from lambdagent.effects.tool_kinds import limit_s, tool_of
from lambdagent.effects.tools import in_thread
from lambdagent.errors import Diagnostic, EffectError, LambdagentError, finding, in_english
from lambdagent.ir import registry
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.known_models import Price
from lambdagent.ir.limits import RunLimits
from lambdagent.ir.model import Model
from lambdagent.ir.services import CLAUDE_CODE
from lambdagent.ir.sites import Site
from lambdagent.machine.state import PAIR, TAGGED, Value
from lambdagent.machine.state import Path as Key
from lambdagent.machine.store import memory_key, memory_value
from lambdagent.machine.text import asked_text, text_of_value
from lambdagent.machine.values import is_pair, parts, project
from lambdagent.messages import phrase

_MEND: Final = phrase("mend the store, or what it needs; a run that is kept goes on from here")

_UNLIMITED = RunLimits()


@attrs.define(eq=False)
class Request:
    """What a thread of the machine asks the world.

    Attributes:
        key: Path of the thread and its clock.
        argument: A machine value.
        cancel: Said when nobody waits for the answer any more.
        idempotency_key: Names this request among those of all kept runs, None in other runs.
        tell: Told what a model says while it does, and in which attempt; None if nobody listens.
    """

    key: Key
    site: Site
    argument: Value
    cancel: Cancellation = attrs.field(factory=Cancellation)
    idempotency_key: str | None = None
    tell: Callable[[str, int], object] | None = None


class Handler(Protocol):
    """Answers the requests of one site.

    Attributes:
        instant: It answers at once and may be called on the thread of the driver.
    """

    instant: bool

    def answer(self, request: Request) -> Data | Failure:
        """Return the answer; called on a worker thread unless `instant`."""
        ...

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return the answer without blocking the event loop."""
        ...


class ModelHandler:
    """Asks a provider."""

    def __init__(
        self,
        site: Site,
        model: Model,
        provider: Provider,
        redaction: Redaction,
        price: Price | None = None,
    ) -> None:
        """Ask `provider` as `model` says, and let nobody hear what `redaction` knows.

        Args:
            site: Who is asked for.
            model: The model of `site`.
            provider: Serves it.
            redaction: Takes secrets out of what is heard.
            price: What calls cost, if the file says so.
        """
        self._price = price
        self.instant = getattr(provider, "instant", False)
        self._site = site
        self._model = model
        self._provider = provider
        self._redaction = redaction
        self._tools, self._form = tools_of(site.static), form_of(site)

    def answer(self, request: Request) -> Data | Failure:
        """Return the reply as data."""
        call = self._call(request)
        try:
            return self._said(call, self._provider.chat(call))
        except EffectError as error:
            return model_failure(error)

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return the reply as data."""
        call = self._call(request)
        try:
            return self._said(call, await self._provider.achat(call))
        except EffectError as error:
            return model_failure(error)

    @property
    def remembers(self) -> bool:
        """Whether what the provider says depends on what it said before."""
        return isinstance(self._provider, Remembering)

    def recall(self, request: Request, answer: Data | Failure) -> None:
        """Tell the provider that `request` got `answer` in an earlier process."""
        if isinstance(self._provider, Remembering):
            reply = None if isinstance(answer, Failure) else Reply.from_data(answer)
            self._provider.recall(self._call(request), reply)

    def _said(self, call: ModelCall, reply: Reply) -> Data:
        """Return `reply` as data, when all of it is told, with what it cost."""
        if call.speech is not None:
            call.speech.end(reply.text)
        usage, price = reply.usage, self._price
        if price is not None and usage is not None:
            usd = price.of(usage.input, usage.output, usage.cached)
            reply = attrs.evolve(reply, usage=attrs.evolve(usage, usd=usd))
        return reply.to_data()

    def _call(self, request: Request) -> ModelCall:
        site, argument, tell = self._site, request.argument, request.tell
        return ModelCall(
            site=site.name,
            agent=str(site.static["agent"]),
            model=self._model,
            render=lambda: messages_of(site, argument),
            render_last=lambda: asked_text(site, argument),
            timeout_s=self._model.timeout_s,
            tools=self._tools,
            form=self._form,
            cancel=request.cancel,
            idempotency_key=request.idempotency_key,
            speech=None if tell is None else Speech(tell, self._redaction),
        )


def model_failure(error: EffectError) -> Failure:
    """Return the failure that carries a provider's diagnostic."""
    found = error.diagnostic
    data = Record(in_english(found))
    return Failure("ProviderError", str(data["what"]), data)


class ToolSiteHandler:
    """Runs a tool, again after failures that may pass if the file says so."""

    instant = False

    def __init__(self, tool: ToolHandler, timeout_s: float, retries: int = 0) -> None:
        """Run `tool`, for at most `timeout_s` an attempt, `retries` times again."""
        self._tool = tool
        self._timeout_s = timeout_s
        self._retries = retries

    def answer(self, request: Request) -> Data | Failure:
        """Return what the tool answered; a failure's text is an answer too."""
        for attempt in count():
            try:
                return self._tool.call(self._invocation(request))
            except ToolFailure as error:
                failed = Failure("ToolError", error.text)
                if not self._goes_on(attempt, error, request):
                    return failed
            pause(retry_delay_s(attempt), request.cancel)
            if request.cancel.cancelled:
                return failed
        raise AssertionError

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return what the tool answered; a failure's text is an answer too."""
        for attempt in count():
            try:
                return await self._tool.acall(self._invocation(request))
            except ToolFailure as error:
                failed = Failure("ToolError", error.text)
                if not self._goes_on(attempt, error, request):
                    return failed
            await asyncio.sleep(retry_delay_s(attempt))
            if request.cancel.cancelled:
                return failed
        raise AssertionError

    def _goes_on(self, attempt: int, error: ToolFailure, request: Request) -> bool:
        return error.may_pass and attempt < self._retries and not request.cancel.cancelled

    def _invocation(self, request: Request) -> ToolInvocation:
        return ToolInvocation(
            name=self._tool.name,
            argument=tool_argument(request.argument),
            text=text_of_value(request.argument),
            timeout_s=self._timeout_s,
            cancel=request.cancel,
        )


def tool_argument(value: Value) -> Data:
    """Return what a tool gets that is called with `value`."""
    return text_of_value(value) if _has_layout(value) else project(value)


def _has_layout(value: Value) -> bool:
    """Whether `value` is one of those that only their text layout makes sense of outside."""
    while type(value) is tuple and value[0] == PAIR:
        value = value[1]
    return type(value) is tuple and bool(value[0] == TAGGED)


class InstantHandler:
    """Answers from a function that does not wait."""

    instant = True

    def __init__(self, function: Callable[[Value], Data | Failure]) -> None:
        """Answer with what `function` makes of the argument."""
        self._function = function

    def answer(self, request: Request) -> Data | Failure:
        """Return the answer."""
        return self._function(request.argument)

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return the answer."""
        return self._function(request.argument)


class StoreHandler:
    """Asks a memory store; it may block, even for ever, so it runs on a thread of its own.

    A store that fails is no answer: the run stops there, and goes on from there if it is kept.
    """

    def __init__(self, site: Site, store: MemoryStore, redaction: Redaction) -> None:
        """Answer `site` from `store`, and let nobody hear what `redaction` knows."""
        static = site.static
        self.instant = getattr(store, "instant", False) is True
        self._site = site
        self._name = str(static["name"])
        self._size = int(str(static["size"]))
        self._ttl = ceil(float(str(static["ttl"])))
        self._summarized = "summarized" in static
        self._initial = static.get("initial")
        self._store = store
        self._redaction = redaction
        self._run = self._recall if site.kind == "recall" else self._remember

    def answer(self, request: Request) -> Data | Failure:
        """Return the entries, or nothing after writing one.

        Raises:
            EffectError: The store failed.
        """
        try:
            return self._run(request.argument)
        except EffectError as error:
            return model_failure(error)
        except StoreError as error:
            raise store_failure(self._name, error) from error
        except FAULTS as error:
            what = self._redaction.text(f"{type(error).__name__}: {error}")
            raise store_failure(self._name, StoreError(what, _MEND)) from error

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return the entries, or nothing after writing one."""
        if self.instant:
            return self.answer(request)
        async with turn(self._store):
            return await in_thread(lambda: self.answer(request))

    def _recall(self, _argument: Value) -> Data:
        if not self._size:
            return ()
        if isinstance(self._store, AgingStore):
            rows = [
                Record(key=each.key, value=as_data(each.value), age=each.age_s)
                for each in self._store.list_aged(self._size)
            ]
        else:
            rows = [
                Record(key=str(key), value=as_data(value))
                for key, value in self._store.list_recent(self._size)
            ]
        initial = self._initial if isinstance(self._initial, Record) else Record()
        known = {row["key"] for row in rows}
        first = [Record(key=key, value=initial[key]) for key in initial if key not in known]
        return tuple([*first, *rows][-self._size :])

    def _remember(self, argument: Value) -> Data:
        if not is_pair(argument):
            raise misfit(self._site, argument, "⟨what was asked, the answer⟩")
        asked, answered = parts(argument)
        if self._size:
            value = memory_value(text_of_value(answered), summarized=self._summarized)
            self._store.put(memory_key(text_of_value(asked)), value, self._ttl)
        return None


class _Redacting:
    """Answers as another handler does, without the secrets of the environment."""

    def __init__(self, handler: Handler, redaction: Redaction) -> None:
        """Look through what `handler` answers."""
        self.instant = handler.instant
        self._handler = handler
        self._redaction = redaction

    def answer(self, request: Request) -> Data | Failure:
        """Return the answer."""
        return self._redaction.answer(self._handler.answer(request))

    async def aanswer(self, request: Request) -> Data | Failure:
        """Return the answer."""
        return self._redaction.answer(await self._handler.aanswer(request))


class Handlers:
    """The handlers of one program, by site.

    Attributes:
        redaction: Takes the secrets of the environment out of what comes in.

    Raises:
        EffectError: On construction, if a site could not be answered: a key that is not set, a
            tool without implementation, a command that is refused.
    """

    def __init__(
        self,
        sites: Mapping[str, Site],
        environment: Mapping[str, str],
        *,
        base_dir: Path | None = None,
        clock: Callable[[], float] = time.time,
        limits: RunLimits = _UNLIMITED,
        owner: Owner = NOBODY,
    ) -> None:
        """Make a handler for every oracle of `sites`.

        Args:
            sites: The site table.
            environment: Where keys and URLs come from.
            base_dir: Where relative paths of scripts start, and commands run.
            clock: Seconds since the epoch.
            limits: How often providers may be asked, and what models cost.
            owner: Whose memories these are.
        """
        self.redaction = Redaction(environment)
        self._stores = Stores(environment, base_dir, owner, clock, self.redaction)
        self._providers = Providers(environment, base_dir, limits.rates)
        self._servers = Servers()
        self._prices = limits.prices
        self._base_dir = base_dir
        self._clock = clock
        self._by_site: dict[str, Handler] = {}
        self._models: dict[str, ModelHandler] = {}
        self._adapted: list[ForeignProvider] = []
        problems: list[Diagnostic] = []
        for site in sites.values():
            if site.site_class == "oracle" and site.kind != "confirm":
                try:
                    handler = self._make(site)
                    is_open = self.redaction.is_empty
                    self._by_site[site.name] = (
                        handler if is_open else _Redacting(handler, self.redaction)
                    )
                except LambdagentError as error:
                    problems += [d for d in error.diagnostics if d not in problems]
        if problems:
            self.close()
            raise EffectError(problems)

    def of(self, site: Site) -> Handler:
        """Return the handler of `site`."""
        return self._by_site[site.name]

    @property
    def remember(self) -> bool:
        """Whether some provider wants to be told of all that was answered in earlier processes."""
        return any(model.remembers for model in self._models.values())

    def recall(self, request: Request, answer: Data | Failure) -> None:
        """Tell who would answer `request` that it got `answer` in an earlier process."""
        model = self._models.get(request.site.name)
        if model is not None:
            model.recall(request, answer)

    @property
    def all_instant(self) -> bool:
        """Whether every handler may be called on the thread of the driver."""
        return all(handler.instant for handler in self._by_site.values())

    def close(self) -> list[Diagnostic]:
        """Give back connections; return what memories of the session could not be forgotten."""
        self._providers.close()
        for provider in self._adapted:
            provider.close()
        self._servers.close()
        return self._stores.close()

    def _make(self, site: Site) -> Handler:
        match site.kind:
            case "llm":
                model = self._models[site.name] = self._model_handler(site)
                return model
            case "tool":
                retries = retries_of(site)
                tool = tool_of(site, self._base_dir, self._servers)
                return ToolSiteHandler(tool, limit_s(site), retries)
            case "now":
                return InstantHandler(lambda _: self._clock())
        return StoreHandler(site, self._store(site), self.redaction)

    def _store(self, site: Site) -> MemoryStore:
        """Return the store of a memory: an object of the caller, or one that the program names."""
        static = site.static
        where = static.get("store")
        if site.binding is not None:
            store: MemoryStore = registry.lookup(site.binding)
            return store
        if not isinstance(where, Record):
            raise EffectError(finding("E012", name=static["name"], site=site.name))
        size, ttl_s = int(str(static["size"])), float(str(static["ttl"]))
        return self._stores.of(str(static["name"]), size, ttl_s, where)

    def _model_handler(self, site: Site) -> ModelHandler:
        model = site.model
        if model is None:
            raise EffectError(finding("E010", agent=site.static["agent"]))
        bound, natively = site.binding, bool(site.static.get("native"))
        if bound is None:
            if natively and model.provider == CLAUDE_CODE:
                message = phrase("it calls tools of its own")
                hint = phrase("write `toolCalling: auto`")
                found = finding("E005", provider=CLAUDE_CODE, message=message, hint=hint)
                raise EffectError(found)
            provider = self._providers.of(model)
        else:
            provider = adapted(model.provider, registry.lookup(bound), natively=natively)
            if isinstance(provider, ForeignProvider):
                self._adapted.append(provider)
        price = self._prices.get(model.name)
        return ModelHandler(site, model, provider, self.redaction, price)
