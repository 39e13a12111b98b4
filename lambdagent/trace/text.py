"""The macro trace as lines of text (specification 15.3)."""

from collections.abc import Sequence

from lambdagent.ir.data_text import escaped, quoted
from lambdagent.ir.limits import dollars
from lambdagent.trace.macro import TraceRecord, total_cost, total_tokens

_SHOWN = 60
RULE = "─" * 40


def render(records: Sequence[TraceRecord], elapsed_s: float) -> str:
    """Return one β-line a record, and the total."""
    return "\n".join([*map(render_record, records), RULE, render_total(records, elapsed_s)])


def render_record(record: TraceRecord) -> str:
    """Return the β-line of one record, and a line for each note."""
    head = (
        f"β[{record.step}]".ljust(6)
        + escaped(record.term).ljust(14)
        + f"({record.elapsed_s:.1f}s)  "
    )
    notes = "".join(f"\n      ↳ {escaped(note)}" for note in record.notes)
    return head + _body(record) + notes


def _body(record: TraceRecord) -> str:
    match record.kind:
        case "route":
            return f"→ {escaped(record.output)}"
        case "terminate":
            return "→ (identity: base case reached)"
        case "tool":
            return f"→ {_quoted(record.output)}"
    return f"{_quoted(record.input)} → {_quoted(record.output)}"


def _quoted(text: str) -> str:
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return quoted(text)


def render_total(records: Sequence[TraceRecord], elapsed_s: float) -> str:
    """Return the line of totals: records printed, seconds, known tokens and cost."""
    tokens, cost = total_tokens(records), total_cost(records)
    counted = "" if tokens is None else f", ~{tokens} tokens"
    if cost is not None:
        counted += f", {dollars(cost)}"
    return f"Total: {count_of(len(records), 'β-reduction')}, {elapsed_s:.1f}s{counted}"


def count_of(number: int, noun: str) -> str:
    """Return how many there are of something.

    >>> count_of(1, "step"), count_of(1200, "step")
    ('1 step', '1,200 steps')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
