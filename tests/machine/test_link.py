import gc
import weakref

import pytest

from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Var
from lambdagent.ir.program import Program
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import link
from lambdagent.machine.state import Halt
from lambdagent.machine.step import run, start
from lambdagent.source import Source
from tests.laws.observe import content, observe, observe_fast, observe_on
from tests.machine.terms import INPUT, SITES, linked, prim, site


def test_a_node_s_code_stands_at_its_number():
    code = linked(prim("pair", App(site("tool:t"), INPUT), prim("succ", Lit(1))))
    assert [each[1] for each in code.codes] == list(range(len(code.rows)))


def test_what_is_linked_serves_every_session_and_goes_with_its_program():
    program = Program(Prim("succ"), {})
    assert link(program).codes is link(program).codes
    known = weakref.ref(program)
    del program
    gc.collect()
    assert known() is None


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


@pytest.mark.parametrize("most", [1, 5, 100])
@pytest.mark.parametrize(
    "text",
    [
        "a = ⟨1, 2⟩; b = ⟨a, ⟨a, ()⟩⟩; λx. ⟨fst (fst b), ⟨b, ⟨x, b⟩⟩⟩",
        'a = [1, "t", nil]; b = [a, a, a]; λx. b :: x :: b',
        'a = tag["l", "r", 0] ⟨1, 2⟩; λ_. case tag["l", "r", 1] a of {l ⇒ λx. x, r ⇒ λx. ⟨x, a⟩}',
        "a = ⟨json[1], succ⟩; λx. ⟨a, ⟨1, @m.n (snd ⟨x, ⟨1, 1⟩⟩)⟩⟩",
    ],
)
def test_data_that_is_built_while_linking_changes_nothing(monkeypatch, text, most):
    term = parse_lambda(Source("t", text)).term
    assert term is not None
    whole = App(term, INPUT)
    expected = observe(linked(whole), "x", content(0))
    monkeypatch.setattr("lambdagent.machine.link._MOST_PARTS", most)
    for look in (observe, observe_fast):
        found = look(linked(whole), "x", content(0))
        assert (found.obs, found.counters) == (expected.obs, expected.counters)
    choice = Choice("recursive", "")
    found, _ = observe_on(choice, linked(whole), "x", content(0))
    assert (found.obs, found.counters) == (expected.obs, expected.counters)
