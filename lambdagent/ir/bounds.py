"""Program → how often it can call its models, its tools and whatever else the world answers.

Known before the run, without any effect. Source: semantics.md §9.
"""

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, NamedTuple

import attrs

from lambdagent.ir.abstract import LoopProfile, execute
from lambdagent.ir.costs import (
    FAILS,
    FREE,
    INFINITY,
    NEVER,
    ONCE,
    Count,
    Interval,
    Outcome,
    Path,
    count_text,
    times,
    whole,
)
from lambdagent.ir.data import Record
from lambdagent.ir.data_text import escaped
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site

_MOST_JSON_BITS = 10_000


@attrs.frozen
class SiteBound:
    """How often one site is called.

    Attributes:
        calls: Logical calls; retries of the transport are not counted.
        tokens: Most tokens that the model can write in all calls; None if they have no cap.
    """

    name: str
    kind: str
    calls: Interval
    tokens: Count | None = None


@attrs.frozen
class Bounds:
    """What a program can call.

    Attributes:
        sites: Each site that the world answers, by name.
        model_calls: Calls of all models together, which differs from the sum where paths part.
        tool_calls: Calls of all tools together.
        output_tokens: Most tokens that all models can write; None if one has no cap.
        reasons: Why something is not known; empty if all bounds are finite.
        loops: How each fixpoint goes on, if the program calls anything.
    """

    sites: Mapping[str, SiteBound]
    model_calls: Interval
    tool_calls: Interval
    output_tokens: Count | None = 0
    reasons: tuple[str, ...] = ()
    loops: tuple[LoopProfile, ...] = ()

    def describe(self) -> str:
        """Return a table for people, and why there is an ∞ in it."""
        rows = [("site", "calls", "output tokens")]
        rows += [(escaped(s.name), str(s.calls), _tokens(s)) for s in self.sites.values()]
        tokens = _total_tokens(self.output_tokens)
        rows.append(("all models", str(self.model_calls), tokens if self._asks else ""))
        rows.append(("all tools", str(self.tool_calls), ""))
        widths = [max(len(row[column]) for row in rows) for column in range(2)]
        lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join([*lines, *(f"∞: {reason}" for reason in self.reasons)]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return the bounds as JSON: ∞ is ``"∞"``; null is what is not known."""
        return {
            "sites": [
                {
                    "name": site.name,
                    "kind": site.kind,
                    "calls": _pair(site.calls),
                    "outputTokens": _json(site.tokens),
                }
                for site in self.sites.values()
            ],
            "modelCalls": _pair(self.model_calls),
            "toolCalls": _pair(self.tool_calls),
            "outputTokens": _json(self.output_tokens),
            "reasons": list(self.reasons),
        }

    @property
    def _asks(self) -> bool:
        return self.model_calls.most > 0


def bounds(program: Program) -> Bounds:
    """Return how often `program` can call what the world answers."""
    asked = {name: s for name, s in program.sites.items() if s.site_class == "oracle"}
    if not asked:
        return Bounds({}, NEVER, NEVER)

    @cache
    def cost_of(name: str) -> Outcome:
        site = program.sites[name]
        if name in asked:
            written = {_TOKENS: Interval(0, _cap(site) or 0)}
            return {Path(): {name: ONCE, _Total(site.kind): ONCE, **written}}
        return FAILS if site.kind == "fail" else FREE

    keys: set[Hashable] = {_TOKENS, *asked, *(_Total(site.kind) for site in asked.values())}
    unknown = {Path(): dict.fromkeys(keys, Interval(0, INFINITY))}
    outcome, reasons, loops = execute(program.term, cost_of, unknown)
    found = {name: _bound(site, whole(outcome, name)) for name, site in asked.items()}
    models, tools = (whole(outcome, _Total(kind)) for kind in ("llm", "tool"))
    if all(each.calls.most != INFINITY for each in found.values()):
        reasons = ()
    elif not reasons:
        reasons = ("it has more than 2^15 binary digits, or takes as many rounds to work out",)
    uncapped = any(s.kind == "llm" and s.calls.most and s.tokens is None for s in found.values())
    tokens = None if uncapped else whole(outcome, _TOKENS).most
    return Bounds(found, models, tools, tokens, tuple(reasons), tuple(loops))


class _Total(NamedTuple):
    """Stands for the calls of all sites of a kind."""

    kind: str


# Stands for the tokens that models write.
_TOKENS = object()


def _cap(site: Site) -> int | None:
    model = site.static.get("model")
    cap = model.get("max_tokens") if isinstance(model, Record) else None
    return cap if site.kind == "llm" and isinstance(cap, int) else None


def _bound(site: Site, interval: Interval) -> SiteBound:
    cap = _cap(site)
    tokens = None if cap is None else times(interval.most, cap)
    return SiteBound(site.name, site.kind, interval, tokens)


def _tokens(site: SiteBound) -> str:
    return _total_tokens(site.tokens) if site.kind == "llm" else ""


def _total_tokens(tokens: Count | None) -> str:
    return "no cap" if tokens is None else f"at most {count_text(tokens)}"


def _pair(interval: Interval) -> list[object]:
    return [_json(interval.least), _json(interval.most)]


def _json(value: Count | None) -> object:
    """Return a number; one of more digits than Python reads is a text, in hexadecimal."""
    if not isinstance(value, int):
        return None if value is None else "∞"
    return value if value.bit_length() < _MOST_JSON_BITS else hex(value)
