"""Where a run stood when it was stopped: in the middle of its work, or waiting.

    {"engine": "cek", "engine_reason": …, "transitions": 1000, "reductions": {"beta": …},
     "threads": 1, "moving": 1}
    {"engine": "recursive", "engine_reason": …}

Direct style makes no transitions, so nothing is known there but the requests.
"""

from __future__ import annotations

from typing import Final

import attrs

from lambdagent.effects.execution import Execution
from lambdagent.effects.journal import Told
from lambdagent.effects.replay import replay
from lambdagent.effects.run_directory import RunDirectory
from lambdagent.effects.states import last_state
from lambdagent.errors import CheckpointError
from lambdagent.ir.data import Data, Record
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Kind, Machine
from lambdagent.machine.step import runnable
from lambdagent.messages import phrase

# What runs are on disk with.
KEPT_BY: Final = Choice("cek", "only the states of cek can be kept on disk")

# Transitions after the last that is told of a run that was killed; it may have no end of its own.
_SPARE = 1_000_000

_KINDS = [kind.name.lower() for kind in Kind]


@attrs.frozen
class Stop:
    """How far the machine had come.

    Attributes:
        counters: Reductions, in the order of `Kind`.
        threads: How many threads there were.
        moving: How many of them could move.
    """

    transitions: int
    counters: tuple[int, ...]
    threads: int
    moving: int

    @property
    def goal(self) -> int | None:
        """How many transitions lead there from the start, in whatever order; None if none do.

        Where several threads were on their way, how far each had come depends on the order.
        """
        return self.transitions if self.threads == 1 or not self.moving else None


@attrs.frozen
class Standing:
    """Where a run stood that has no end.

    Attributes:
        engine: The engine that ran, and why.
        stop: How far it had come; None in direct style.
    """

    engine: tuple[str, str]
    stop: Stop | None

    def to_json(self) -> dict[str, object]:
        """Return it as a recording has it."""
        engine, reason = self.engine
        row: dict[str, object] = {"engine": engine, "engine_reason": reason}
        if self.stop is not None:
            row |= {
                "transitions": self.stop.transitions,
                "reductions": dict(zip(_KINDS, self.stop.counters, strict=True)),
                "threads": self.stop.threads,
                "moving": self.stop.moving,
            }
        return row


def stop_of(machine: Machine) -> Stop:
    """Return how far `machine` has come."""
    moving = len(runnable(machine))
    return Stop(machine.transitions, tuple(machine.counters), len(machine.threads), moving)


def standing_of(execution: Execution) -> Standing | None:
    """Return where `execution` stands; None at its end."""
    if execution.finished:
        return None
    engine, reason = execution.choice
    stop = None if execution.is_direct else stop_of(execution.machine)
    return Standing((engine, reason), stop)


def kept_standing(directory: RunDirectory, linked: Linked, told: Told) -> Standing | None:
    """Return where a kept run stood last, as far as its states say; None if they do not.

    The journal is enough for all else, so states that are no use are not told of.
    """
    if told.outcome is not None:
        return None
    run = directory.beginning().id
    try:
        machine = last_state(directory.states, linked, told.end, run=run)
    except CheckpointError:
        return None
    return None if machine is None else Standing(KEPT_BY, stop_of(machine))


def again(execution: Execution, first: Machine, told: Told) -> Execution:
    """Return the whole run that `execution` is the rest of, from `first` to where it stands."""
    stop = stop_of(execution.machine)
    return replay(execution.linked, first, told, stop.goal, _SPARE)


def again_from(directory: RunDirectory, linked: Linked, first: Machine, told: Told) -> Execution:
    """Return a kept run from its `first` state to where it is known to have stood last."""
    standing = kept_standing(directory, linked, told)
    stop = None if standing is None else standing.stop
    return replay(linked, first, told, None if stop is None else stop.goal, _SPARE)


def read_standing(data: Data) -> Standing:
    """Return what `Standing.to_json` wrote.

    Raises:
        ValueError: `data` is nothing of that kind.
    """
    if isinstance(data, Record):
        engine, reason = data.get("engine"), data.get("engine_reason")
        if isinstance(engine, str) and isinstance(reason, str):
            if engine == "recursive":
                return Standing((engine, reason), None)
            return Standing((engine, reason), _read_stop(data))
    raise _unknown()


def _read_stop(data: Record) -> Stop:
    counted = data.get("reductions")
    reductions = counted if isinstance(counted, Record) else Record()
    return Stop(
        _count(data.get("transitions")),
        tuple(_count(reductions.get(name)) for name in _KINDS),
        _count(data.get("threads")),
        _count(data.get("moving")),
    )


def _count(value: Data) -> int:
    if type(value) is not int or value < 0:
        raise _unknown()
    return value


def _unknown() -> ValueError:
    return ValueError(phrase("`stopped` does not say where it stood"))
