"""The garbage collector while much is made that lives: during a run, and while compiling.

A machine makes many small tuples that live as long as a deep continuation does; with the usual
threshold the collector walks them over and over (on fib by Z that is half of the time). Tuples of
finished frames are freed by reference counts, so cycles are rare and may wait.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLD = 200_000
_lock = threading.Lock()
_runs = 0
_before = (0, 0, 0)


@contextmanager
def relaxed() -> Iterator[None]:
    """Collect seldom while at least one run is inside; a collector that is off stays off."""
    global _runs, _before  # noqa: PLW0603 - the collector belongs to the process
    with _lock:
        if _runs == 0:
            _before = gc.get_threshold()
            if _before[0]:
                gc.set_threshold(max(_THRESHOLD, _before[0]), *_before[1:])
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if _runs == 0:
                gc.set_threshold(*_before)
