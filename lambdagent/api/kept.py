"""Runs that are kept on disk: begun, gone on with after whatever ended them, forked.

run = Run.begin(agent, "the input", "runs")      run.resume()
run = Run.load("runs/20261130-104700-3f9a1c")    run.resume()
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

import lambdagent
from lambdagent.api.compiling import compile_term
from lambdagent.api.doubts import Doubt, Remark, refuse, warn
from lambdagent.api.listening import Heard, aheard, heard
from lambdagent.api.overriding import make_overrides
from lambdagent.api.programs import overridden
from lambdagent.api.run_files import (
    check_arrival,
    check_uncalled,
    exchange_program,
    find_run,
    kept_program,
    refuse_change,
    remove_finished,
    stored_program,
)
from lambdagent.api.run_places import at_home, base_dir, owner_in, without_address, work_place
from lambdagent.api.running import Result, Session, write_record
from lambdagent.api.standing import KEPT_BY, again, again_from
from lambdagent.effects.budget import meter_of
from lambdagent.effects.confirming import Confirm, Confirmation, confirmation
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import Told, has_ended, read_journal
from lambdagent.effects.keeper import Keeper
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.run_directory import Beginning, RunDirectory, create_run, new_id
from lambdagent.effects.stores import Owner
from lambdagent.effects.waiting import on_disk
from lambdagent.errors import CheckpointError, Diagnostic, finding
from lambdagent.ir.data import Data, freeze
from lambdagent.ir.exchange import key_text
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Term
from lambdagent.machine.link import link
from lambdagent.machine.state import Machine
from lambdagent.machine.state import Path as Key
from lambdagent.machine.step import start
from lambdagent.trace.macro import TraceRecord, watcher

if TYPE_CHECKING:
    from lambdagent.effects.listeners import Listening
    from lambdagent.effects.narrator import Narrator

_SESSION_OPTIONS: Final = {"environment", "base_dir", "clock"}
# β between two states on disk where nobody says: a fiftieth of a second to do again.
AUTOSAVE: Final = 50_000


class Run:
    """A run on disk.

    Attributes:
        program: What runs.
        beginning: What else it began with.
        path: Its directory.
    """

    def __init__(
        self,
        directory: RunDirectory,
        beginning: Beginning,
        make: partial[Session],
        *,
        session: Session | None = None,
        fsync: bool,
    ) -> None:
        """Be about the run in `directory`; use `begin` or `load`.

        Args:
            directory: Where it is kept.
            beginning: What it began with.
            make: Makes a session of its program; `asks` is that of `Session`.
            session: One that was made already.
            fsync: Wait for the disk.
        """
        self._make = make
        self._asks = not has_ended(directory.journal)
        self._session = make(asks=self._asks) if session is None else session
        self._is_fresh = True
        self.program = self._session.program
        self.beginning = beginning
        self.path = directory.path
        self._directory = directory
        self._fsync = fsync
        self._keeper: Keeper | None = None
        self._turn = threading.Lock()
        self._remarks: list[Diagnostic] = []

    @classmethod
    def begin(
        cls,
        agent: Term | Program,
        value: object,
        directory: str | Path,
        *,
        autosave: int = AUTOSAVE,
        most: int | None = None,
        fsync: bool = True,
        **options: Any,
    ) -> Run:
        """Return a new run of `agent` on `value`, which is on disk before anything is called.

        Args:
            agent: A term, or a program that was compiled before.
            value: Text, or any JSON value.
            directory: Where the run gets a directory of its own.
            autosave: β between two states on disk; the journal alone is enough to go on.
            most: Runs that stay in `directory`; of more, the oldest that are finished are removed.
            fsync: Wait for the disk before anything leaves the process; without it a failure of
                power, but no kill, may lose the last answers.
            options: `environment`, `base_dir`, `clock` and `owner` of `Session`.

        Raises:
            CheckpointError: It cannot be written.
            EffectError: A key is not set, a tool has no implementation, a memory store is down.
        """
        program = agent if isinstance(agent, Program) else compile_term(agent)
        place = work_place(options)
        options = {**options, "base_dir": None if place is None else Path(place)}
        name = new_id(began := time.time())
        owner = options["owner"] = owner_in(options, name)
        make = partial(Session, program, engine="cek", **options)
        session = make()  # what is missing is told before there is a run
        with ExitStack() as undoing:
            undoing.callback(session.close)
            redaction = session.handlers.redaction
            kept, hidden = kept_program(program, redaction)
            beginning = Beginning(
                agent=program.name,
                digest=program.digest(),
                input=redaction.data(freeze(value)),
                began=began,
                autosave=autosave,
                hidden=hidden,
                directory=place,
                limits=program.limits.to_data(),
                user=owner.user,
                session=owner.session,
                id=name,
            )
            found = create_run(Path(directory), kept, beginning)
            if most is not None:
                remove_finished(Path(directory), most)
            undoing.pop_all()
        return cls(found, beginning, make, session=session, fsync=fsync)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        program: Program | None = None,
        force: bool = False,
        fsync: bool = True,
        **more: Any,
    ) -> Run:
        """Return the run in `path`, or the only one of the runs in `path` that is not finished.

        Args:
            path: A directory of a run, or of runs.
            program: What runs from now on, instead of what is kept with the run.
            force: Take a `program` that differs, as long as nothing that differs was called.
            fsync: As for `begin`.
            more: `tools`, `providers`, `memory_store` as for `from_config`; `environment`,
                `base_dir`, `clock` of `Session`; `budget`, limits by name for this process.

        Raises:
            NoSuchFileError: There is no run.
            CheckpointError: Its files are damaged or of another version, or the program changes.
            EffectError: A key is not set, a tool has no implementation.
        """
        directory = find_run(Path(path))
        beginning = directory.beginning()
        stored = stored_program(directory, beginning.digest)
        hides = program is None and beginning.hidden
        make = partial(without_address, beginning.hidden) if hides else partial(Session)
        options = {name: more.pop(name) for name in _SESSION_OPTIONS & more.keys()}
        budget = more.pop("budget", {})
        overrides = make_overrides(**more, environment={})
        program = overridden(at_home(program, stored, beginning, budget), overrides)
        if program.digest() != beginning.digest:
            redaction = Redaction(options.get("environment") or os.environ)
            if not force:
                refuse_change(stored, program, redaction)
            beginning = exchange_program(directory, program, redaction)
        base, remarks = base_dir(beginning, program)
        owner = Owner(beginning.user, beginning.session or beginning.id)
        options = {"base_dir": base, "owner": owner, **options}
        make = partial(make, program, engine="cek", **options)
        run = cls(directory, beginning, make, fsync=fsync)
        run._remarks += [] if options["base_dir"] else remarks
        return run

    def resume(
        self,
        *,
        timeout_s: float | None = None,
        watch: Callable[[TraceRecord], None] | None = None,
        doubt: Doubt = refuse,
        confirm: Confirm | None = None,
        remark: Remark = warn,
        listeners: Sequence[Listening] = (),
    ) -> Result:
        """Go on to the end, from wherever the run stands, and return what it comes to.

        A run that is finished comes to its answer at once. Whatever ends this call, the run can be
        gone on with from there.

        Args:
            timeout_s: Longest time from now, in seconds.
            watch: Called with each record of the trace, those of earlier processes included.
            doubt: Decides about requests of which nobody knows whether they were carried out.
            confirm: As for `Session.run`; what it decides is on disk before the run goes on.
            remark: Told of what is damaged and not needed to go on.
            listeners: Who is told what happens from now on; see docs/listeners.md.

        Raises:
            RunError: The run failed; its `trace` says how far it came.
            SuspendedError: Nobody decided about a call; resume the run when somebody has.
            CheckpointError: Somebody else goes on with it, or its files are damaged.
        """
        with (
            heard(listeners, self._heard(listeners)) as narrator,
            self._going(watch, doubt, remark, narrator) as (execution, history, _),
        ):
            return self._session.drive(execution, timeout_s, history, confirm)

    async def aresume(
        self,
        *,
        timeout_s: float | None = None,
        watch: Callable[[TraceRecord], None] | None = None,
        doubt: Doubt = refuse,
        confirm: Confirm | None = None,
        remark: Remark = warn,
        listeners: Sequence[Listening] = (),
    ) -> Result:
        """Go on to the end on the running event loop; see `resume`."""
        async with aheard(listeners, self._heard(listeners)) as narrator:
            with self._going(watch, doubt, remark, narrator) as (execution, history, _):
                try:
                    result = await self._session.adrive(execution, timeout_s, history, confirm)
                except BaseException:
                    with suppress(CheckpointError):  # `_going` tries again, and tells
                        await on_disk(execution, execution.leave)
                    raise
                await on_disk(execution, execution.leave)
                return result

    def stream(self, **options: Any) -> lambdagent.Stream:
        """Return the rest of the run as an iterator; the options are those of `resume`."""
        return lambdagent.Stream(self.aresume, **options)

    def lock(self) -> None:
        """Be the only one to go on with the run, until it has been gone on with or is closed.

        Raises:
            CheckpointError: Somebody else goes on with it, or has given it another program.
        """
        self._directory.acquire()
        if self._directory.beginning().digest != self.beginning.digest:
            self._directory.release()
            raise CheckpointError(finding("K016", run=self.beginning.id))

    def save(self) -> None:
        """Put the state on disk where the run stands.

        Where it is under way in another thread, that thread does it as soon as it moves again.
        """
        if self._keeper is not None:
            self._keeper.want()
            return
        with self._going(None, refuse, warn) as (execution, _, keeper):
            execution.machine = self.history().machine
            keeper.save(execution.machine)

    def fork(
        self,
        key: Key,
        answers: Mapping[Key, Data] | None = None,
        value: object = None,
        *,
        program: Program | None = None,
    ) -> Run:
        """Return a new run that is as this one until just before `key`, and goes on by itself.

        This one stays as it is.

        Args:
            key: A thread's path and its clock: what was answered before it, in canonical order,
                is taken over, and nothing else.
            answers: What is taken over changed, by key; that of `key` itself may be among them.
            value: Another input, unless it is None.
            program: Another program; nothing that differs may have been called before `key`.

        Raises:
            CheckpointError: This one made no call at a key of `answers`, or the new one would not
                get to `key`, or cannot be written.
            EffectError: A key is not set, a tool has no implementation.
        """
        told, redaction = self.told(), self.redaction
        changed = {each: redaction.data(answer) for each, answer in (answers or {}).items()}
        for each in changed:
            if each not in told.intents or each > key:
                known = ", ".join(map(key_text, sorted(told.intents))) or "none"
                raise CheckpointError(finding("K011", key=key_text(each), known=known))
        began = time.time()
        beginning = attrs.evolve(
            self.beginning,
            id=new_id(began),
            input=self.beginning.input if value is None else redaction.data(freeze(value)),
            began=began,
            parent=(self.beginning.id, key_text(key)),
        )
        taken_over = told.before(key if value is None else (0,), changed)
        make, linked, after = self._make, self._session.linked, self.program
        if program is not None:
            after = at_home(program, self.program, beginning)
            check_uncalled(self.program, after, taken_over, redaction)
            make, linked = partial(Session, after, **make.keywords), link(after)
        text, hidden = kept_program(after, redaction)
        if program is not None:
            beginning = attrs.evolve(beginning, digest=after.digest(), hidden=hidden)
        if program is not None or not self._asks:  # what is missing is told before there is a run
            make().close()
        check_arrival(linked, beginning.input, taken_over, key)
        directory = create_run(self.path.absolute().parent, text, beginning, taken_over)
        directory.release()
        return Run(directory, beginning, make, fsync=self._fsync)

    @property
    def has_ended(self) -> bool:
        """Whether its journal ends with the end of the run."""
        return has_ended(self._directory.journal)

    @property
    def doubts(self) -> list[Request]:
        """Requests of which nobody knows whether they were carried out, and that may do harm."""
        asked, pending = self.told().intents, self.history().pending
        return [each for each in pending if each.key in asked and not each.site.idempotent]

    @property
    def confirmations(self) -> list[Confirmation]:
        """Calls that wait until a person approves or denies them, lowest key first."""
        asked, waiting = self.told().intents, self.history().unconfirmed
        return [confirmation(each) for each in waiting if each.key in asked]

    def history(self) -> Execution:
        """Return the run from its start to where its journal ends, without calling anything.

        Raises:
            CheckpointError: The journal is damaged, or belongs to another program.
        """
        return again_from(self._directory, self._session.linked, self._start(), self.told())

    @property
    def redaction(self) -> Redaction:
        """Keeps secrets out of what is written."""
        return self._session.redaction

    def record(self, path: Path) -> None:
        """Write what models said, as `Session.record` does.

        Raises:
            OSError: The file cannot be written.
        """
        write_record(path, self.history().exchanges)

    def told(self) -> Told:
        """Return what its journal says."""
        return read_journal(self._directory.journal)

    def close(self) -> None:
        """Give back connections, and let others go on with the run.

        Raises:
            CheckpointError: Another thread goes on with it.
        """
        if not self._turn.acquire(blocking=False):
            raise CheckpointError(finding("K003", run=self.beginning.id))
        self._session.close()
        self._directory.release()
        self._turn.release()

    def __enter__(self) -> Run:
        """Return the run; leaving it closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _heard(self, listeners: Sequence[Listening]) -> Heard:
        """Return what listeners are told of the run before it moves."""
        resumed = bool(listeners) and bool(self.told().intents)
        return Heard(self.program.name, self.beginning.input, self.beginning.id, resumed)

    def _start(self) -> Machine:
        return start(self._session.linked, self.beginning.input)

    def _fresh_session(self) -> Session:
        """Return a session whose models have said nothing yet."""
        if not self._is_fresh:
            self._session.close()
            self._session = self._make(asks=self._asks)
        self._is_fresh = False
        return self._session

    @contextmanager
    def _going(
        self,
        watch: Callable[[TraceRecord], None] | None,
        doubt: Doubt,
        remark: Remark,
        narrator: Narrator | None = None,
    ) -> Iterator[tuple[Execution, Callable[[], Execution], Keeper]]:
        """Be the one who goes on with the run: yield it, its history and its keeper."""
        # The lock of the directory is held from `begin` on; it does not tell two threads apart.
        if not self._turn.acquire(blocking=False):
            raise CheckpointError(finding("K003", run=self.beginning.id))
        try:
            self.lock()
            handlers = self._fresh_session().handlers
            keeper = Keeper(
                self._directory,
                self._session.linked,
                self.beginning,
                recalled=handlers.recall,
                doubt=lambda request: handlers.redaction.answer(doubt(request)),
                fsync=self._fsync,
            )
            with closing(keeper):
                self._keeper = keeper
                yield from self._kept(keeper, watch, remark, narrator)
        finally:
            self._keeper = None
            self._directory.release()
            self._turn.release()

    def _kept(
        self,
        keeper: Keeper,
        watch: Callable[[TraceRecord], None] | None,
        remark: Remark,
        narrator: Narrator | None,
    ) -> Iterator[tuple[Execution, Callable[[], Execution], Keeper]]:
        """Yield the run where it stands, its history and its keeper; then keep where it stands."""
        while self._remarks and self._asks:
            remark(self._remarks.pop())
        if keeper.remark is not None:
            remark(keeper.remark)
        linked, first = self._session.linked, self._start()
        # Who watches sees the run from its start, and so do models that remember; listeners are
        # told in which round of which loop they are.
        whole = watch is not None or narrator is not None or self._session.handlers.remember
        kept = None if whole else keeper.machine
        execution = Execution(
            linked,
            first if kept is None else kept,
            watch=None if watch is None else watcher(watch),
            choice=KEPT_BY,
            keeper=keeper,
        )
        execution.narrator = narrator
        execution.meter = meter_of(self.program, keeper.told)
        try:
            if kept is None:
                yield execution, lambda: execution, keeper
            else:  # the files may be gone when somebody asks
                yield execution, cache(lambda: again(execution, first, keeper.told)), keeper
        except BaseException as error:
            try:
                keeper.leave(execution.machine)
            except CheckpointError as second:
                if not isinstance(error, CheckpointError):
                    remark(second.diagnostic)
            raise
        keeper.leave(execution.machine)
