"""What several use at once, such as a connection: made for the first, closed after the last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from lambdagent.effects.fork_safe_lock import ForkSafeLock


class _Closable(Protocol):
    def close(self) -> None: ...


K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=_Closable)


class Leases(Generic[K, T]):
    """Things by name, each with the number of those who use it. Safe to share."""

    def __init__(self, make: Callable[[K], T]) -> None:
        """Make what is not there with `make`."""
        self._make = make
        self._lock = ForkSafeLock()
        self._held: dict[K, tuple[T, int]] = {}

    def take(self, name: K) -> T:
        """Return what has `name`; whoever takes it gives it back once."""
        with self._lock:
            thing, users = self._held.get(name) or (self._make(name), 0)
            self._held[name] = thing, users + 1
            return thing

    def give_back(self, name: K) -> None:
        """Use it no more."""
        with self._lock:
            thing, users = self._held.pop(name)
            if users > 1:
                self._held[name] = thing, users - 1
                return
        thing.close()
