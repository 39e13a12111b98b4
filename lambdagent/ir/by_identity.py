"""What goes with a term, by which term it is: terms that say the same are equal."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_V = TypeVar("_V")


class ByIdentity(Generic[_V]):
    """A value for each of some objects, as long as the object is in use."""

    def __init__(self, forget: Callable[[_V], object] | None = None) -> None:
        """Begin without any; `forget` gets the value of an object that is gone, on any thread."""
        self._forget = forget
        self._entries: dict[int, tuple[weakref.ref[Any], _V]] = {}

    def get(self, owner: object) -> _V | None:
        """Return the value of `owner`, if it has one."""
        entry = self._entries.get(id(owner))
        return entry[1] if entry is not None and entry[0]() is owner else None

    def put(self, owner: object, value: _V) -> None:
        """Keep `value` for `owner`, instead of the one before."""
        number, entries, forget = id(owner), self._entries, self._forget
        # When the interpreter ends, modules lose their names before the last objects go.
        is_finalizing = sys.is_finalizing

        def gone(_: object) -> None:
            entry = entries.pop(number, None)
            if entry is not None and forget is not None and not is_finalizing():
                forget(entry[1])

        entries[number] = weakref.ref(owner, gone), value
