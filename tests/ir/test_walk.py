import pytest

from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.walk import (
    children,
    free_reach,
    instantiate,
    nodes,
    shift,
    site_names,
    size,
)

DEEP = 100_000


def deep(depth: int = DEEP) -> Term:
    """``λ. (λ. (… 0 ()) ()``, of free reach 0."""
    term: Term = Var(0)
    for _ in range(depth // 2):
        term = Lam(App(term, Var(0)))
    return term


def test_nodes_come_children_first_and_once():
    shared = Lit(1)
    term = App(App(Prim("pair"), shared), shared)
    found = list(nodes(term))
    assert found.index(shared) < found.index(term)
    assert found[-1] is term
    assert len(found) == size(term) == 4


def test_children_stand_left_to_right():
    f, x = Var(0), Var(1)
    assert children(App(f, x)) == (f, x)
    assert children(Lam(f)) == (f,)
    assert children(f) == ()


def test_free_reach_counts_the_binders_that_are_missing():
    assert free_reach(Lam(Var(0))) == 0
    assert free_reach(Lam(Var(1))) == 1
    assert free_reach(App(Var(0), Lam(Var(3)))) == 3
    assert free_reach(Lit(1)) == 0


def test_sites_are_found_by_name():
    term = Lam(App(Prim("site", ("a",)), App(Prim("site", ("b",)), Prim("fix", (1,)))))
    assert site_names(term) == {"a", "b"}


def test_shifting_moves_free_variables_only():
    term = Lam(App(Var(0), Var(1)))
    assert alpha_equal(shift(term, 2), Lam(App(Var(0), Var(3))))
    assert shift(term, 0) is term


def test_a_closed_term_is_shared_by_substitution():
    closed = Lam(App(Var(0), Lit(1)))
    assert shift(closed, 3) is closed
    result = instantiate(App(closed, Var(0)), Lit(2))
    assert isinstance(result, App)
    assert result.fun is closed


def test_instantiation_lowers_the_other_variables():
    body = Lam(App(Var(1), App(Var(2), Var(0))))
    expected = Lam(App(Lit("v"), App(Var(1), Var(0))))
    assert alpha_equal(instantiate(body, Lit("v")), expected)


@pytest.mark.slow
def test_walks_go_100_000_deep():
    term = deep()
    assert free_reach(term) == 0
    assert size(term) > DEEP // 2
    assert site_names(term) == set()
    assert alpha_equal(shift(term, 1), term)
    assert alpha_equal(instantiate(term, Lit(1)), term)
