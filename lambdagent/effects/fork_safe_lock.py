"""A lock that the child of a fork can take, whoever held it in the parent.

The thread that held it is not in the child, so nobody would ever let go of it there. What it
guards must be whole between any two instructions, for the child sees it as it was at the fork; or
the fork waits for it.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final

_locks: Final[weakref.WeakSet[ForkSafeLock]] = weakref.WeakSet()
_taken: Final[list[ForkSafeLock]] = []


class ForkSafeLock:
    """A reentrant lock, for ``with``.

    Attributes:
        holds_up_forks: Whether a fork waits until nobody holds it. Who holds such a lock may take
            no other one.
    """

    def __init__(self, *, holds_up_forks: bool = False) -> None:
        """Be held by nobody."""
        self.holds_up_forks = holds_up_forks
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def let_go(self) -> None:
        """Be held by nobody again, in a process in which no other thread is."""
        self._lock = threading.RLock()


def _before_fork() -> None:
    for lock in [each for each in _locks if each.holds_up_forks]:
        lock.__enter__()
        _taken.append(lock)


def _in_parent() -> None:
    while _taken:
        _taken.pop().__exit__()


def _in_child() -> None:
    _taken.clear()
    for lock in _locks:
        lock.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
