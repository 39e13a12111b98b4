"""Law 4: every one-step reduct of a pure term parallel-reduces to its complete development.

A mark on an application says that it is a redex of the term that we began with. To develop is to
contract all marked redexes at once, innermost first; what contraction makes has no mark of its
own. Developing a term is a parallel reduction, so the law holds if contracting any one redex
first leads to the same development.

Source: semantics.md §11; Takahashi, Parallel reductions in λ-calculus, 1995.
"""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import App, Label, Lam, Term, Var
from lambdagent.ir.walk import instantiate

MARK = Label("mark", "redex")


@st.composite
def pure_terms(draw: Any, depth: int = 0, fuel: int = 6) -> Term:
    """Draw a closed λ term; half of the applications are redexes."""
    forms = ["lam"] if depth == 0 else ["var"]
    if fuel > 0:
        forms += ["lam", "app", "redex", "redex"]
    match draw(st.sampled_from(forms)):
        case "var":
            return Var(draw(st.integers(0, depth - 1)))
        case "lam":
            return Lam(draw(pure_terms(depth + 1, fuel - 1)))
        case "app":
            half = fuel // 2
            return App(draw(pure_terms(depth, half)), draw(pure_terms(depth, half)))
    half = fuel // 2
    return App(Lam(draw(pure_terms(depth + 1, half))), draw(pure_terms(depth, half)))


def marked(term: Term) -> Term:
    """Return `term` with all its redexes marked."""
    match term:
        case Lam(body):
            return Lam(marked(body))
        case App(fun, arg):
            mark = MARK if isinstance(fun, Lam) else None
            return App(marked(fun), marked(arg), mark)
    return term


def developed(term: Term) -> Term:
    """Return `term` after all marked redexes are contracted at once."""
    match term:
        case Lam(body):
            return Lam(developed(body))
        case App(Lam(body), arg, label) if label == MARK:
            return instantiate(developed(body), developed(arg))
        case App(fun, arg):
            return App(developed(fun), developed(arg))
    return term


def reducts(term: Term) -> Iterator[Term]:
    """Yield `term` after each one of its marked redexes is contracted; the marks stay."""
    match term:
        case Lam(body):
            yield from map(Lam, reducts(body))
        case App(fun, arg, label):
            if label == MARK and isinstance(fun, Lam):
                yield instantiate(fun.body, arg)
            yield from (App(each, arg, label) for each in reducts(fun))
            yield from (App(fun, each, label) for each in reducts(arg))


@given(pure_terms())
def test_every_reduct_develops_to_the_complete_development(term: Term):
    begun = marked(term)
    whole = developed(begun)
    for reduct in reducts(begun):
        assert alpha_equal(developed(reduct), whole)


def test_a_marked_redex_that_is_copied_stays_marked():
    twice = Lam(App(Var(0), Var(0)))
    inner = App(Lam(Var(0)), Lam(Var(0)), MARK)
    first, second = reducts(App(twice, inner, MARK))
    assert alpha_equal(first, App(inner, inner))
    assert alpha_equal(developed(first), developed(second))
    assert alpha_equal(developed(first), App(Lam(Var(0)), Lam(Var(0))))
