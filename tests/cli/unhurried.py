"""Work that waits, at its first step, until the line about it is there, on any host."""

import time

from lambdagent.cli.progress import ProgressLine
from tests.cli.command import PATIENCE_S

_at = ProgressLine.at


def at(line: ProgressLine, number: int, length: int | None) -> None:
    """Be at a transition, as `ProgressLine.at`; but not before the line is there."""
    _at(line, number, length)
    end_s = time.monotonic() + PATIENCE_S
    while line._timer.is_alive() and time.monotonic() < end_s:
        time.sleep(0.01)
    if line._live is not None and number:
        line._live.refresh()


def patch() -> None:
    """Have this process work so."""
    ProgressLine.at = at  # type: ignore[method-assign]
