"""A run again from what its journal says, without asking anybody anything."""

from __future__ import annotations

from lambdagent.effects.execution import SLICE, Execution
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import Recall, Told
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Machine, Path


class _Replay(Recall):
    """Answers from a journal and keeps nothing."""

    begun_s = 0.0
    machine: Machine | None = None
    place = None
    slice = None
    syncs = False

    def intent(self, request: Request, at_s: float) -> str | None:
        """Keep nothing: nobody is asked."""

    def result(self, key: Path, answer: Data | Failure, at_s: float, took_s: float) -> None:
        """Keep nothing."""

    def commit(self) -> None:
        """Keep nothing."""

    def is_due(self, _machine: Machine) -> bool:
        """Keep nothing."""
        return False

    def save(self, machine: Machine) -> None:
        """Keep nothing."""

    def leave(self, machine: Machine) -> None:
        """Keep nothing."""


def replay(
    linked: Linked,
    machine: Machine,
    told: Told,
    most: int | None = None,
    spare: int | None = None,
) -> Execution:
    """Return the run from `machine` to where its journal ends.

    Args:
        linked: The program.
        machine: A state that the journal leads on from.
        told: The journal.
        most: Most transitions; a run that was stopped at work has no end of its own.
        spare: Transitions after which it ends too, once the journal says nothing more and does not
            say that the run has ended.

    Raises:
        CheckpointError: The program asks something else than the journal says.
    """
    recall = _Replay(told)
    execution = Execution(linked, machine, keeper=recall)
    is_patient = spare is None or told.outcome is not None
    moving = True
    while moving and (most is None or execution.machine.transitions < most):
        if recall.has_told_all and not is_patient:
            assert spare is not None
            last = execution.machine.transitions + spare
            most, is_patient = last if most is None else min(most, last), True
        execution.advance(SLICE if most is None else most - execution.machine.transitions)
        execution.new_requests(0.0)
        moving = execution.can_move
    return execution
