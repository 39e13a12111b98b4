"""What a run comes to: Obs = (outcome, σ, canonical log), and the oracles that answer it.

`observe` and `observe_fast` drive `machine.step` by hand; `observe_on` runs a program on an engine
as users do. Source: semantics.md §11.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import attrs

from lambdagent.effects.confirming import Confirmation
from lambdagent.effects.driver import drive
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.redaction import Redaction
from lambdagent.ir.alpha import digest, digest_rows
from lambdagent.ir.data import Data, Record, thaw
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import UNSHOWN
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import Linked, link
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import (
    Event,
    Fail,
    Halt,
    Machine,
    Path,
    Store,
    Value,
)
from lambdagent.machine.step import requests, resume, run, runnable, start, step
from lambdagent.machine.values import project
from tests.laws.terms import WORLD

Answer: TypeAlias = "Data | Failure"
Oracle = Callable[[Path, str, Data], Answer]
# Picks the number of the next move among as many as there are.
Choose = Callable[[int], int]

LIMIT = 20_000


class TooLongError(AssertionError):
    """The run took more transitions than these tests allow."""


@attrs.frozen
class Call:
    """One line of the canonical log."""

    key: Path
    site: str
    argument: str
    answer: str


@attrs.frozen
class Obs:
    """What can be observed of a run.

    Attributes:
        outcome: ``done`` with the digest of the value, or ``fail`` with that of the error.
        store: Digest of each cell.
        log: The effects, by key.
    """

    outcome: tuple[str, str]
    store: tuple[tuple[str, str], ...]
    log: tuple[Call, ...]

    def without_keys(self) -> tuple[object, ...]:
        """Return what is left when threads and numbers of sites are forgotten."""
        calls = [(_plain(c.site), c.argument, c.answer) for c in self.log]
        cells = [(_plain(name), cell) for name, cell in self.store]
        return (self.outcome[0], sorted(cells), calls)


@attrs.frozen
class Seen:
    """A run that is over."""

    obs: Obs
    counters: tuple[int, ...]
    transitions: int
    error: Record | None
    value: Any
    events: list[Event] = attrs.field(eq=False)
    store: Store = attrs.field(eq=False)

    @property
    def result(self) -> tuple[object, ...]:
        """What does not name threads: the value, or the kind, message and data of the error."""
        if self.error is None:
            return ("done", self.obs.outcome[1])
        return ("fail", self.error["kind"], self.error["message"], self.error["data"])

    @property
    def keyless(self) -> tuple[object, ...]:
        return (self.result, self.obs.without_keys())


def _plain(name: str) -> str:
    return re.sub(r"#\d+$", "", name)


# --- oracles -------------------------------------------------------------------------------------


def _hash(*parts: object) -> int:
    text = json.dumps(parts, ensure_ascii=False, default=str)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def content(seed: int) -> Oracle:
    """Answer by what is asked: the same question gets the same answer."""
    return lambda _key, site, argument: answer_of(site, _hash(seed, site, thaw(argument)))


def keyed(seed: int) -> Oracle:
    """Answer by who asks: the same thread at the same clock gets the same answer."""
    return lambda key, site, _argument: answer_of(site, _hash(seed, key))


def answer_of(site: str, number: int) -> Answer:
    """Return an answer of the type of a site of `terms.SITES`."""
    word = ("a", "b", "b.", "word", "long words")[number % 5]
    match site:
        case "tool:bool":
            return number % 2 == 0
        case "tool:nat":
            return number % 4
        case "tool:data":
            return WORLD[number % len(WORLD)]
        case "tool:flaky" | "tool:texty":
            return Failure("ToolError", "broken", number % 3) if number % 3 == 0 else word
        case "confirm:act":
            return (True, False, word)[number % 3]
        case "llm:text":
            return Record(text=word)
        case "llm:number":
            return Record(text="none" if number % 5 == 0 else f"about {number % 4}")
    return word


# --- runs ----------------------------------------------------------------------------------------


Exchange = tuple[Path, str, Value, Answer]


def move(
    linked: Linked, machine: Machine, oracle: Oracle, choose: Choose | None = None
) -> tuple[Machine, Exchange | None] | None:
    """Return the next state and the request that was answered to get there; None at the end.

    Args:
        linked: The program.
        machine: Where to go on.
        oracle: Who answers.
        choose: The schedule; by default the lowest thread that waits or can move.
    """
    asked = requests(machine)
    waiting: list[tuple[Path, Path | None]] = [(key[:-1], key) for key, _ in asked]
    options = sorted([*waiting, *((path, None) for path in runnable(machine))])
    if not options:
        return None
    if machine.transitions > LIMIT:
        raise TooLongError
    path, key = options[choose(len(options)) if choose else 0]
    if key is None:
        return step(linked, machine, path), None
    request = dict(asked)[key]
    answer = oracle(key, request.site, project(request.argument))
    return resume(linked, machine, key, answer), (key, request.site, request.argument, answer)


def observe(
    program: Program | Linked,
    value: Data,
    oracle: Oracle,
    *,
    choose: Choose | None = None,
    between: Callable[[Machine], Machine] | None = None,
    store: Store | None = None,
) -> Seen:
    """Run a program one transition at a time.

    Args:
        program: A program.
        value: Its input.
        oracle: Who answers.
        choose: The schedule.
        between: Replaces each state before it goes on.
        store: Cells at the start.
    """
    linked = link(program) if isinstance(program, Program) else program
    machine = start(linked, value, store)
    log: list[Call] = []
    while (found := move(linked, machine, oracle, choose)) is not None:
        machine, exchange = found
        if exchange is not None:
            log.append(_call(*exchange))
        if between is not None:
            machine = between(machine)
    return seen(linked, machine, log)


def observe_fast(
    program: Program | Linked,
    value: Data,
    oracle: Oracle,
    *,
    store: Store | None = None,
    limit: int = LIMIT,
) -> Seen:
    """Run a program as fast as the drivers do: `run` until all wait, then answer all."""
    linked = link(program) if isinstance(program, Program) else program
    machine = start(linked, value, store)
    log: list[Call] = []
    events: list[Event] = []
    while True:
        machine = run(linked, machine, budget=limit, events=events)
        if machine.transitions > limit or runnable(machine):
            raise TooLongError
        asked = requests(machine)
        if not asked:
            return seen(linked, machine, log, events)
        for key, request in asked:
            answer = oracle(key, request.site, project(request.argument))
            log.append(_call(key, request.site, request.argument, answer))
            machine = resume(linked, machine, key, answer)


class Answering:
    """Handlers that answer at once, from one function."""

    all_instant = instant = True
    redaction = Redaction({})

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer = answer

    def of(self, _site: Site) -> "Answering":
        return self


def observe_on(
    choice: Choice, linked: Linked, value: Data, oracle: Oracle, store: Store | None = None
) -> tuple[Seen, Choice]:
    """Run a program as users do; return what it came to and which engine ran to the end.

    No request may be asked twice, and no event told twice.
    """
    log: list[Call] = []
    told: list[Event] = []

    def answer(request: Request) -> Answer:
        assert request.key not in {call.key for call in log}
        found = oracle(request.key, request.site.name, project(request.argument))
        log.append(_call(request.key, request.site.name, request.argument, found))
        return found

    def watch(event: Event, _exchanges: object) -> None:
        told.append(event)

    def confirm(call: Confirmation) -> Any:
        (request,) = [each for each in execution.unconfirmed if each.key == call.key]
        return answer(request)

    execution = Execution(linked, start(linked, value, store), choice=choice, watch=watch)
    drive(execution, cast(Handlers, Answering(answer)), confirm=confirm)
    kept = [event for event in told if event.kind not in UNSHOWN]
    assert list(map(_what, kept)) == list(map(_what, execution.events))
    return seen(linked, execution.machine, log, told), execution.choice


def _what(event: Event) -> tuple[Path, str, str, int]:
    return (event.key, event.kind, event.name, event.started)


def _call(key: Path, site: str, argument: Value, answer: Answer) -> Call:
    shown = ("fail", *answer) if isinstance(answer, Failure) else ("done", answer)
    return Call(key, site, digest_rows(project(argument)), digest_rows(tuple(shown)))


def seen(
    linked: Linked, machine: Machine, log: list[Call], events: list[Event] | None = None
) -> Seen:
    """Return what a machine at its end, and its log, come to."""
    reader = Readback.of(linked)
    state = machine.root.state
    assert isinstance(state, Halt | Fail)
    error = state.error if isinstance(state, Fail) else None
    value = state.value if isinstance(state, Halt) else None
    what = digest_rows(error) if error is not None else digest(reader.term(value))
    cells = sorted((name, digest(reader.term(v))) for name, v in machine.root.store.items())
    calls = sorted(log, key=lambda call: call.key)
    obs = Obs(("fail" if error is not None else "done", what), tuple(cells), tuple(calls))
    store = machine.root.store
    return Seen(obs, machine.counters, machine.transitions, error, value, events or [], store)


def scheduler(picks: list[int]) -> Choose:
    """Return a schedule that goes round `picks`."""
    turn = iter(range(1 << 60))

    def choose(count: int) -> int:
        return picks[next(turn) % len(picks)] % count

    return choose
