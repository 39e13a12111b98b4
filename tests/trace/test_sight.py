"""Texts of what is seen: the same whether it was seen before or not, and never too many."""

import pytest
from hypothesis import given

from lambdagent.api.history import History
from lambdagent.api.reducing import library
from lambdagent.ir.core import App, Lam, Lit, Term, Var
from lambdagent.ir.program import Program
from lambdagent.ir.walk import nodes
from lambdagent.machine.link import link
from lambdagent.machine.step import start
from lambdagent.trace import sight
from lambdagent.trace.sight import Sight
from lambdagent.trace.step_table import StepTable
from tests.laws.terms import programs
from tests.machine.terms import linked as linked_of
from tests.machine.terms import prim, site, thunk

_LINKED = link(Program(Lam(Var(0)), {}))


@given(programs())
def test_a_term_that_was_seen_is_shown_as_the_first_time(program: Program):
    known = Sight(_LINKED, library())
    for term in nodes(program.term):
        assert known.term(term) == Sight(_LINKED, library()).term(term)


def test_marks_and_names_are_part_of_what_is_shown(monkeypatch: pytest.MonkeyPatch):
    seen = Sight(_LINKED, library())
    one, other = Lam(App(Var(0), Var(0)), "x"), Lam(App(Var(0), Var(0)), "y")
    assert (seen.term(one), seen.term(other)) == ("λx. x x", "λy. y y")
    left, right = Lit(1), Lit(1)
    both: Term = prim("pair", left, right)
    assert seen._marked(both, left) == ("⟨", "1", ", 1⟩")
    assert seen._marked(both, right) == ("⟨1, ", "1", "⟩")
    assert (seen.term(Lit(1)), seen.term(Lit(True))) == ("1", "true")
    monkeypatch.setattr(sight, "_REMEMBERED", 3)
    assert (seen.term(one), seen.term(other)) == ("λx. x x", "λy. y y")


def test_of_many_threads_a_state_shows_some_and_counts_the_rest():
    branches = [thunk(App(site("tool:t"), Lit(n))) for n in range(100)]
    linked = linked_of(prim("par", *branches, params=(100,)))
    history = History(linked, start(linked, "go"), {})
    shown = Sight(linked).threads(history.last, (0, 3))
    assert len(shown) == 41
    assert shown[0].name == "the run"
    assert [each.name for each in shown[3:5]] == ["branch @0.2", "branch @0.4"]
    assert shown[-1] == ("…", "60 more")
    table = StepTable(Sight(linked), history.state(0))
    for number in range(1, history.length + 1):
        table.add(history.move(number))
    assert "60 more" in table.to_json()["texts"]
