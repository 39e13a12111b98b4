"""Memory stores of a class that somebody else wrote, found by its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lambdagent.effects.classes import NoClassError, UnmadeError, class_at, made
from lambdagent.effects.protocol import MemoryStore, StoreError
from lambdagent.messages import phrase

_METHODS: Final = ("get", "put", "list_recent", "clear")
_FORM: Final = phrase("write `customStore: package.module:Class`, and check that it is installed")


def make_store(
    path: str, settings: Mapping[str, Any], offered: Mapping[str, Any], base_dir: Path | None
) -> tuple[MemoryStore, set[str]]:
    """Return a new store of the class at `path`, and the names of what it took of `offered`.

    Args:
        path: ``package.module:Class``, or ``package.module.Class``.
        settings: Keyword arguments.
        offered: More of them, for constructors that name them.
        base_dir: Where modules are found that are installed nowhere; the working directory if
            None.

    Raises:
        StoreError: There is no such class, or it cannot be made, or is no store.
    """
    try:
        store, taken = made(path, class_at(path, base_dir), settings, offered)
    except NoClassError as error:
        raise StoreError(error.args[0], _FORM) from error
    except UnmadeError as error:
        hint = phrase("check what it needs, and `memory.settings`, which are its keywords")
        raise StoreError(error.args[0], hint) from error
    missing = [name for name in _METHODS if not callable(getattr(store, name, None))]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        what = phrase("`{path}` has no {names}", path=path, names=names)
        raise StoreError(what, phrase("write the methods of `lambdagent.MemoryStore`"))
    return store, taken
