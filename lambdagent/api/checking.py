"""A recorded run → whether it is what its program does, rule by rule; nobody is asked.

What is checked: the digest of each request, the rule of each transition against the counters,
every recorded step, the outcome, the counters, the number of transitions. Times are not: nothing
but the recording knows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import add, sub
from typing import NoReturn

import attrs

from lambdagent.api.failures import error_of
from lambdagent.api.recording import DEEPEST, Recording
from lambdagent.api.running import json_value
from lambdagent.effects.collector import relaxed
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.data_text import data_text
from lambdagent.ir.exchange import Exchange, key_text
from lambdagent.machine.request_digest import RequestDigest
from lambdagent.machine.state import Event, Fail, Halt, Kind, Machine, Path, Suspend, Thread
from lambdagent.trace.macro import TraceRecord, macro_trace, total_cost, total_tokens
from lambdagent.trace.reductions import reduction_of
from lambdagent.trace.rulebook import RULES
from lambdagent.trace.transition import SYMBOLS, Move

# How errors begin that come from outside of the program: it is stopped wherever it stands.
_STOPPED = ("interrupted", "error[R005]", "error[R006]")
# … and that say that it waits for a person.
_SUSPENDED = ("error[R008]", "error[R009]")
# By rule: how much more there is of each kind after it.
_COUNTED = {
    "": (0,) * len(Kind),
    **{name: tuple(int(rule.kind == each) for each in SYMBOLS) for name, rule in RULES.items()},
}
# Transitions between two of which is told that they are checked.
_TOLD = 1_000
_REQUEST, _NOTHING = "the request", "nothing"


@attrs.frozen
class Verdict:
    """What a check found.

    Attributes:
        requests: How many were checked.
        steps: The same, of the trace.
        transitions: The same, of the machine.
        wrong: The first thing that is wrong, None if nothing is.
        is_open: The run could go on where the check ended, and it is not known that it stood
            there: there may be more transitions than were checked.
        stopped: How many transitions it had made when it was stopped while it moved, None if it
            was not or that is not known.
        engine: The engine that ran where a run was stopped, empty if that is not known.
    """

    requests: int
    steps: int
    transitions: int
    wrong: Wrong | None = None
    is_open: bool = False
    stopped: int | None = None
    engine: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the verdict as JSON."""
        return {
            "ok": self.wrong is None,
            "requests": self.requests,
            "steps": self.steps,
            "transitions": self.transitions,
            "open": self.is_open,
            "stopped": self.stopped,
            "wrong": self.wrong and attrs.asdict(self.wrong),
        }


@attrs.frozen
class Wrong:
    """Something that the recording says and the program does not do.

    Attributes:
        where: The step, the key, the transition, or the part of the file.
        what: What of it is wrong.
        recorded: What the recording says.
        computed: What the program does.
    """

    where: str
    what: str
    recorded: str
    computed: str


class _Found(Exception):  # noqa: N818 - it ends the check; nothing has failed
    def __init__(self, wrong: Wrong, key: Path | None = None) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.key = key


@relaxed()
def check(recording: Recording) -> Verdict:
    """Return whether `recording` is what its program does, and if not, the first that is not."""
    walk = _Walk(recording)
    try:
        _check_head(recording)
        try:
            walk.go()
            walk.check_all_asked()
        except _Found as found:
            # A wrong answer often shows first in the step that it belongs to.
            _check_steps(recording, walk.records, before=found.key)
            raise
        _check_steps(recording, walk.records)
        _check_outcome(recording, walk.machine)
        _check_stats(recording, walk)
        _check_stop(recording, walk.machine)
    except _Found as found:
        return walk.verdict(found.wrong)
    return walk.verdict(None)


def _refuse(
    where: str, what: str, recorded: object, computed: object, key: Path | None = None
) -> NoReturn:
    raise _Found(Wrong(where, what, _text(recorded), _text(computed)), key)


def _text(value: object) -> str:
    return value if isinstance(value, str) else data_text(freeze(value, max_depth=DEEPEST))


def _check_head(recording: Recording) -> None:
    """Check what stands besides the trace; what a file does not say is not wrong."""
    expected: dict[str, Data] = {"agent": recording.program.name, "input": recording.input}
    for name, value in expected.items():
        if name in recording.head and not _equal(recording.head[name], value):
            _refuse(f"`{name}`", "it is another one", recording.head[name], value)
    began = recording.first
    if any(began.counters) or began.transitions:
        counted = [*began.counters, began.transitions]
        _refuse("`start`", "the counters", counted, [0] * len(counted))


def _equal(ours: object, theirs: object) -> bool:
    """Whether both are the same JSON; Python takes 1 and true for equal."""
    return _text([ours]) == _text([theirs])


class _Walk:
    """Goes through the run and checks each transition.

    Attributes:
        machine: The state so far.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._told = recording.told
        self._digest = RequestDigest()
        self._asked: dict[Path, Suspend] = {}
        self._exchanges: dict[Path, Exchange] = {}
        # Requests and answers of the journal that are still to come.
        self._left = len(self._told.intents) + len(self._told.answers)
        self.machine = recording.first
        self._is_open = False

    @property
    def records(self) -> tuple[TraceRecord, ...]:
        """The steps so far."""
        return macro_trace(self._events, self._exchanges)

    @property
    def _events(self) -> list[Event]:
        done = self.machine.transitions
        return [event for event in self._recording.history.events if event.transition <= done]

    def verdict(self, wrong: Wrong | None) -> Verdict:
        """Return what was checked."""
        counts = len(self._asked), len(self.records), self.machine.transitions
        standing, stop = self._recording.standing, self._recording.stop
        reached = stop is not None and self.machine.transitions == stop.goal
        return Verdict(
            *counts,
            wrong,
            is_open=(self._is_open or self._recording.history.is_cut) and not reached,
            stopped=stop.transitions if stop is not None and stop.moving else None,
            engine="" if standing is None else standing.engine[0],
        )

    def go(self) -> None:
        """Go to the end, or to where a run that was stopped has nothing more to show."""
        history = self._recording.history
        last = history.events[-1].transition if history.events else 0
        stop = self._recording.stop
        is_known = stop is not None and stop.goal is not None
        stopped = not is_known and _is_stopped(self._recording)
        for number in range(history.first + 1, history.length + 1):
            if stopped and number > last and not self._left:
                self._is_open = True
                return
            if number % _TOLD == 0:
                self._recording.watch(number, history.length)
            move = history.move(number, self.machine)
            self._check_rule(move)
            thread = move.before.threads[move.path]
            if isinstance(thread.state, Suspend):
                self._answered((*move.path, thread.clock), thread.state)
            self.machine = move.after
            after = move.after.threads.get(move.path)
            if after is not None and isinstance(after.state, Suspend):
                self._ask((*move.path, after.clock), after.state)

    def _check_rule(self, move: Move) -> None:
        """Check that what is counted is what the rule that fits the state is."""
        before, after = move.before, move.after
        thread = before.threads[move.path]
        name = reduction_of(self._recording.linked, thread.state)
        is_uncounted = not name or _is_stuck(after.threads.get(move.path))
        expected = _COUNTED["" if is_uncounted else name]
        sums = tuple(map(add, before.counters, expected))
        if after.counters != sums or after.transitions != move.number:
            rule = f"the counters of rule `{name or 'administrative'}`"
            counted = [*map(sub, after.counters, before.counters)]
            _refuse(f"transition {move.number}", rule, counted, [*expected])

    def _ask(self, key: Path, state: Suspend) -> None:
        """Check a request against the journal; a run that was stopped may not have told it."""
        self._asked[key] = state
        intent = self._told.intents.get(key)
        if intent is None:
            return
        self._left -= 1
        if intent.site != state.site:
            _refuse(key_text(key), _REQUEST, f"to {intent.site}", f"to {state.site}", key)
        digest = self._digest.of(state.site, state.argument)
        if intent.digest != digest:
            what = f"the digest of what {state.site} is asked"
            _refuse(key_text(key), what, f"{intent.digest:016x}", f"{digest:016x}", key)

    def _answered(self, key: Path, state: Suspend) -> None:
        site = self._recording.linked.sites[state.site].site
        answer, at_s, took_s = self._told.answers[key]
        self._left -= 1
        self._exchanges[key] = Exchange(key, site, state.argument, answer, at_s, took_s)

    def check_all_asked(self) -> None:
        """Check that the program asks all that the journal tells of."""
        for key in sorted(self._told.intents.keys() - self._asked.keys()):
            asked = f"to {self._told.intents[key].site}"
            _refuse(key_text(key), _REQUEST, asked, _NOTHING, key)


def _is_stuck(thread: Thread | None) -> bool:
    """Whether no rule fitted: the error is on its way to a handler, or the thread has failed."""
    state = None if thread is None else thread.state
    error = state.error if type(state) is Fail else getattr(state, "value", None)
    return isinstance(error, Record) and error.get("kind") == "Stuck"


def _check_steps(
    recording: Recording, records: Sequence[TraceRecord], before: Path | None = None
) -> None:
    """Check the recorded trace.

    Args:
        recording: What is checked.
        records: What the program does.
        before: Only what comes before this key: there the run parts from its journal.
    """
    if "trace" not in recording.head:
        return
    trace = recording.head["trace"]
    if not isinstance(trace, tuple):
        _refuse("`trace`", "it is no list of steps", trace, [_row(record) for record in records])
    made = iter(records)
    lenient = _is_stopped(recording)
    for number, row in enumerate(trace):
        record = next(made, None)
        while lenient and record is not None and not _fits(row, record):
            record = next(made, None)  # of another thread, and told too late for the trace
        if before is not None and (record is None or record.key >= before):
            return
        _check_step(number, row, record)
    record = next(made, None)
    if record is not None and before is None and not lenient:
        what = f"{record.kind} {record.term}: {record.output}"
        _refuse(f"step {record.step} ({key_text(record.key)})", "the step", _NOTHING, what)


def _fits(row: Data, record: TraceRecord) -> bool:
    expected = _row(record)
    return isinstance(row, Record) and all(
        _equal(row.get(name), expected.get(name)) for name in expected.keys() - {"step"}
    )


def _check_step(number: int, row: Data, record: TraceRecord | None) -> None:
    if record is None:
        _refuse(f"step {number}", "the step", data_text(row), _NOTHING)
    expected = {**_row(record), "step": number}
    found = row if isinstance(row, Record) else Record()
    names = [*expected, *(name for name in found if name not in {*expected, "duration_ms"})]
    for name in names:
        recorded, computed = found.get(name), expected.get(name)
        if not _equal(recorded, computed):
            where = f"step {number} ({key_text(record.key)}, {record.term})"
            _refuse(where, f"its {name}", recorded, computed)


def _row(record: TraceRecord) -> dict[str, object]:
    row = record.to_json()
    del row["duration_ms"]
    return row


def _is_stopped(recording: Recording) -> bool:
    """Whether the run was stopped from outside, wherever it stood."""
    error = recording.head.get("error")
    return isinstance(error, str) and error.startswith(_STOPPED)


def _check_outcome(recording: Recording, machine: Machine) -> None:
    head, told = recording.head, recording.told.outcome
    ended = {Halt: "answered", Fail: "failed"}.get(type(machine.root.state))
    if told is not None and told != ended:
        _refuse("the end of the journal", "the outcome", told, ended or _waits(machine))
    if _is_stopped(recording) or not {"result", "error"} & head.keys():
        return
    for name, computed in _outcomes(recording, machine):
        if name not in head:
            _refuse(f"`{name}`", "the outcome", _NOTHING, computed)
        if not _equal(head[name], computed):
            _refuse(f"`{name}`", "the outcome", head[name], computed)


def _outcomes(recording: Recording, machine: Machine) -> Iterator[tuple[str, object]]:
    """Yield the name of the outcome in a file, and what it should be."""
    error = recording.head.get("error")
    match machine.root.state:
        case Halt(value):
            yield "result", json_value(value)
        case Fail(failure):
            yield "error", str(error_of(failure, by_hand=recording.program.by_hand))
        case _ if not (isinstance(error, str) and error.startswith(_SUSPENDED)):
            yield "error", _waits(machine)


def _waits(machine: Machine) -> str:
    waiting = [
        f"{thread.state.site} ({key_text((*path, thread.clock))})"
        for path, thread in sorted(machine.threads.items())
        if isinstance(thread.state, Suspend)
    ]
    return f"it waits for {', '.join(waiting)}" if waiting else "it goes on"


def _check_stop(recording: Recording, machine: Machine) -> None:
    """Check where the run stood when it was stopped, if the check has come there."""
    stop = recording.stop
    if stop is None or stop.goal is None or stop.goal > recording.limit:
        return
    found = {"transitions": stop.transitions, "reductions": _by_kind(stop.counters)}
    expected = {"transitions": machine.transitions, "reductions": _by_kind(machine.counters)}
    for name, computed in expected.items():
        if found[name] != computed:
            _refuse("`stopped`", name, found[name], computed)


def _by_kind(counters: Sequence[int]) -> dict[str, int]:
    return {kind.name.lower(): counters[kind] for kind in Kind}


def _check_stats(recording: Recording, walk: _Walk) -> None:
    """Check the counters; a run in direct style makes no transitions."""
    if "stats" not in recording.head:
        return
    found = recording.head["stats"]
    stats = found if isinstance(found, Record) else Record()
    counters, records = walk.machine.counters, walk.records
    direct = stats.get("engine") == "recursive"
    expected: Mapping[str, object] = {
        "total_steps": len(records),
        "total_tokens": total_tokens(records),
        "total_cost_usd": total_cost(records),
        "engine": "recursive" if direct else "cek",
        "transitions": 0 if direct else walk.machine.transitions,
        "reductions": _by_kind(counters),
    }
    for name, computed in expected.items():
        if not _equal(stats.get(name), computed):
            _refuse("`stats`", name, stats.get(name), computed)
