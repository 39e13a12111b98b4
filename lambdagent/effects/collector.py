"""The garbage collector while much is made that lives: during a run, and while compiling.

A machine makes many small tuples that live as long as a deep continuation does; with the usual
threshold the collector walks them over and over (on fib by Z that is half of the time). Tuples of
finished frames are freed by reference counts, so cycles are rare and may wait.
"""

from __future__ import annotations

import gc
from contextlib import ContextDecorator

from lambdagent.effects.fork_safe_lock import ForkSafeLock

_THRESHOLD = 200_000
_lock = ForkSafeLock(holds_up_forks=True)
_runs = 0
_before = (0, 0, 0)


class _Relaxed(ContextDecorator):
    """Counts who is inside. A class, since a generator would cost 5 µs for each small file."""

    def __enter__(self) -> None:
        global _runs, _before  # noqa: PLW0603 - the collector belongs to the process
        with _lock:
            if _runs == 0:
                _before = gc.get_threshold()
                if _before[0]:
                    gc.set_threshold(max(_THRESHOLD, _before[0]), *_before[1:])
            _runs += 1

    def __exit__(self, *_error: object) -> None:
        global _runs  # noqa: PLW0603
        with _lock:
            _runs -= 1
            if _runs == 0:
                gc.set_threshold(*_before)


_RELAXED = _Relaxed()


def relaxed() -> _Relaxed:
    """Collect seldom while at least one run is inside; a collector that is off stays off."""
    return _RELAXED
