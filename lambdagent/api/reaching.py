"""Program → the servers that a run of it would ask, and whether they can be reached.

No model is called and no key is sent; see `effects.reach`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from lambdagent.effects.llm import base_url
from lambdagent.effects.llm.claude_code import find_program
from lambdagent.effects.reach import reach
from lambdagent.effects.stores import redis_url
from lambdagent.errors import EffectError
from lambdagent.ir import registry
from lambdagent.ir.classes import class_path
from lambdagent.ir.data import Record
from lambdagent.ir.program import Program
from lambdagent.ir.remote import RemoteTool, Server
from lambdagent.ir.services import CLAUDE_CODE, SCRIPTED, SERVICES
from lambdagent.ir.url import shown_url
from lambdagent.messages import Phrase, phrase, say, told

LIMIT_S = 10.0
_REDIS, _TOOLS = "redis", "tools"


@attrs.frozen
class Endpoint:
    """A server, and whether it can be reached.

    Attributes:
        service: The provider of models, ``redis``, or ``tools`` and the name of a server.
        url: Its address, as far as that may be shown; None if none is known.
        sites: Who asks there, by name.
        elapsed_s: How long the attempt took.
        reason: Why it cannot be reached; None if it can.
        note: What a run would lack besides.
    """

    service: str
    url: str | None
    sites: tuple[str, ...]
    elapsed_s: float
    reason: str | None
    note: str | None

    def to_json(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "service": self.service,
            "url": self.url,
            "sites": list(self.sites),
            "reachable": self.reason is None,
            "elapsed": round(self.elapsed_s, 3),
            "reason": told(self.reason),
            "note": told(self.note),
        }


def reach_endpoints(
    program: Program, environment: Mapping[str, str], limit_s: float = LIMIT_S
) -> list[Endpoint]:
    """Return the servers of `program`, each once, in the order of their sites.

    They are those of models, of memories on Redis and of tools; a scripted model has none.

    Args:
        program: Nothing of it is run.
        environment: Where URLs and keys come from.
        limit_s: Longest time for all together.
    """
    servers = _servers(program)
    asking = {**_asking(program), **_calling(program, servers)}
    urls: dict[tuple[str, str | None], str] = {}
    refused: dict[tuple[str, str | None], str] = {}
    for place in asking:
        try:
            if place[0] == CLAUDE_CODE:
                find_program(environment)
            elif place[0] == _TOOLS:
                urls[place] = servers[str(place[1])].url  # a process has none
            elif place[0] == _REDIS:
                urls[place] = redis_url(environment)
            else:
                urls[place] = base_url(*place, environment)
        except EffectError as error:
            refused[place] = error.diagnostic.what
    distinct = list(dict.fromkeys(filter(None, urls.values())))
    reached = dict(zip(distinct, reach(distinct, limit_s), strict=True))
    found = []
    for place, sites in asking.items():
        url = urls.get(place) or None
        ended = None if url is None else reached[url]
        found.append(
            Endpoint(
                f"{_TOOLS} {place[1]}" if place[0] == _TOOLS else place[0],
                None if url is None else shown_url(url),
                tuple(sites),
                0.0 if ended is None else ended.elapsed_s,
                refused.get(place) if ended is None else ended.reason,
                _lacking(place[0], environment),
            )
        )
    return found


def _asking(program: Program) -> dict[tuple[str, str | None], list[str]]:
    """Return the sites that ask servers, by provider and URL as written."""
    asking: dict[tuple[str, str | None], list[str]] = {}
    for name in sorted(program.sites):
        site = program.sites[name]
        store = site.static.get("store")
        if isinstance(store, Record) and store["strategy"] == _REDIS and site.binding is None:
            asking.setdefault((_REDIS, None), []).append(name)
        model = site.static.get("model")
        if site.kind != "llm" or not isinstance(model, Record) or site.binding is not None:
            continue
        provider, written = model.get("provider"), model.get("base_url")
        if isinstance(provider, str) and provider != SCRIPTED and not class_path(provider):
            place = (provider, written if isinstance(written, str) else None)
            asking.setdefault(place, []).append(name)
    return asking


def _servers(program: Program) -> dict[str, Server]:
    """Return the servers of the tools of `program`, by name."""
    bound = [registry.lookup(each.binding) for each in program.sites.values() if each.binding]
    return {each.server.name: each.server for each in bound if isinstance(each, RemoteTool)}


def _calling(
    program: Program, servers: Mapping[str, Server]
) -> dict[tuple[str, str | None], list[str]]:
    """Return the sites that call tools of `servers`, by these."""
    calling: dict[tuple[str, str | None], list[str]] = {}
    for name in sorted(program.sites):
        server = program.sites[name].static.get("server")
        if isinstance(server, str) and server in servers:
            calling.setdefault((_TOOLS, server), []).append(name)
    return calling


def _lacking(provider: str, environment: Mapping[str, str]) -> Phrase | None:
    service = SERVICES.get(provider)
    if service is None or not service.needs_key or service.key_variable is None:
        return None
    is_set = bool(environment.get(service.key_variable, "").strip())
    return (
        None
        if is_set
        else phrase("the environment variable `{name}` is not set", name=service.key_variable)
    )


def _askers(program: Program) -> list[str]:
    """Return what of `program` may ask somebody of whom nothing is known here."""
    classes: dict[str, None] = {}
    has_tools = False
    for site in program.sites.values():
        model, store = site.static.get("model"), site.static.get("store")
        if site.kind == "tool":
            has_tools |= "server" not in site.static
        elif site.binding is not None:
            continue
        elif isinstance(store, Record) and store["strategy"] == "custom":
            classes[f"`{store['place']}`"] = None
        elif isinstance(model, Record) and (path := class_path(str(model.get("provider")))):
            classes[f"`{path}`"] = None
    return [*classes, *([say("the tools")] if has_tools else [])]


def endpoints_text(endpoints: Sequence[Endpoint], program: Program) -> str:
    """Return a line for each of `endpoints` under a heading, and of whom they are not known."""
    askers = ", ".join(_askers(program))
    unknown = say("It is not known whom they ask: {names}", names=askers)
    if not endpoints:
        if askers:
            return say("Endpoints: none that are known") + f"\n{unknown}"
        return say("Endpoints: none; nothing outside is asked")
    rows = [(each.service, each.url or "–", _stands(each)) for each in endpoints]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    lines = [
        f"  {service:<{widths[0]}}  {url:<{widths[1]}}  {stands}" for service, url, stands in rows
    ]
    return "\n".join([say("Endpoints:"), *lines, *([unknown] if askers else [])])


def _stands(endpoint: Endpoint) -> str:
    took = f"{endpoint.elapsed_s * 1000:.0f}ms"
    if endpoint.reason is None:
        found = say("found") if endpoint.url is None else say("reachable ({took})", took=took)
        stands = f"✓ {found}"
    elif endpoint.url is None:
        stands = f"✗ {told(endpoint.reason)}"
    else:
        reason = say("not reachable ({took}): {reason}", took=took, reason=endpoint.reason)
        stands = f"✗ {reason}"
    return stands if endpoint.note is None else f"{stands}; {told(endpoint.note)}"
