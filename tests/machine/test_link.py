import pytest

from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Var
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from lambdagent.machine.state import Halt
from lambdagent.machine.step import run, start
from tests.machine.terms import INPUT, SITES, linked, prim, site


def test_a_node_s_code_stands_at_its_number():
    code = linked(prim("pair", App(site("tool:t"), INPUT), prim("succ", Lit(1))))
    assert [each[1] for each in code.codes] == list(range(len(code.rows)))


def test_a_site_without_a_row_is_refused():
    with pytest.raises(KeyError):
        link(Program(Lam(App(site("tool:none"), Var(0))), SITES))


def test_equal_nodes_share_their_code():
    term = prim("pair", App(Lam(Var(0)), Lit(1)), App(Lam(Var(0)), Lit(1)))
    assert len(linked(term).codes) <= 8


def test_a_label_changes_no_transition():
    plain = App(Lam(Var(0)), INPUT)
    labelled = App(Lam(Var(0)), INPUT, Label("llm", "writer"))
    runs = []
    for term in (plain, labelled):
        code, events = linked(term), []
        machine = run(code, start(code, "x"), events=events)
        assert isinstance(machine.root.state, Halt)
        runs.append((machine.root.state.value, machine.counters, events))
    assert runs[0][:2] == runs[1][:2]
    assert runs[0][2] == []
    [event] = runs[1][2]
    assert (event.kind, event.name, event.value) == ("llm", "writer", "x")


def test_a_program_may_be_a_constant():
    code = link(Program(Prim("succ"), {}))
    assert run(code, start(code, 4)).root.state.value == 5
