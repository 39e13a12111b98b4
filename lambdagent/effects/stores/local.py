"""A memory in this process, for all runs in it; it is gone with the process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import attrs

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.protocol import Entry


@attrs.frozen
class _Row:
    value: Any
    written: float
    expires: float | None

    def lives(self, now: float) -> bool:
        return self.expires is None or now < self.expires


class Shelf:
    """What is kept: the oldest first."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.rows: dict[str, _Row] = {}
        self.lock = ForkSafeLock()


class LocalStore:
    """A `MemoryStore` that is a dict; safe to use from many threads.

    Attributes:
        instant: It never waits, so it may be asked on the thread of the driver.
    """

    instant = True

    def __init__(
        self,
        size: int | None = None,
        *,
        shelf: Shelf | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep entries.

        Args:
            size: Most entries kept, None for any number.
            shelf: Where they are kept; on one of its own by default.
            clock: Seconds.
        """
        self._size = size
        self._clock = clock
        self._shelf = shelf or Shelf()

    def get(self, key: str) -> Any | None:
        """Return the value of `key`, or None."""
        with self._shelf.lock:
            row = self._shelf.rows.get(key)
        return row.value if row is not None and row.lives(self._clock()) else None

    def put(self, key: str, value: Any, ttl: float = 0) -> None:
        """Keep `value` for `ttl` seconds; 0 means for ever."""
        now = self._clock()
        with self._shelf.lock:
            rows = {
                name: row
                for name, row in self._shelf.rows.items()
                if name != key and row.lives(now)
            }
            rows[key] = _Row(value, now, now + ttl if ttl else None)
            while self._size is not None and len(rows) > self._size:
                del rows[next(iter(rows))]
            self._shelf.rows = rows

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        """Return the `n` newest entries, oldest first."""
        return [(each.key, each.value) for each in self.list_aged(n)]

    def list_aged(self, n: int) -> list[Entry]:
        """Return the `n` newest entries, oldest first, with their ages."""
        now = self._clock()
        with self._shelf.lock:
            living = [(key, row) for key, row in self._shelf.rows.items() if row.lives(now)]
        return [
            Entry(key, row.value, max(0.0, now - row.written))
            for key, row in living[len(living) - n if n < len(living) else 0 :]
        ]

    def clear(self) -> None:
        """Forget everything."""
        with self._shelf.lock:
            self._shelf.rows.clear()
