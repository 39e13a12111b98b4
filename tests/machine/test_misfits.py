"""Terms and values that nobody lowers: told plainly, at a bounded cost, with exact counters."""

import pytest

from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Var
from lambdagent.ir.data import Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.machine.checkpoint import encode_machine
from lambdagent.machine.link import link
from lambdagent.machine.state import Event, Fail, Kind
from lambdagent.machine.step import run, start
from tests.machine.terms import (
    IDENTITY,
    INPUT,
    error_of,
    finish,
    linked,
    prim,
    program,
    site,
    thunk,
    value_of,
)


def test_an_open_term_is_no_program():
    with pytest.raises(ValueError, match="open"):
        link(program(Var(3)))


def test_a_check_that_answers_neither_true_nor_false_is_told():
    guard = prim("guard", IDENTITY, thunk(Lit("maybe")), IDENTITY, params=(0,))
    assert error_of(App(guard, INPUT))["message"] == 'the check of a guard answered "maybe"'


def test_a_fork_that_fails_is_not_counted():
    machine = finish(prim("pmap", IDENTITY, Lit(5)))
    assert isinstance(machine.root.state, Fail)
    assert machine.counters[Kind.PI] == 0


def test_a_shared_value_is_told_in_few_words():
    pair = INPUT
    for _ in range(60):
        pair = App(Lam(prim("pair", Var(0), Var(0))), pair)
    assert len(error_of(App(Lit(5), pair))["message"]) < 1_000


def test_errors_in_errors_stay_shallow_enough_to_store():
    body = Lam(Lam(prim("catch", thunk(App(site("fail:x"), Var(1))), Var(1))))
    term = App(prim("fix", body, IDENTITY, params=(2_000,)), INPUT)
    code = linked(term)
    machine = run(code, start(code, "input"))
    assert encode_machine(code, machine)["rows"]


@pytest.mark.parametrize(
    ("kind", "static"),
    [
        ("predicate", Record(names=("x", "y"), expression=("name", "x"))),
        ("next", Record(conversation=False, observation=True)),
        ("mem.read", Record(cell="mem:m", size=3, ttl=5.0, initial=Record())),
    ],
)
def test_a_site_that_cannot_take_its_argument_is_stuck(kind, static):
    name = f"{kind}:s"
    sites = {name: Site(name, kind, static)}
    term = App(Prim("site", (name,)), prim("pair", Lit("a"), prim("pair", Lit(1), Lit("b"))))
    code = link(Program(Lam(term, "x"), sites))
    state = run(code, start(code, "input")).root.state
    assert not isinstance(state, Fail) or state.error["kind"] == "Stuck"


def test_a_label_on_a_part_of_a_constant_has_its_event():
    labelled = App(Prim("pair"), INPUT, Label("tool", "inner"))
    code = linked(App(labelled, Lit(1)))
    events: list[Event] = []
    run(code, start(code, "input"), events=events)
    assert [event.name for event in events] == ["inner"]
    assert value_of(App(labelled, Lit(1))) == value_of(prim("pair", INPUT, Lit(1)))
