"""Runs that are kept on disk, moved by hand: without threads, clocks and handlers."""

from collections.abc import Callable
from pathlib import Path

import attrs

from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import Told, create_journal, read_journal
from lambdagent.effects.keeper import Keeper
from lambdagent.effects.narrator import Narrator
from lambdagent.effects.replay import replay
from lambdagent.effects.run_directory import Beginning, RunDirectory
from lambdagent.effects.run_events import RunEvent
from lambdagent.ir.data import Data
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Machine
from lambdagent.machine.state import Path as Key
from lambdagent.machine.step import start
from lambdagent.machine.values import project
from tests.laws.observe import Answer, Oracle, Seen, _call, seen

# Transitions between two chances to save: few, so that short programs are saved often.
SLICE = 5

NAME = "law"


class KilledError(BaseException):
    """Stands for the end of a process: nothing runs after it."""


@attrs.define(eq=False)
class Kept:
    """One run, and who was asked by the processes that moved it.

    Attributes:
        calls: Keys, in order; those of one process are one list.
        tell: Told what happens, if somebody listens.
    """

    folder: Path
    linked: Linked
    value: Data
    oracle: Oracle
    calls: list[list[Key]] = attrs.field(factory=list)
    tell: Callable[[RunEvent], object] | None = None

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.folder)

    @property
    def told(self) -> Told:
        return read_journal(self.directory.journal)

    def begin(self) -> "Kept":
        self.folder.mkdir(parents=True, exist_ok=True)
        create_journal(self.directory.journal)
        return self

    def go_on(
        self, *, autosave: int = 0, die_before: int | None = None, saves: bool = True
    ) -> Machine:
        """Move the run to its end as a process of its own would.

        Args:
            autosave: As for a run.
            die_before: The number of the answer that does not come any more.
            saves: Whether the end is saved.

        Raises:
            KilledError: It died.
        """
        calls: list[Key] = []
        self.calls.append(calls)
        keeper = Keeper(
            self.directory,
            self.linked,
            Beginning(agent="a", digest="", input=None, began=0.0, autosave=autosave, id=NAME),
            recalled=lambda *_: None,
            doubt=lambda _: None,
            fsync=False,
        )
        try:
            kept = keeper.machine if self.tell is None else None
            machine = start(self.linked, self.value) if kept is None else kept
            execution = Execution(self.linked, machine, keeper=keeper)
            if self.tell is not None:
                execution.narrator = Narrator(
                    self.tell, run=NAME, agent="a", wants_tokens=False, resumed=len(self.calls) > 1
                )
            self._move(execution, calls, die_before)
            if saves:
                keeper.save(execution.machine)
        finally:
            keeper.close()
        return execution.machine

    def _move(self, execution: Execution, calls: list[Key], die_before: int | None) -> None:
        waiting: list[Request] = []
        while True:
            execution.advance(SLICE)
            if execution.is_due:
                execution.save()
            waiting += execution.new_requests(0.0)
            execution.commit()
            if not waiting and not execution.can_move:
                return
            # Answers come one by one, the newest first: no order is relied on.
            if waiting and not execution.can_move:
                request = waiting.pop()
                calls.append(request.key)
                if len(calls) - 1 == die_before:
                    raise KilledError
                execution.complete(request, self.answer(request), 0.0)

    def answer(self, request: Request) -> Answer:
        return self.oracle(request.key, request.site.name, project(request.argument))

    def history(self) -> Execution:
        """The run again from its journal alone."""
        return replay(self.linked, start(self.linked, self.value), self.told)

    def seen(self, machine: Machine) -> Seen:
        """What the run came to, its canonical log taken from the journal."""
        told, history = self.told, self.history()
        log = [
            _call(key, each.site.name, each.argument, told.answers[key].answer)
            for key, each in history.exchanges.items()
        ]
        return seen(self.linked, machine, log, history.events)


def same(found: Seen, whole: Seen) -> None:
    """Both runs are one as far as anybody can tell."""
    assert found.obs == whole.obs
    assert found.counters == whole.counters
    assert found.transitions == whole.transitions
