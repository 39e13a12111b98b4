"""Records of a run → a time axis with a bar for each step (specification 15.3).

The axis is to scale, with ticks where steps begin and end. Steps that take no time are points.
Steps of parallel branches have lines of their own, after the key of the branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from lambdagent.ir.data_text import escaped
from lambdagent.ir.exchange import key_text
from lambdagent.ir.fitting import columns, fit
from lambdagent.machine.state import Path
from lambdagent.trace.macro import TraceRecord

# Of a long run this many steps are drawn, the longest.
MOST = 60
_HEAD = "Time "
_LONGEST_NAME = 24
_NARROWEST_AXIS = 20
_GAP = 2
_UNITS = ((1.0, 1, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "µs"))


@attrs.frozen
class Bar:
    """When a step was.

    Attributes:
        start_s: Seconds from the start of the run.
        end_s: Not before `start_s`.
    """

    record: TraceRecord
    start_s: float
    end_s: float

    @property
    def name(self) -> str:
        """What the drawing calls the step."""
        return fit(escaped(self.record.term.removeprefix("Tool:")), _LONGEST_NAME)

    def to_json(self) -> dict[str, object]:
        """Return the bar as a row; times are in milliseconds."""
        record = self.record
        return {
            "step": record.step,
            "term": record.term,
            "kind": record.kind,
            "branch": list(record.key[:-1]),
            "start_ms": round(self.start_s * 1000, 3),
            "end_ms": round(self.end_s * 1000, 3),
        }


def bars(records: Iterable[TraceRecord]) -> list[Bar]:
    """Return when each of `records` was, which are in canonical order.

    A step for which nothing was waited is where the one before it in its thread ended.
    """
    clock = _Clock()
    found = []
    for record in records:
        thread = record.key[:-1]
        start_s = clock.now_s(thread) if record.started_s is None else record.started_s
        start_s = max(start_s, 0.0)
        end_s = start_s + max(record.elapsed_s, 0.0)
        clock.passed(thread, end_s)
        found.append(Bar(record, start_s, end_s))
    return found


class _Clock:
    """How late it is in each thread, as its steps are told in canonical order."""

    def __init__(self) -> None:
        self._now_s: dict[Path, float] = {(): 0.0}
        self._forked_s: dict[Path, float] = {}

    def now_s(self, thread: Path) -> float:
        """Return how late it is in `thread`; a branch begins when its fork did."""
        for length in range(2, len(thread) + 1, 2):
            outer, fork, inner = thread[: length - 2], thread[: length - 1], thread[:length]
            began_s = self._forked_s.setdefault(fork, self._now_s[outer])
            self._now_s.setdefault(inner, began_s)
        return self._now_s[thread]

    def passed(self, thread: Path, at_s: float) -> None:
        """A step of `thread` ended; those who wait for the thread go on after that."""
        self.now_s(thread)
        for length in range(len(thread), -1, -2):
            outer = thread[:length]
            self._now_s[outer] = max(self._now_s[outer], at_s)


def render(found: Sequence[Bar], width: int) -> str:
    """Return the drawing of `found`, at most `width` columns wide."""
    if not found:
        return "no steps"
    drawn = _longest(found)
    gutter = max((columns(_branch(bar)) for bar in drawn), default=0)
    gutter += 1 if gutter else 0
    scale = _Scale(drawn, max(width - gutter, _NARROWEST_AXIS))
    margin = " " * gutter
    lines = [margin + line for line in scale.head()]
    left_out: list[Bar] = []
    kept = {id(bar) for bar in drawn}
    for bar in found:
        if id(bar) in kept:
            lines += _left_out(left_out, margin)
            left_out = []
            lines.append(_branch(bar).ljust(gutter) + scale.line(bar))
        else:
            left_out.append(bar)
    lines += _left_out(left_out, margin)
    if len(drawn) < len(found):
        lines.append(f"{len(drawn):,} of {len(found):,} steps are drawn: those that took longest")
    return "\n".join(line.rstrip() for line in lines)


def _longest(found: Sequence[Bar]) -> list[Bar]:
    """Return at most `MOST` bars, in the order of `found`."""
    if len(found) <= MOST:
        return list(found)
    by_length = sorted(range(len(found)), key=lambda i: found[i].start_s - found[i].end_s)
    return [found[i] for i in sorted(by_length[:MOST])]


def _branch(bar: Bar) -> str:
    return key_text(bar.record.key[:-1]) if len(bar.record.key) > 1 else ""


def _left_out(some: Sequence[Bar], margin: str) -> Iterator[str]:
    if some:
        total_s = sum(bar.end_s - bar.start_s for bar in some)
        steps = "step" if len(some) == 1 else "steps"
        yield f"{margin}⋮ {len(some):,} {steps}, {duration(total_s)}"


class _Scale:
    """Where the seconds of a run stand in a line."""

    def __init__(self, drawn: Sequence[Bar], width: int) -> None:
        self._end_s = max(bar.end_s for bar in drawn)
        # What begins at the end has its name behind the axis, as has the end its label.
        names = max(columns(bar.name) for bar in drawn)
        behind = max(names, len(duration(self._end_s))) + _GAP
        self._width = width
        self._last = max(width - behind, width // 2)
        self._labels = dict(self._ticks(drawn))

    def _column(self, at_s: float) -> int:
        return round(self._last * at_s / self._end_s) if self._end_s > 0 else 0

    def _ticks(self, drawn: Sequence[Bar]) -> Iterator[tuple[int, str]]:
        """Yield columns and labels of the start, of as many ends as there is room for, and all."""
        unit_s = self._end_s
        last = (self._last, duration(self._end_s, unit_s))
        free = 0
        for at_s in sorted({0.0, *(at_s for bar in drawn for at_s in (bar.start_s, bar.end_s))}):
            column, label = self._column(at_s), duration(at_s, unit_s)
            if column >= free and column + len(label) + _GAP <= last[0]:
                free = column + len(label) + _GAP
                yield column, label
        if self._end_s > 0:
            yield last

    def head(self) -> list[str]:
        """Return the axis, the labels of its ticks, and the ticks."""
        end = max(self._last, len(_HEAD) + 1)
        labels = ""
        for column, label in self._labels.items():
            labels = labels.ljust(column) + label
        return [_HEAD + "─" * (end - len(_HEAD)) + "→", labels, self._grid("", 0)]

    def _grid(self, line: str, used: int) -> str:
        """Return `line`, which takes `used` columns, with the ticks behind it."""
        for column in self._labels:
            if column >= used + bool(used):
                line += " " * (column - used) + "│"
                used = column + 1
        return line

    def line(self, bar: Bar) -> str:
        """Return the bar of one step, with its name in it, behind it or before it."""
        start, end = self._column(bar.start_s), self._column(bar.end_s)
        name, room = bar.name, end - start - 1
        size = columns(name)
        if size + 2 <= room:
            drawn = f"├─{name}{'─' * (room - size - 1)}┤"
            before = start
        elif bar.end_s <= bar.start_s and start + 2 + size <= self._width:
            drawn, before = f"├─{name}", start
        else:
            drawn = f"├{'─' * room}┤" if room >= 0 else "├"
            if start + len(drawn) + 1 + size <= self._width:
                drawn, before = f"{drawn} {name}", start
            else:
                fitted = fit(name, start - 1)
                drawn = f"{fitted} {drawn}" if fitted else drawn
                before = start - (columns(fitted) + 1 if fitted else 0)
        return self._grid(" " * before + drawn, before + columns(drawn))


def duration(seconds: float, like_s: float | None = None) -> str:
    """Return seconds as people write them, in the unit that fits `like_s`, by default themselves.

    >>> duration(2.84), duration(0.0312), duration(0.0005, 7.0), duration(0.0)
    ('2.8s', '31.2ms', '0.0s', '0s')
    """
    if not seconds:
        return "0s"
    like_s = seconds if like_s is None else like_s
    times, unit = next((times, unit) for least, times, unit in _UNITS if like_s >= least)
    return f"{seconds * times:,.1f}{unit}"
