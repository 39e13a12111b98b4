"""A run → where its time and tokens went, what the machine did, what failed or was retried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import attrs

from lambdagent.ir.data_text import escaped
from lambdagent.ir.exchange import Exchange, Failure, key_text
from lambdagent.ir.fitting import fit, table
from lambdagent.ir.limits import dollars
from lambdagent.machine.state import Event, Kind, Path
from lambdagent.machine.text import cut
from lambdagent.trace.macro import TraceRecord, cost_of, tokens_of
from lambdagent.trace.text import RULE
from lambdagent.trace.timeline import duration
from lambdagent.trace.transition import SYMBOLS

_HEAD = ("term", "kind", "calls", "total", "mean", "longest", "share", "tokens in", "out")
_COST = "cost"
_NUMBERS = set(range(2, len(_HEAD) + 1))
_LONGEST_NAME = 32
_REPLAYED = ", of the replay; the run was in direct style, which makes none"
# Failures that are told; all of them are counted.
_MOST = 20


class Counted(Protocol):
    """What the machine counted."""

    @property
    def counters(self) -> tuple[int, ...]:
        """Reductions, in the order of `Kind`."""
        ...

    @property
    def transitions(self) -> int:
        """Transitions, administrative ones included."""
        ...


@attrs.frozen
class Call:
    """One step of a run, or a call that made none: it failed, or it is not part of the trace.

    Attributes:
        elapsed_s: None where nothing was waited for.
    """

    key: Path
    term: str
    kind: str
    elapsed_s: float | None = None
    tokens: tuple[int, int] | None = None
    cost_usd: float | None = None


@attrs.define
class Row:
    """What one term took; times are those of calls that were waited for."""

    term: str
    kind: str
    calls: int = 0
    waited: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0
    tokens: tuple[int, int] | None = None
    cost_usd: float | None = None

    @property
    def mean_s(self) -> float:
        """Seconds of a call, on average."""
        return self.total_s / self.waited if self.waited else 0.0

    def count(self, call: Call) -> None:
        """Count `call` in."""
        self.calls += 1
        if call.elapsed_s is not None:
            self.waited += 1
            self.total_s += call.elapsed_s
            self.longest_s = max(self.longest_s, call.elapsed_s)
        if call.tokens is not None:
            read, written = self.tokens or (0, 0)
            self.tokens = (read + call.tokens[0], written + call.tokens[1])
        if call.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + call.cost_usd


@attrs.frozen
class Stats:
    """What a run took.

    Attributes:
        rows: By term, those that took longest first.
        total_s: Seconds that were waited for, added up.
        elapsed_s: Seconds that the run took.
        reductions: In the order of `Kind`.
        engine: The engine that ran and why; empty where that was not recorded.
        longest: The call that took longest.
        retries: How often a guard asked again.
        fallbacks: How often one gave up.
        failures: Keys, sites and failures.
    """

    rows: tuple[Row, ...]
    total_s: float
    elapsed_s: float
    reductions: tuple[int, ...]
    transitions: int
    engine: tuple[str, str] | tuple[()]
    longest: Call | None
    retries: int
    fallbacks: int
    failures: tuple[tuple[Path, str, Failure], ...]

    @property
    def is_replayed(self) -> bool:
        """Whether transitions are those of the replay: the run was in direct style."""
        return self.engine[:1] == ("recursive",)

    def share(self, row: Row) -> float:
        """Return how much of all the waiting was for `row`."""
        return row.total_s / self.total_s if self.total_s else 0.0

    def only(self, is_wanted: Callable[[Row], bool]) -> Stats:
        """Return the same with fewer rows; shares and sums are still of the whole run."""
        return attrs.evolve(self, rows=tuple(filter(is_wanted, self.rows)))

    def to_json(self) -> dict[str, object]:
        """Return all of it as JSON; times are in milliseconds."""
        longest = self.longest
        return {
            "terms": [self._row(row) for row in self.rows],
            "total_time_ms": _ms(self.elapsed_s),
            "waited_ms": _ms(self.total_s),
            "reductions": {kind.name.lower(): self.reductions[kind] for kind in Kind},
            "transitions": self.transitions,
            "transitions_of": ("replay" if self.is_replayed else "run") if self.engine else None,
            "engine": self.engine[0] if self.engine else None,
            "engine_reason": self.engine[1] if self.engine else None,
            "longest": longest
            and {
                "term": longest.term,
                "key": key_text(longest.key),
                "duration_ms": _ms(longest.elapsed_s or 0.0),
            },
            "retries": self.retries,
            "fallbacks": self.fallbacks,
            "failures": [
                {"key": key_text(key), "site": site, "kind": why.kind, "message": why.message}
                for key, site, why in self.failures
            ],
        }

    def _row(self, row: Row) -> dict[str, object]:
        return {
            "term": row.term,
            "kind": row.kind,
            "calls": row.calls,
            "total_ms": _ms(row.total_s),
            "mean_ms": _ms(row.mean_s),
            "longest_ms": _ms(row.longest_s),
            "share": round(self.share(row), 4),
            "tokens": row.tokens and {"input": row.tokens[0], "output": row.tokens[1]},
            "cost_usd": row.cost_usd,
        }


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def stats(
    calls: Sequence[Call],
    events: Sequence[Event],
    exchanges: Mapping[Path, Exchange],
    counted: Counted,
    elapsed_s: float,
    engine: tuple[str, str] | tuple[()] = (),
) -> Stats:
    """Return what a run took.

    Args:
        calls: From `calls_of`.
        events: Its macro events.
        exchanges: Its exchanges by key.
        counted: Its last state, or what else says what the machine counted.
        elapsed_s: Seconds that it took.
        engine: The engine that ran and why; empty where that was not recorded.
    """
    rows: dict[tuple[str, str], Row] = {}
    for call in calls:
        rows.setdefault((call.term, call.kind), Row(call.term, call.kind)).count(call)
    left = [event.started for event in events if event.kind == "guard"]
    waited = [call for call in calls if call.elapsed_s is not None]
    return Stats(
        tuple(sorted(rows.values(), key=lambda row: -row.total_s)),
        sum(row.total_s for row in rows.values()),
        elapsed_s,
        counted.counters,
        counted.transitions,
        engine,
        max(waited, key=lambda call: call.elapsed_s or 0.0, default=None),
        sum(1 for each in left if each),
        sum(1 for each in left if not each),
        tuple(
            (key, each.site.name, each.answer)
            for key, each in sorted(exchanges.items())
            if isinstance(each.answer, Failure)
        ),
    )


def calls_of(records: Sequence[TraceRecord], exchanges: Mapping[Path, Exchange]) -> Iterator[Call]:
    """Yield the records of a run as calls, and the exchanges that have none."""
    told = {record.key: record for record in records if record.started_s is not None}
    for record in records:
        if record.started_s is None:
            yield Call(record.key, record.term, record.kind)
    for key, each in sorted(exchanges.items()):
        known = told.get(key)
        term, kind = (known.term, known.kind) if known else (each.site.name, each.site.kind)
        yield Call(key, term, kind, each.elapsed_s, tokens_of(each.answer), cost_of(each.answer))


def render(found: Stats, width: int) -> str:
    """Return the table of terms, and the rest line by line."""
    is_priced = any(row.cost_usd is not None for row in found.rows)
    cells = [_HEAD, *(_cells(found, row) for row in found.rows)]
    if is_priced:
        costs = ["–" if row.cost_usd is None else dollars(row.cost_usd) for row in found.rows]
        cells = [(*row, cost) for row, cost in zip(cells, [_COST, *costs], strict=True)]
    lines = [fit(line, width) for line in table(cells, _NUMBERS)] if found.rows else []
    kinds = "  ".join(f"{SYMBOLS[kind]} {found.reductions[kind]:,}" for kind in Kind)
    facts = [
        ("reductions", kinds),
        ("transitions", f"{found.transitions:,}{_REPLAYED if found.is_replayed else ''}"),
        ("engine", f"{found.engine[0]} ({found.engine[1]})" if found.engine else "not recorded"),
        ("time", f"{duration(found.elapsed_s)}; all calls added up, {duration(found.total_s)}"),
    ]
    if found.longest is not None:
        call = found.longest
        took = duration(call.elapsed_s or 0.0)
        facts.append(("longest", f"{_name(call.term)} at {key_text(call.key)}, {took}"))
    if found.retries or found.fallbacks:
        guards = f"guards asked again {found.retries:,}×, and gave up {found.fallbacks:,}×"
        facts.append(("retries", guards))
    facts += [("failures", text) for text in _failures(found)]
    return "\n".join([*lines, RULE, *(fit(line, width) for line in table(facts))])


def _failures(found: Stats) -> Iterator[str]:
    for key, site, why in found.failures[:_MOST]:
        text = escaped(cut(why.message, 200))
        yield f"{escaped(site)} at {key_text(key)}: {why.kind}: {text}"
    if len(found.failures) > _MOST:
        yield f"and {len(found.failures) - _MOST:,} more"


def _cells(found: Stats, row: Row) -> tuple[str, ...]:
    times = (row.total_s, row.mean_s, row.longest_s)
    shown = [*map(duration, times), f"{found.share(row):.1%}"] if row.waited else ["–"] * 4
    tokens = [f"{count:,}" for count in row.tokens] if row.tokens else ["–"] * 2
    return (_name(row.term), row.kind, f"{row.calls:,}", *shown, *tokens)


def _name(term: str) -> str:
    return fit(escaped(term), _LONGEST_NAME)
