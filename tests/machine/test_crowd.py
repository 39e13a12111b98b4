"""Many threads that share what does not change: the same as a dictionary that is copied."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import App, Lam, Lit, Prim, Var
from lambdagent.ir.program import Program
from lambdagent.machine import crowd
from lambdagent.machine.link import Linked, link
from lambdagent.machine.readback import spine
from lambdagent.machine.state import Eval, Halt, Machine, Path, Return, Suspend, Thread
from lambdagent.machine.step import lowest, requests, run, runnable, start, step

_PATHS = st.tuples(st.integers(0, 3), st.integers(0, 40))
_STATES = st.sampled_from(
    [Eval((), (), ()), Return(1, ()), Suspend("tool:a", 1, ()), Halt("x")],
)
_EDITS = st.lists(st.tuples(_PATHS, st.none() | _STATES), max_size=60)


def threads_of(edits: list[tuple[Path, object]]) -> Iterator[tuple[Path, Thread | None]]:
    for path, state in edits:
        yield path, None if state is None else Thread(path, path[1], {}, state)


def edited(
    threads: Mapping[Path, Thread], edits: list[tuple[Path, object]]
) -> Mapping[Path, Thread]:
    copy = crowd.editable(threads)
    for path, thread in threads_of(edits):
        if thread is not None:
            copy[path] = thread
        elif path in copy:
            copy.pop(path)
    return crowd.shared(copy)


@given(st.lists(_EDITS, max_size=8))
def test_edits_of_a_crowd_are_those_of_a_dictionary(rounds: list[list[tuple[Path, object]]]):
    first = {(0, n, 0, n): Thread((0, n, 0, n), 0, {}, Return(n, ())) for n in range(100)}
    ours: Mapping[Path, Thread] = first
    theirs = dict(first)
    known = [(ours, dict(theirs))]
    for edits in rounds:
        ours = edited(ours, edits)
        for path, thread in threads_of(edits):
            if thread is None:
                theirs.pop(path, None)
            else:
                theirs[path] = thread
        known.append((ours, dict(theirs)))
    for made, expected in known:  # those that were shared have not changed
        check_same(made, expected)


def check_same(made: Mapping[Path, Thread], expected: dict[Path, Thread]) -> None:
    assert dict(made.items()).keys() == expected.keys()
    for path, thread in expected.items():
        assert made[path].state is thread.state
    assert len(made) == len(expected)
    assert (9, 9) not in made
    with pytest.raises(KeyError):
        made[9, 9]
    assert [*crowd.in_order(made)] == sorted(expected)
    ours, theirs = Machine(made), Machine(expected)
    assert runnable(ours) == runnable(theirs)
    assert lowest(ours) == next(iter(runnable(theirs)), None)
    assert requests(ours) == requests(theirs)


def test_a_few_threads_are_a_dictionary_again():
    many = {(0, n): Thread((0, n), 0, {}, Return(n, ())) for n in range(1_000)}
    copy = crowd.editable(many)
    for n in range(10):
        del copy[0, n]
    middle = crowd.shared(copy)
    assert not isinstance(middle, dict)
    copy = crowd.editable(middle)
    for n in range(10, 990):
        del copy[0, n]
    assert isinstance(crowd.shared(copy), dict)
    assert len(middle) == 990


def many_branches(count: int) -> Linked:
    """Return a program that counts each of some numbers up, twice over."""
    numbers = Prim("nil")
    for n in range(count):
        numbers = spine(Prim("cons"), Lit(n), numbers)
    twice = Lam(App(Prim("succ"), App(Prim("succ"), Var(0))))
    inner = Lam(spine(Prim("pmap"), twice, spine(Prim("cons"), Var(0), Prim("nil"))))
    return link(Program(Lam(spine(Prim("pmap"), inner, numbers)), {}))


def states(linked: Linked) -> list[tuple[object, ...]]:
    machine, seen = start(linked, "go"), []
    while lowest(machine) is not None:
        machine = step(linked, machine)
        standing = {
            path: (type(each.state), each.clock, each.kont)
            for path, each in machine.threads.items()
        }
        seen.append((standing, machine.counters, machine.transitions))
    return seen


def test_a_run_goes_through_the_same_states_however_threads_are_kept(
    monkeypatch: pytest.MonkeyPatch,
):
    linked = many_branches(80)
    shared = states(linked)
    whole = run(linked, start(linked, "go"))
    assert (whole.counters, whole.transitions) == shared[-1][1:]
    monkeypatch.setattr(crowd, "_FEW", 1 << 60)
    assert states(linked) == shared
