"""The engines, and which one runs a program; `effects.execution` runs it.

`cek` is the stepping machine of `step`; `recursive` runs in direct style and hands over to `cek`
what it cannot do; `adaptive` decides between them before the run. All come to the same outcome,
store, log, events and counters.

Source: semantics.md §6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from lambdagent.ir.costs import Count, count_text
from lambdagent.machine.link import Linked
from lambdagent.machine.recursive import compiled

EngineName: TypeAlias = Literal["recursive", "cek", "adaptive"]
ENGINES: Final[tuple[EngineName, ...]] = ("recursive", "cek", "adaptive")
DEFAULT: Final = "recursive"

_FORKS = (("p", "par"), ("p", "pmap"))

# With more model calls than this a run is long enough to be worth suspending.
_MANY_CALLS = 8


class Choice(NamedTuple):
    """Which engine runs, and why."""

    engine: str
    reason: str


def handed_over(reason: object) -> Choice:
    """Return what runs after direct style has given up."""
    return Choice("cek", f"handed over to cek: {reason}")


def choose(
    wanted: EngineName | None,
    linked: Linked,
    *,
    bound: Callable[[], Count] | None = None,
    needs_states: str | None = None,
) -> Choice:
    """Return which engine runs `linked`.

    Args:
        wanted: What file, option or caller ask for; None if they do not.
        linked: The program.
        bound: Works out the upper bound of model calls; None if nobody knows.
        needs_states: What about this run only the stepping machine offers, if there is something.
    """
    if wanted == "cek":
        return Choice("cek", "asked for")
    if needs_states is not None:
        return Choice("cek", needs_states)
    if wanted is None:
        return Choice(DEFAULT, "the default")
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
