"""Where a kept run works, and where its models are.

Its commands run in the directory in which it began, and its relative paths start there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from lambdagent.api.running import Session
from lambdagent.effects.run_directory import Beginning
from lambdagent.effects.stores import Owner, owner_of
from lambdagent.errors import CheckpointError, Diagnostic, finding
from lambdagent.ir.data import Data, Record
from lambdagent.ir.limits import RunLimits
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site


def work_place(options: Mapping[str, Any]) -> str | None:
    """Return where a run works that begins with the `options` of `Session`, if that is known."""
    with suppress(FileNotFoundError):  # the working directory is gone
        return str(Path(options.get("base_dir") or "").absolute())
    return None


def owner_in(options: Mapping[str, Any], run: str) -> Owner:
    """Return whose memories `run` has, which begins with the `options` of `Session`."""
    owner: Owner = options.get("owner") or owner_of(options.get("environment") or os.environ)
    return attrs.evolve(owner, session=owner.session or run)


def base_dir(beginning: Beginning, program: Program) -> tuple[Path | None, list[Diagnostic]]:
    """Return where a run goes on working, None for the working directory, and what is odd there.

    That is where it began, wherever it is gone on with, as long as that is there.
    """
    if beginning.directory is None:
        return None, []
    if Path(beginning.directory).is_dir():
        return Path(beginning.directory), []
    if not any(map(_works_somewhere, program.sites.values())):
        return None, []
    return None, [finding("K019", path=beginning.directory)]


def _works_somewhere(site: Site) -> bool:
    return isinstance(site.static.get("command"), str) or any(_at(site, keys) for keys in _PATHS)


def at_home(
    program: Program | None,
    stored: Program,
    beginning: Beginning,
    budget: Mapping[str, Any] = MappingProxyType({}),
) -> Program:
    """Return `program` with its files named as those of `stored`, where they are the same.

    It was compiled here, and `stored` where the run works: their relative paths start elsewhere.

    Args:
        program: What goes on from now; None for `stored`, with the limits that the run has.
        stored: What is kept with the run.
        beginning: What the run began with.
        budget: Limits of a `Budget` that take the place of others.
    """
    if program is None:
        found = attrs.evolve(stored, limits=RunLimits.from_data(beginning.limits))
    else:
        sites = {**program.sites, **dict(_renamed(program, stored, beginning.directory or ""))}
        found = attrs.evolve(program, sites=sites)
    if not budget:
        return found
    limits = attrs.evolve(found.limits, budget=attrs.evolve(found.limits.budget, **budget))
    return attrs.evolve(found, limits=limits)


def _renamed(program: Program, stored: Program, home: str) -> Iterator[tuple[str, Site]]:
    for name, site in program.sites.items():
        for keys in _PATHS:
            here, there = _at(site, keys), _at(stored.sites.get(name), keys)
            if here is None or there is None:
                continue
            if os.path.realpath(here) == os.path.realpath(Path(home) / there):
                yield name, attrs.evolve(site, static=_with(site.static, keys, there))


# Where the configuration of a site has a path: of a recording, of the file of a memory.
_PATHS = (("model", "script", "recording"), ("store", "place"))


def _at(site: Site | None, keys: tuple[str, ...]) -> str | None:
    """Return the text in the configuration of `site` at `keys`, if there is one."""
    found: Data = None if site is None else site.static
    for key in keys:
        found = found.get(key) if isinstance(found, Record) else None
    return found if isinstance(found, str) else None


def _with(data: Record, keys: tuple[str, ...], text: str) -> Record:
    """Return `data` with `text` at `keys`."""
    first, *rest = keys
    inner: Any = data[first]
    return Record(data, **{first: _with(inner, tuple(rest), text) if rest else text})


def without_address(
    names: tuple[str, ...], program: Program, *, asks: bool = True, **options: Any
) -> Session:
    """Return a session of a program whose models `names` were not kept with their addresses.

    Raises:
        CheckpointError: It is to ask them.
    """
    if asks:
        sites = ", ".join(f"`{name}`" for name in names)
        raise CheckpointError(finding("K013", sites=sites))
    return Session(program, asks=False, **options)
