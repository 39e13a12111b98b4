"""How long something takes, and how a measurement is printed."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the report."""

    name: str
    value: str
    baseline: str
    ratio: str
    target: str


class Beside(NamedTuple):
    """Seconds of something and of its baseline."""

    ours: float
    theirs: float


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Return the shortest CPU time of `repeats` runs of `work`, in seconds."""
    times = []
    for _ in range(repeats):
        gc.collect()
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def beside(rounds: int, work: Callable[[], float], baseline: Callable[[], float]) -> Beside:
    """Return the shortest of the seconds that each of two measurements returned, taken by turns.

    The host is faster at some times than at others; by turns both meet the same times.
    """
    taken = [(work(), baseline()) for _ in range(rounds)]
    ours, theirs = (min(column) for column in zip(*taken, strict=True))
    return Beside(ours, theirs)


def table(title: str, rows: list[Row]) -> str:
    """Return `rows` as a table under `title`."""
    head = Row("work", "measured", "baseline", "ratio", "target")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
    return "\n".join([f"== {title}", *lines])
