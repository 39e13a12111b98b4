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
    return isinstance(site.static.get("command"), str) or _recording(site) is not None


def at_home(
    program: Program | None,
    stored: Program,
    beginning: Beginning,
    budget: Mapping[str, Any] = MappingProxyType({}),
) -> Program:
    """Return `program` with its recordings named as those of `stored`, where they are the same.

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
        here, there = _recording(site), _recording(stored.sites.get(name))
        if here is None or there is None:
            continue
        if os.path.realpath(here) == os.path.realpath(Path(home) / there):
            yield name, _with_recording(site, there)


def _recording(site: Site | None) -> str | None:
    """Return the path of the recording that the model of `site` plays back, if it does."""
    found: Data = None if site is None else site.static
    for key in ("model", "script", "recording"):
        found = found.get(key) if isinstance(found, Record) else None
    return found if isinstance(found, str) else None


def _with_recording(site: Site, path: str) -> Site:
    model: Any = site.static["model"]
    script = Record(model["script"], recording=path)
    return attrs.evolve(site, static=Record(site.static, model=Record(model, script=script)))


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
