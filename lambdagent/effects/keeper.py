"""What keeps a run on disk while it moves: its journal, and its state now and then."""

from __future__ import annotations

from collections.abc import Callable

from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import (
    Intent,
    Journal,
    Outcome,
    Recall,
    Recorded,
    diverged,
    read_journal,
)
from lambdagent.effects.run_directory import Beginning, RunDirectory
from lambdagent.effects.states import StateFile, forget_states, read_states
from lambdagent.errors import CheckpointError, Diagnostic, finding
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.machine.crowd import moving
from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    BETA,
    Fail,
    Halt,
    Machine,
    Path,
)

# Transitions that are worth a look whether to save: fewer would cost more than they keep.
_SHORTEST = 1_000
# β that are done again sooner than a state of them is written and read.
_NEGLIGIBLE = 1_000
# States that are damaged, or of another format: the next ones take their place.
_USELESS = {"K001", "K004"}
_OUTCOMES: dict[type, Outcome] = {Halt: "answered", Fail: "failed"}


class Keeper:
    """Keeps one run; whoever has one holds the lock of its directory.

    Attributes:
        machine: The newest state on disk, None if there is none.
        told: What the journal says, of this process too.
        begun_s: Seconds that the run has taken in other processes.
        place: The directory of the run.
        remark: That the states on disk are no use, if so; the journal makes up for them.
        syncs: Whether `commit` and `save` wait for the disk.
    """

    def __init__(
        self,
        run: RunDirectory,
        linked: Linked,
        beginning: Beginning,
        *,
        recalled: Callable[[Request, Data | Failure], None],
        doubt: Callable[[Request], Data | Failure | None],
        fsync: bool = True,
    ) -> None:
        """Go on with `run`.

        Args:
            run: The run, locked.
            linked: Its program.
            beginning: What it began with: its name, and how often a state is saved.
            recalled: Told of each request that was answered in an earlier process, and how.
            doubt: Called for a request of which nobody knows whether it was carried out, and that
                may do harm if it is twice. Returns what came of it, None to ask again, or raises.
            fsync: Wait for the disk; without it a failure of power may lose the last answers.

        Raises:
            CheckpointError: A file is damaged, or cannot be read or written.
        """
        self.told = told = read_journal(run.journal)
        self.remark: Diagnostic | None = None
        try:
            self.machine, is_ahead = read_states(run.states, linked, told.end, run=beginning.id)
        except CheckpointError as error:
            if error.diagnostic.code not in _USELESS:
                raise
            self.remark = finding("K017", finding=error.diagnostic.what)
            self.machine, is_ahead = None, False
        if is_ahead:
            # The journal lost answers and will be as long again with others; what led to these
            # states must not be taken for those.
            forget_states(run.states)
        self._recall = Recall(told)
        self._open = set(told.open)
        self._outcome = told.outcome
        self._recalled = recalled
        self._doubt = doubt
        self._id = beginning.id
        self.place = run.path
        self.syncs = fsync
        self._journal = Journal(run.journal, told, fsync=fsync)
        self._states = StateFile(run.states, linked, run=beginning.id, fsync=fsync)
        self._autosave = beginning.autosave
        self._saved_at = 0 if self.machine is None else self.machine.counters[BETA]
        self._saved = self.machine
        # What is no use is not left to be told of again.
        self._wanted = self.remark is not None
        self.begun_s = told.length_s

    @property
    def slice(self) -> int | None:
        """Most transitions until `is_due` is asked again, None for any number."""
        return max(self._autosave, _SHORTEST) if self._autosave else None

    def answer_to(self, request: Request) -> Recorded | None:
        """Return the answer that came before, or that `doubt` knows.

        Raises:
            CheckpointError: Something else was asked at its key.
        """
        recorded = self._recall.answer_to(request)
        if recorded is None and request.key in self._open and not request.site.idempotent:
            answer = self._doubt(request)
            if answer is not None:
                self.result(request.key, answer, 0.0, 0.0)
                recorded = self.told.answers[request.key]
        if recorded is not None:
            self._recalled(request, recorded.answer)
        return recorded

    def intent(self, request: Request, at_s: float) -> str | None:
        """Keep that `request` is about to go out; return its idempotency key.

        `at_s` counts from the start of this process.

        Raises:
            DivergenceError: The run has ended, and asked nothing more before it did.
        """
        if self._outcome is not None:
            raise diverged(request)
        digest = self._recall.digest_of(request)
        self._journal.intent(request.key, request.site.name, digest, at_s)
        self.told.intents[request.key] = Intent(request.site.name, digest, self.begun_s + at_s)
        return f"{self._id}{key_text(request.key)}"

    def result(self, key: Path, answer: Data | Failure, at_s: float, took_s: float) -> None:
        """Keep what came of a request."""
        self._journal.result(key, answer, at_s, took_s)
        self.told.answers[key] = Recorded(answer, self.begun_s + at_s, took_s)

    def commit(self) -> None:
        """Wait until all of it is on the disk."""
        self._journal.commit()

    def is_due(self, machine: Machine) -> bool:
        """Whether it is time to save `machine`."""
        grown = machine.counters[BETA] - self._saved_at
        return self._wanted or 0 < self._autosave <= grown

    def want(self) -> None:
        """Have the next state that `is_due` is asked about saved; from any thread."""
        self._wanted = True

    def save(self, machine: Machine) -> None:
        """Save `machine`, after everything that led to it; what is on disk is not saved again."""
        if machine is self._saved:
            return
        self._journal.commit()
        self._states.save(machine, self._journal.end)
        self._saved_at = machine.counters[BETA]
        self._saved = machine
        self._wanted = False

    def leave(self, machine: Machine) -> None:
        """Keep where the run stands now that this process goes on with it no more.

        The journal is enough where little has happened since the newest state, unless the run is
        stopped while it moves: nothing else says where that was.
        """
        outcome = _OUTCOMES.get(type(machine.root.state))
        if self._outcome is None and outcome is not None:
            self._journal.finish(outcome)
            self._outcome = outcome
        fresh = machine.counters[BETA] - self._saved_at
        is_moving = outcome is None and next(moving(machine.threads), None) is not None
        if self._wanted or is_moving or fresh >= min(self._autosave, _NEGLIGIBLE):
            self.save(machine)
        else:
            self._journal.commit()

    def close(self) -> None:
        """Let go of the files."""
        self._journal.close()
        self._states.close()
