"""Many threads by path, of which a few differ from one state to the next.

A state shares with the one before it all threads but those that moved: a step costs the square
root of the number of threads, and so does finding the lowest one that can move. A few threads are
a plain dictionary, copied at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from heapq import merge
from math import isqrt
from operator import itemgetter

import attrs

from lambdagent.machine.state import Eval, Path, Return, Suspend, Thread

# Threads that are not worth sharing.
_FEW = 64

MOVING = frozenset({Eval, Return})


def editable(threads: Mapping[Path, Thread]) -> MutableMapping[Path, Thread]:
    """Return a copy of `threads` to be changed, and then given to `shared`."""
    if type(threads) is _Crowd:
        return _Edited(threads.base, dict(threads.changed))
    return dict(threads) if len(threads) <= _FEW else _Edited(_Base(threads), {})


def shared(threads: MutableMapping[Path, Thread]) -> Mapping[Path, Thread]:
    """Return the threads of a state from a copy that nobody changes any more."""
    if type(threads) is not _Edited:
        return threads
    if len(threads.changed) <= 2 * isqrt(len(threads.base.threads)):
        return _Crowd(threads.base, threads.changed)
    whole = dict(threads.items())
    return whole if len(whole) <= _FEW else _Crowd(_Base(whole), {})


def in_order(threads: Mapping[Path, Thread]) -> Iterator[Path]:
    """Yield the paths of all threads, lowest first."""
    if type(threads) is _Crowd:
        return threads.ordered(threads.base.paths, _paths)
    return iter(_paths(threads.values()))


def moving(threads: Mapping[Path, Thread]) -> Iterator[Path]:
    """Yield the paths of the threads that can move, lowest first."""
    if type(threads) is _Crowd:
        return threads.ordered(threads.base.moving, _moving)
    return iter(_moving(threads.values()))


def first_moving(threads: Mapping[Path, Thread]) -> Path | None:
    """Return the first path that `moving` yields, None if there is none."""
    if type(threads) is not _Crowd:
        return min((p for p, each in threads.items() if type(each.state) in MOVING), default=None)
    changed = threads.changed
    resting = next((path for path in threads.base.moving if path not in changed), None)
    awake = min((t.path for t in threads.moved() if type(t.state) in MOVING), default=None)
    return awake if resting is None else resting if awake is None else min(resting, awake)


def is_alone(threads: Mapping[Path, Thread]) -> bool:
    """Whether there is but one thread; `len` takes longer where there are many."""
    return type(threads) is dict and len(threads) == 1


def asking(threads: Mapping[Path, Thread]) -> Iterable[tuple[Path, Suspend]]:
    """Return what the world is asked, by key, lowest first."""
    if type(threads) is _Crowd:
        changed = threads.changed
        resting = (asked for asked in threads.base.asking if asked[0][:-1] not in changed)
        return merge(resting, _asking(threads.moved()))
    return _asking(threads.values())


def _paths(threads: Iterable[Thread]) -> list[Path]:
    return sorted(thread.path for thread in threads)


def _moving(threads: Iterable[Thread]) -> list[Path]:
    return sorted(thread.path for thread in threads if type(thread.state) in MOVING)


def _asking(threads: Iterable[Thread]) -> list[tuple[Path, Suspend]]:
    found = [((*t.path, t.clock), t.state) for t in threads if type(t.state) is Suspend]
    return sorted(found, key=itemgetter(0)) if len(found) > 1 else found


@attrs.frozen(eq=False, slots=False)
class _Base:
    """Threads that many states share, and the orders in which they are asked for."""

    threads: Mapping[Path, Thread]

    @cached_property
    def paths(self) -> list[Path]:
        return _paths(self.threads.values())

    @cached_property
    def moving(self) -> list[Path]:
        return _moving(self.threads.values())

    @cached_property
    def asking(self) -> list[tuple[Path, Suspend]]:
        return _asking(self.threads.values())


@attrs.frozen(eq=False)
class _Overlaid:
    """The threads of `base` but for those in `changed`; None is there for what has gone."""

    base: _Base
    changed: dict[Path, Thread | None]

    def __getitem__(self, path: Path) -> Thread:
        thread = self.changed[path] if path in self.changed else self.base.threads[path]
        if thread is None:
            raise KeyError(path)
        return thread

    def __iter__(self) -> Iterator[Path]:
        changed = self.changed
        yield from (path for path in self.base.threads if changed.get(path, self) is not None)
        base = self.base.threads
        yield from (path for path, each in changed.items() if each and path not in base)

    def __len__(self) -> int:
        base = self.base.threads
        gained = sum((each is not None) - (path in base) for path, each in self.changed.items())
        return len(base) + gained


@attrs.frozen(eq=False)
class _Crowd(_Overlaid, Mapping[Path, Thread]):
    """The threads of a state."""

    def moved(self) -> Iterator[Thread]:
        return (thread for thread in self.changed.values() if thread is not None)

    def ordered(
        self, base: list[Path], own: Callable[[Iterable[Thread]], list[Path]]
    ) -> Iterator[Path]:
        """Yield what is left of `base`, and what is `own`, in one order."""
        changed = self.changed
        return merge((path for path in base if path not in changed), own(self.moved()))


@attrs.frozen(eq=False)
class _Edited(_Overlaid, MutableMapping[Path, Thread]):
    """The threads of a state that is being made."""

    def __setitem__(self, path: Path, thread: Thread) -> None:
        self.changed[path] = thread

    def __delitem__(self, path: Path) -> None:
        self.changed[path] = None
