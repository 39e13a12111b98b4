"""Classes that somebody else wrote, found by their paths in agent files, and made."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from lambdagent.messages import phrase

# What the code of others raises that fails: it may end no process of ours, as people may.
FAULTS: Final = (Exception, SystemExit)


class NoClassError(Exception):
    """There is no class at a path."""


class UnmadeError(Exception):
    """A class cannot be made."""


def class_at(path: str, base_dir: Path | None) -> Any:
    """Return the class at `path`.

    Args:
        path: ``package.module:Class``, or ``package.module.Class``.
        base_dir: Where modules are found that are installed nowhere; the working directory if
            None.

    Raises:
        NoClassError: There is none; the message says why.
    """
    module, colon, name = path.partition(":")
    if not colon:
        module, _, name = path.rpartition(".")
    if not module or not name:
        raise NoClassError(phrase("`{path}` is no path of a class", path=path))
    try:
        with _importing_from(base_dir or Path.cwd()):
            found: Any = import_module(module)
    except FAULTS as error:
        what = phrase("`{module}` cannot be imported: {error}", module=module, error=_told(error))
        raise NoClassError(what) from error
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        what = phrase("`{module}` has no class `{name}`", module=module, name=name)
        raise NoClassError(what)
    return found


def made(
    path: str, kind: Any, settings: Mapping[str, Any], offered: Mapping[str, Any]
) -> tuple[Any, set[str]]:
    """Return a new object of `kind`, and the names of what it took of `offered`.

    Args:
        path: Where the class was found.
        kind: The class.
        settings: Keyword arguments.
        offered: More of them, for constructors that name them.

    Raises:
        UnmadeError: The constructor raised; the message says what.
    """
    taken = {name for name in offered if name not in settings} & _parameters(kind)
    try:
        return kind(**{name: offered[name] for name in taken}, **settings), taken
    except FAULTS as error:
        what = phrase("`{path}` cannot be made: {error}", path=path, error=_told(error))
        raise UnmadeError(what) from error


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


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
