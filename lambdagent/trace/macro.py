"""The macro trace: a record for each model call, tool call, confirmation, route and terminate.

Source: specification 15.3 and 15.8; semantics.md §4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Exchange, Failure
from lambdagent.ir.labels import ROUND_LABELS, TERMINATE, UNSHOWN, choice_name
from lambdagent.ir.limits import usd_of
from lambdagent.machine.answers import text_of
from lambdagent.machine.state import TAGGED, Event, Path
from lambdagent.machine.text import asked_text, text_of_data, text_of_reply, text_of_value
from lambdagent.machine.values import is_pair, list_items, sketch

_EFFECTS = {"llm", "tool", "confirm"}
# A label that a router chose, and what a reply of a ReAct loop means.
_CHOICES = {"route", "action"}
# What stands beside the records.
_REMARKS = {"guard", "note"}


@attrs.frozen
class TraceRecord:
    """One line of the trace.

    Attributes:
        step: Number, from 0.
        kind: ``llm tool confirm route terminate``.
        term: Name as people know it, such as ``think`` or ``Tool:search``.
        started_s: Seconds from the start of the run; None where nothing was waited for.
        elapsed_s: Seconds until the answer.
        tokens: Model tokens read and written, as the provider counted; None if it did not.
        notes: Remarks: failed checks of a guard, reasons of a predicate.
        key: Path of the thread, and its clock when the step began.
        cost_usd: What it cost, in US dollars; None if that is not known.
    """

    step: int
    kind: str
    term: str
    input: str
    output: str
    started_s: float | None = None
    elapsed_s: float = 0.0
    tokens: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    key: Path = ()
    cost_usd: float | None = None

    def to_json(self) -> dict[str, object]:
        """Return the record as in specification 15.8."""
        row: dict[str, object] = {
            "step": self.step,
            "term": self.term,
            "kind": self.kind,
            "duration_ms": round(self.elapsed_s * 1000),
            "input": self.input,
            "output": self.output,
        }
        if self.tokens is not None:
            row["tokens"] = {"input": self.tokens[0], "output": self.tokens[1]}
        if self.cost_usd is not None:
            row["cost_usd"] = self.cost_usd
        if self.notes:
            row["notes"] = list(self.notes)
        return row


def macro_trace(
    events: Iterable[Event], exchanges: Mapping[Path, Exchange]
) -> tuple[TraceRecord, ...]:
    """Return the records of a run in canonical order, whatever its schedule was.

    Args:
        events: Macro events of the machine.
        exchanges: Answered requests by key.
    """
    records: list[TraceRecord] = []
    last: dict[Path, int] = {}
    for event in sorted(events, key=lambda event: event.key):
        thread = event.key[:-1]
        if event.kind in UNSHOWN:
            continue
        if event.kind in _REMARKS:
            _annotate(records, last.get(thread), event)
        else:
            last[thread] = len(records)
            exchange = exchanges.get((*thread, event.started))
            records.append(_record(len(records), event, exchange))
    return tuple(records)


def ends_of_steps(events: Iterable[Event]) -> list[Event]:
    """Return the events that have a record each, in the order of the records."""
    ends = [event for event in events if event.kind not in _REMARKS | UNSHOWN]
    return sorted(ends, key=lambda event: event.key)


def numbered(events: Iterable[Event]) -> dict[tuple[Path, str], int]:
    """Return the number that each step of a whole run has in its trace, by its key and name."""
    return {place_of(event): number for number, event in enumerate(ends_of_steps(events))}


def place_of(event: Event) -> tuple[Path, str]:
    """Return key and name of the step that ended with `event`."""
    return (*event.key[:-1], event.started), event.name


def watcher(
    show: Callable[[TraceRecord], None],
) -> Callable[[Event, Mapping[Path, Exchange]], None]:
    """Return what turns events into records, as they happen, and gives them to `show`."""
    shown = 0

    def watch(event: Event, exchanges: Mapping[Path, Exchange]) -> None:
        nonlocal shown
        if event.kind in _REMARKS | UNSHOWN:
            return
        show(_record(shown, event, exchanges.get((*event.key[:-1], event.started))))
        shown += 1

    return watch


def _annotate(records: list[TraceRecord], at: int | None, event: Event) -> None:
    """Add the remark `event` to the record `at`, the last of its thread; None loses it."""
    if at is None:
        return
    left = event.started
    note = f"{event.name}: {event.value}"
    if event.kind == "guard":
        note = f"guard: not valid, {left} retries left" if left else "guard: not valid, fallback"
    records[at] = attrs.evolve(records[at], notes=(*records[at].notes, note))


def _record(step: int, event: Event, exchange: Exchange | None) -> TraceRecord:
    key = (*event.key[:-1], event.started)
    if event.kind in _CHOICES:
        chosen = f"selected: {_selected(event)}"
        return TraceRecord(step, "route", event.name, "", chosen, key=key)
    output = text_of_value(event.value)
    if event.kind not in _EFFECTS or exchange is None:
        return TraceRecord(step, event.kind, event.name, output, output, key=key)
    return attrs.evolve(call_record(step, event.name, exchange), kind=event.kind, key=key)


def call_record(step: int, name: str, exchange: Exchange) -> TraceRecord:
    """Return the record of a call, which has none in the trace if the run failed by it."""
    return TraceRecord(
        step,
        exchange.site.kind,
        name,
        asked_text(exchange.site, exchange.argument),
        text_of_data(_said(exchange)),
        exchange.started_s,
        exchange.elapsed_s,
        tokens_of(exchange.answer),
        key=exchange.key,
        cost_usd=cost_of(exchange.answer),
    )


def _selected(event: Event) -> str:
    """Return which label was chosen; of a value that has none, itself: any term may be marked."""
    if type(event.value) is not tuple or event.value[0] != TAGGED:
        return sketch(event.value)
    _, labels, index, payload = event.value
    name = choice_name(labels, index)
    if labels == ROUND_LABELS and name == ROUND_LABELS[0]:
        called = [text_of_value(each[1]) for each in list_items(payload) if is_pair(each)]
        return ", ".join(called)
    return f"{name} (λx.x)" if event.kind == "action" and name == TERMINATE else name


def _said(exchange: Exchange) -> Data:
    """Return what came back: of a model's reply its text, of a person's verdict that in words."""
    if isinstance(exchange.answer, Failure):
        return exchange.answer.message
    if exchange.site.kind == "confirm":
        reason = text_of(exchange.answer or None)
        return "approved" if exchange.answer is True else f"denied: {reason}".rstrip(": ")
    return text_of_reply(exchange.answer) if exchange.site.kind == "llm" else exchange.answer


def tokens_of(answer: Data | Failure) -> tuple[int, int] | None:
    """Return the tokens that a model's answer took, input and output, if it says so."""
    usage = answer.get("usage") if isinstance(answer, Record) else None
    match usage:
        case Record():
            read, written = usage.get("input"), usage.get("output")
            if isinstance(read, int) and isinstance(written, int):
                return read, written
    return None


def cost_of(answer: Data | Failure) -> float | None:
    """Return what a model's answer cost, in US dollars, if it says so."""
    usage = answer.get("usage") if isinstance(answer, Record) else None
    usd = usage.get("usd") if isinstance(usage, Record) else None
    return usd_of(usd)


def total_cost(records: Sequence[TraceRecord]) -> float | None:
    """Return what all model calls cost, in US dollars; None if that is not known of each."""
    known = [record.cost_usd for record in records if record.kind == "llm"]
    if not known or None in known:
        return None
    return sum(cost for cost in known if cost is not None)


def total_tokens(records: Sequence[TraceRecord]) -> int | None:
    """Return the tokens of all model calls; None if some provider did not count."""
    counted = [record.tokens for record in records if record.kind == "llm"]
    if not counted or None in counted:
        return None
    return sum(sum(tokens) for tokens in counted if tokens is not None)
