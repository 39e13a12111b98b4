"""Memory stores of a class that somebody else wrote, found by its path."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

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
    kind = _class_at(path, base_dir)
    taken = {name for name in offered if name not in settings} & _parameters(kind)
    try:
        store = kind(**{name: offered[name] for name in taken}, **settings)
    except Exception as error:
        what = phrase("`{path}` cannot be made: {error}", path=path, error=_told(error))
        hint = phrase("check what it needs, and `memory.settings`, which are its keywords")
        raise StoreError(what, hint) from error
    missing = [name for name in _METHODS if not callable(getattr(store, name, None))]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        what = phrase("`{path}` has no {names}", path=path, names=names)
        raise StoreError(what, phrase("write the methods of `lambdagent.MemoryStore`"))
    return store, taken


def _class_at(path: str, base_dir: Path | None) -> Any:
    module, colon, name = path.partition(":")
    if not colon:
        module, _, name = path.rpartition(".")
    if not module or not name:
        raise StoreError(phrase("`{path}` is no path of a class", path=path), _FORM)
    try:
        with _importing_from(base_dir or Path.cwd()):
            found: Any = import_module(module)
    except Exception as error:  # the module is foreign code
        what = phrase("`{module}` cannot be imported: {error}", module=module, error=_told(error))
        raise StoreError(what, _FORM) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        what = phrase("`{module}` has no class `{name}`", module=module, name=name)
        raise StoreError(what, _FORM)
    return found


@contextmanager
def _importing_from(directory: Path) -> Iterator[None]:
    """Have modules in `directory` be found, too, after those that are installed."""
    entry = str(directory)
    known = entry in sys.path
    if not known:
        sys.path.append(entry)
    try:
        yield
    finally:
        if not known:
            sys.path.remove(entry)


def _parameters(kind: Any) -> set[str]:
    try:
        found = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # a class that is not written in Python
        return set()
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return {each.name for each in found if each.kind in named}


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
