"""MODEL CALL → REPLY: one handler per API; `ir.services` is the table of who speaks which.

`Providers` gives the handler of a model; an SDK is imported when its first handler is built. All
sessions of a process that reach a service as the same user share a handler, with its thread and
its connections: to make one takes 30 ms and 800 KB.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping
from ipaddress import IPv6Address
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import attrs

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.leases import Leases
from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.claude_code import ClaudeCode, check_settings
from lambdagent.effects.llm.foreign import provider_of_class
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.llm.scripted import Scripted
from lambdagent.effects.messages import Courier, Endpoint
from lambdagent.effects.protocol import Provider
from lambdagent.effects.rate_limits import shared_limit
from lambdagent.errors import EffectError, finding
from lambdagent.ir.classes import class_path
from lambdagent.ir.known_models import price_of
from lambdagent.ir.limits import Limits
from lambdagent.ir.model import Model
from lambdagent.ir.services import CLAUDE_CODE, SCRIPTED, SERVICES, Service
from lambdagent.ir.url import shown_url
from lambdagent.messages import phrase

_CHAT = {"messages": AnthropicMessages, "chat": OpenAIChat}  # by what a service speaks
_KEY = re.compile(r"[ -~]*")  # what a header may hold
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # of a header
# What else SDKs are known to send: the variable of any headers, and those of one header each.
_MORE_HEADERS = {
    "anthropic": ("ANTHROPIC_CUSTOM_HEADERS", {}),
    "openai": (
        "OPENAI_CUSTOM_HEADERS",
        {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"},
    ),
}
_HOST = re.compile(r"([\w-]{1,63}\.)*[\w-]{1,63}\.?", re.ASCII)


def make_provider(
    model: Model,
    environment: Mapping[str, str],
    base_dir: Path | None = None,
    limits: Limits | None = None,
) -> Provider:
    """Return a new provider that answers for `model`.

    Args:
        model: Its `provider`, `base_url` and `script` count; for a class all that it says.
        environment: Where keys and URLs come from.
        base_dir: Where the relative paths of a script start.
        limits: How often it may be asked.

    Raises:
        EffectError: The key is missing (E001), the provider cannot be used (E005), or its
            recording cannot be read (E007).
    """
    if model.provider == SCRIPTED:
        return Scripted(model.script or {}, base_dir=base_dir)
    if model.provider == CLAUDE_CODE:
        return ClaudeCode(model, environment, base_dir)
    path = class_path(model.provider)
    if path is not None:
        return provider_of_class(path, model, environment, base_dir)
    return _connected(_account(model, environment, limits))


@attrs.frozen
class _Account:
    """Who reaches which service; whoever does so in the same way can share a handler.

    Attributes:
        speaks: What the service does.
        limits: How often it may be asked.
        settings: All of the environment of the process, where the SDKs find settings of their own.
        process: Its number; the child of a fork has connections of its own.
    """

    speaks: str
    endpoint: Endpoint
    limits: Limits | None
    settings: frozenset[tuple[str, str]] = attrs.field(
        factory=lambda: frozenset(os.environ.items()), repr=False
    )
    process: int = attrs.field(factory=os.getpid)


def _account(model: Model, environment: Mapping[str, str], limits: Limits | None) -> _Account:
    """Return who asks for `model`.

    Raises:
        EffectError: See `make_provider`.
    """
    service = SERVICES.get(model.provider)
    if service is None or service.speaks not in _CHAT:
        raise _no_service(model.provider)
    return _Account(service.speaks, _endpoint(model, service, environment), limits)


def _connected(account: _Account) -> Courier:
    """Return a new handler."""
    endpoint, limits = account.endpoint, account.limits
    place = endpoint.base_url, endpoint.key
    rate = None if limits is None else shared_limit(place, limits)
    return _CHAT[account.speaks](endpoint, rate)


_handlers = Leases(_connected)


def _endpoint(model: Model, service: Service, environment: Mapping[str, str]) -> Endpoint:
    variable = service.key_variable
    key = environment.get(variable, "").strip() if variable else ""
    if service.needs_key and not key:
        raise EffectError(finding("E001", provider=model.provider, variable=variable))
    url = base_url(model.provider, model.base_url, environment)
    if _KEY.fullmatch(key) is None:
        what = phrase(
            "the key in `{variable}` holds characters that no key has", variable=variable
        )
        hint = phrase("copy the key into `{variable}` again", variable=variable)
        raise _unusable(model.provider, what, hint)
    return Endpoint(
        provider=model.provider,
        base_url=url,
        key=key or None,
        variable=variable or "",
        named_by=_named_by(model.base_url, service, environment),
        headers=tuple(_headers(model.provider, environment).items()),
    )


def _headers(provider: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what else `provider` is to be sent, by the variables that its SDK knows.

    Raises:
        EffectError: It cannot be sent (E005).
    """
    if provider not in _MORE_HEADERS:
        return {}
    many, single = _MORE_HEADERS[provider]
    rows = [line.partition(":") for line in environment.get(many, "").splitlines()]
    found = {name.strip(): value.strip() for name, colon, value in rows if colon}
    for variable, name in single.items():
        if value := environment.get(variable, "").strip():
            found[name] = value
    for name, value in found.items():
        if _NAME.fullmatch(name) is None or _KEY.fullmatch(value) is None:
            what = phrase("a header from the environment holds characters that no header has")
            variables = ", ".join(f"`{each}`" for each in (many, *single))
            raise _unusable(provider, what, phrase("check {variables}", variables=variables))
    return found


def base_url(provider: str, written: str | None, environment: Mapping[str, str]) -> str:
    """Return the URL that `provider` is asked at, where the agent file has `written`.

    Raises:
        EffectError: There is no such provider, it has no URL, or that is none (E005).
    """
    service = SERVICES.get(provider)
    if service is None or service.speaks not in _CHAT:
        raise _no_service(provider)
    named_by = _named_by(written, service, environment)
    url = written or (environment[named_by] if named_by else service.base_url)
    if not url:
        hint = phrase(
            "add `model.baseUrl: https://…/v1`, or write `provider: package.module:Class`"
        )
        raise _unusable(provider, phrase("it has no URL"), hint)
    try:
        return _usable(url)
    except ValueError as error:
        hint = phrase("write the whole URL, such as `baseUrl: https://…/v1`")
        what = phrase("this is no URL: `{url}`", url=shown_url(url))
        raise _unusable(provider, what, hint) from error


def _named_by(written: str | None, service: Service, environment: Mapping[str, str]) -> str | None:
    """Return which setting or variable says where `service` is; None if none does."""
    if written:
        return "model.baseUrl"
    variable = service.url_variable
    return variable if variable and environment.get(variable) else None


def _usable(url: str) -> str:
    """Return `url` with a host of ASCII letters, as the SDKs and the name service want it.

    Raises:
        ValueError: It is no URL of a web server; the message holds nothing of it.
    """
    parts = urlsplit(url)
    host, what = parts.hostname or "", phrase("no URL of a web server")
    if not url.isprintable() or " " in url or parts.scheme not in {"http", "https"}:
        raise ValueError(what)
    if parts.port == 0:  # reading it refuses one above 65535
        raise ValueError(what)
    if ":" in host:
        IPv6Address(host)
        return url
    ascii_host = host.encode("idna").decode()
    if _HOST.fullmatch(ascii_host) is None:
        raise ValueError(what)
    if host.isascii():
        return url
    user, at, _ = parts.netloc.rpartition("@")
    port = "" if parts.port is None else f":{parts.port}"
    return parts._replace(netloc=f"{user}{at}{ascii_host}{port}").geturl()


def _no_service(provider: str) -> EffectError:
    known = ", ".join(SERVICES)
    return _unusable(
        provider, phrase("there is no such provider"), phrase("use one of {known}", known=known)
    )


def _unusable(provider: str, message: str, hint: str) -> EffectError:
    return EffectError(finding("E005", provider=provider, message=message, hint=hint))


def has_price(model: Model, environment: Mapping[str, str]) -> bool:
    """Whether it is known what calls of `model` cost, or will be told by who answers them."""
    is_served = model.provider in SERVICES and model.provider not in {SCRIPTED, CLAUDE_CODE}
    if not is_served:
        return True
    url = base_url(model.provider, model.base_url, environment)
    return price_of(model.name, urlsplit(url).hostname) is not None


class Providers:
    """The providers of a run: one for all models that are served at the same place.

    A class of others is made for each model that it serves.

    Models with equal scripts share the script, so its replies are given out once. Safe to share.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        base_dir: Path | None = None,
        rates: Mapping[str, Limits] = MappingProxyType({}),
    ) -> None:
        """Make providers when they are needed.

        Args:
            environment: Where keys and URLs come from.
            base_dir: Where relative paths start.
            rates: How often each may be asked, by its name.
        """
        self._environment = environment
        self._rates = rates
        self._base_dir = base_dir
        self._lock = ForkSafeLock()
        self._made: dict[Hashable, Provider] = {}
        self._accounts: dict[Hashable, _Account] = {}  # of those that are shared

    def of(self, model: Model) -> Provider:
        """Return the provider that answers for `model`, made at its first use.

        Raises:
            EffectError: See `make_provider`.
        """
        if model.provider == CLAUDE_CODE:
            check_settings(model)
        place: Hashable = model  # a class may know each setting
        if model.provider in SERVICES:
            place = (model.provider, model.base_url, model.script)
        with self._lock:
            provider = self._made.get(place)
            if provider is None:
                provider = self._made[place] = self._make(model, place)
            return provider

    def _make(self, model: Model, place: Hashable) -> Provider:
        limits = self._rates.get(model.provider)
        service = SERVICES.get(model.provider)
        if service is None or service.speaks not in _CHAT:
            return make_provider(model, self._environment, self._base_dir, limits)
        account = _account(model, self._environment, limits)
        provider = _handlers.take(account)
        self._accounts[place] = account
        return provider

    def close(self) -> None:
        """Close all providers, but for those that others share."""
        with self._lock:
            accounts, self._accounts = self._accounts, {}
            made, self._made = self._made, {}
        for place, provider in made.items():
            if place in accounts:
                _handlers.give_back(accounts[place])
            else:
                provider.close()
