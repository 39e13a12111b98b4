"""The engines, and which one runs a program.

`cek` is the stepping machine of `step`; `recursive` runs in direct style and hands over to `cek`
what it cannot do; `adaptive` decides between them before the run. All come to the same outcome,
store, log, events and counters.

Source: semantics.md §6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import attrs

from lambdagent.ir.costs import Count, count_text
from lambdagent.ir.data import Data
from lambdagent.machine.link import Linked
from lambdagent.machine.recursive import Ask, Emit, HandOver, Recursive, compiled
from lambdagent.machine.state import Event, Failure, Machine, Path
from lambdagent.machine.step import requests, resume, run

EngineName: TypeAlias = Literal["recursive", "cek", "adaptive"]
ENGINES: Final[tuple[EngineName, ...]] = ("recursive", "cek", "adaptive")
DEFAULT: Final[EngineName] = "recursive"

_FORKS = (("p", "par"), ("p", "pmap"))

# With more model calls than this a run is long enough to be worth suspending.
_MANY_CALLS = 8


class Choice(NamedTuple):
    """Which engine runs, and why."""

    engine: str
    reason: str


class Engine(Protocol):
    """One run on one engine, made from a linked program, its first state, and who answers."""

    def run(self) -> Machine:
        """Return the state at the end.

        Raises:
            HandOver: `Stepping` has to do it, from the first state, with the same answers.
        """
        ...


@attrs.frozen(eq=False)
class Stepping:
    """One run on the stepping machine; requests are answered one after the other."""

    linked: Linked
    machine: Machine
    ask: Ask
    emit: Emit

    def run(self) -> Machine:
        """Return the state at the end."""
        machine = self.machine
        while True:
            events: list[Event] = []
            machine = run(self.linked, machine, events=events)
            for event in events:
                self.emit(event)
            asked = requests(machine)
            if not asked:
                return machine
            for key, request in asked:
                answer = self.ask(key, request.site, request.argument)
                machine = resume(self.linked, machine, key, answer)


MAKERS: Final[Mapping[str, Callable[[Linked, Machine, Ask, Emit], Engine]]] = {
    "recursive": Recursive,
    "cek": Stepping,
}


def evaluate(
    choice: Choice, linked: Linked, machine: Machine, ask: Ask, emit: Emit
) -> tuple[Machine, Choice]:
    """Run a program to its end; return the last state, and what ran.

    Args:
        choice: What `choose` said.
        linked: The program.
        machine: Its first state.
        ask: Answers; never asked twice for one key.
        emit: Is told each event once.
    """
    answers: dict[Path, Data | Failure] = {}
    told = 0

    def ask_once(key: Path, site: str, argument: object) -> Data | Failure:
        if key not in answers:
            answers[key] = ask(key, site, argument)
        return answers[key]

    def emit_counted(event: Event) -> None:
        nonlocal told
        told += 1
        emit(event)

    try:
        return MAKERS[choice.engine](linked, machine, ask_once, emit_counted).run(), choice
    except HandOver as reason:
        choice = handed_over(reason)
    skipped = told
    seen = 0

    def emit_rest(event: Event) -> None:
        nonlocal seen
        seen += 1
        if seen > skipped:
            emit(event)

    return Stepping(linked, machine, ask_once, emit_rest).run(), choice


def handed_over(reason: object) -> Choice:
    """Return what runs after direct style has given up."""
    return Choice("cek", f"handed over to cek: {reason}")


def choose(
    wanted: EngineName,
    linked: Linked,
    *,
    bound: Callable[[], Count] | None = None,
    needs_states: str | None = None,
) -> Choice:
    """Return which engine runs `linked`.

    Args:
        wanted: What file, option or caller ask for.
        linked: The program.
        bound: Works out the upper bound of model calls; None if nobody knows.
        needs_states: What about this run only the stepping machine offers, if there is something.
    """
    if wanted == "cek":
        return Choice("cek", "asked for")
    if needs_states is not None:
        return Choice("cek", needs_states)
    if wanted == "recursive":
        return Choice("recursive", "asked for")
    return _adapt(linked, bound)


def _adapt(linked: Linked, bound: Callable[[], Count] | None) -> Choice:
    if any(row[:2] in _FORKS for row in linked.rows if isinstance(row, tuple)):
        return Choice("cek", "adaptive: the program forks")
    calls = None if bound is None else bound()
    if calls is not None and calls > _MANY_CALLS:
        return Choice(
            "cek", f"adaptive: up to {count_text(calls)} model calls, more than {_MANY_CALLS}"
        )
    if compiled(linked) is None:
        return Choice("cek", "adaptive: the program is too large for direct style")
    unit = "model call" if calls == 1 else "model calls"
    known = "" if calls is None else f", at most {count_text(calls)} {unit}"
    return Choice("recursive", f"adaptive: no fork{known}")
