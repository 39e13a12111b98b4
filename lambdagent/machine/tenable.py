"""Whether a state that was read can be one of a program.

Of its values and frames, whether each by itself is what its tag says; of its threads, what they
wait for, and for whom: else it would wait for ever, or end where nobody looks. Whether a value is
what the frame above it wants is not looked at: that would cost more than the state spares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    AWAIT_OPERAND,
    CLOSURE,
    FIXPOINT,
    GUARD_CHECK,
    GUARD_RUN,
    GUARDED,
    LABEL,
    LAM,
    OPAQUE,
    PARTIAL,
    SATURATED,
    SITE,
    TAGGED,
    Fail,
    Halt,
    Join,
    Machine,
    Path,
    Suspend,
    Thread,
)
from lambdagent.machine.threads import parent_of
from lambdagent.messages import phrase

_ERROR = {"kind", "message", "site", "key", "data"}
_ENDED = (Halt, Fail)


def is_item(linked: Linked, item: Any) -> bool:
    """Whether the data and the code in a value or a frame are such as its tag wants."""
    check = _CHECKS.get(item[0])
    return check is None or check(linked, item)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_tagged(_linked: Linked, item: Any) -> bool:
    labels, index = item[1], item[2]
    texts = type(labels) is tuple and all(type(label) is str for label in labels)
    return texts and _is_count(index) and bool(index < len(labels))


_CHECKS: dict[int, Callable[[Linked, Any], bool]] = {
    TAGGED: _is_tagged,
    CLOSURE: lambda _, item: bool(item[1][0] == LAM),
    PARTIAL: lambda _, item: bool(len(item[2]) < item[1][4]),
    FIXPOINT: lambda _, item: _is_count(item[1]),
    GUARDED: lambda _, item: _is_count(item[1]),
    SITE: lambda linked, item: item[1] in linked.sites,
    OPAQUE: lambda _, item: type(item[1]) is tuple,
    GUARD_RUN: lambda _, item: _is_count(item[2]),
    GUARD_CHECK: lambda _, item: _is_count(item[2]),
    LABEL: lambda _, item: type(item[2]) is type(item[3]) is str and _is_count(item[4]),
    AWAIT_OPERAND: lambda _, item: bool(
        item[2][0] == SATURATED and len(item[3]) < len(item[2][3])
    ),
}


def untenable(linked: Linked, machine: Machine) -> str | None:
    """Return why no run of the program comes to `machine`; None if nothing speaks against it."""
    if not all(map(_is_count, (*machine.counters, machine.transitions))):
        return phrase("it counts below 0")
    for path, thread in machine.threads.items():
        reason = _at_odds(linked, thread) or _misplaced(machine, path)
        if reason is not None:
            return phrase("a thread {reason}", reason=reason)
    return None


def _at_odds(linked: Linked, thread: Thread) -> str | None:
    """Return what is wrong with a thread by itself."""
    state = thread.state
    if not all(map(_is_count, (*thread.path, thread.clock))) or len(thread.path) % 2:
        return phrase("stands nowhere")
    if not all(type(name) is str for name in thread.store):
        return phrase("has a cell without a name")
    match state:
        case Suspend(site):
            known = linked.sites.get(site) if type(site) is str else None
            if known is None or known.site.site_class != "oracle":
                return phrase("asks a site that the program does not have")
        case Join(form, clock, count, pending, _, at_once):
            numbers = (count, pending, *(() if at_once is None else (at_once,)))
            known_form = form in ("par", "pmap") and all(map(_is_count, numbers)) and at_once != 0
            if not known_form or clock != thread.clock - 1 or not 0 < pending <= count:
                return phrase("waits for branches in a way that there is not")
        case Fail(error):
            texts = (error.get("kind"), error.get("message"))
            if not error.keys() >= _ERROR or not all(isinstance(text, str) for text in texts):
                return phrase("has failed with no error")
    return None


def _misplaced(machine: Machine, path: Path) -> str | None:
    """Return what is wrong with the threads around the one at `path`."""
    state = machine.threads[path].state
    if path:
        parent = machine.threads.get(parent_of(path))
        join = None if parent is None else parent.state
        if not isinstance(join, Join) or join.clock != path[-2] or path[-1] >= join.count:
            return phrase("is a branch of nothing")
    if isinstance(state, Join):
        if state.count > len(machine.threads):  # so many are not looked for
            return phrase("waits for branches that are not there")
        branches = [
            machine.threads.get((*path, state.clock, number)) for number in range(state.count)
        ]
        running = [each for each in branches if each is None or type(each.state) not in _ENDED]
        if None in branches or len(running) != state.pending:
            return phrase("waits for branches that are not there")
    return None
