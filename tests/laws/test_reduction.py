"""Reduction of pure terms: the strategies agree with the machine, and with each other (law 4)."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lambdagent.api.reducing import Line, Reducible, library, lines
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.printer import print_term
from lambdagent.ir.walk import free_reach
from lambdagent.machine.reduction import STRATEGIES, Step, impure, reduction
from lambdagent.source import Source
from tests.laws import reference
from tests.laws.observe import content, observe
from tests.laws.terms import SMALL, STR, Maker, Type, Types, program

MOST_STEPS = 400


class TermMaker(Maker):
    """Draws terms without effects and without what controls them."""

    def __init__(self, draw: Any) -> None:
        super().__init__(draw, pure=True)
        del self._forms["par"]

    def guard(self, argument: Type, result: Type, types: Types, fuel: int) -> Term:
        return self.function(argument, result, fuel, types)

    def _pmap(self, wanted: Type, types: Types, fuel: int) -> Term:
        return self._plain(wanted, types, fuel)


@st.composite
def functions(draw: Any) -> Term:
    result = draw(st.sampled_from([t for t in SMALL if t[0] != "fun"]))
    return TermMaker(draw).function(STR, result, 5)


def last(term: Term, strategy: str) -> Step:
    *_, step = islice(reduction(term, strategy), MOST_STEPS)
    assume(step.redex is None)
    return step


@given(functions())
def test_call_by_value_gives_what_the_machine_gives(function):
    assert impure(function) is None
    step = last(App(function, Lit("a")), "cbv")
    seen = observe(program(function), "a", content(0))
    assert step.stuck is None
    assert reference.to_machine(step.term) == seen.value


@given(functions())
def test_all_strategies_lead_to_one_normal_form(function):
    term = App(function, Lit("a"))
    normal = last(term, "normal").term
    for strategy in ("cbv", "need"):
        assert alpha_equal(last(last(term, strategy).term, "normal").term, normal, labels=False)


@given(functions(), st.sampled_from(STRATEGIES))
def test_the_path_of_a_step_leads_to_its_redex(function, strategy):
    for step in islice(reduction(App(function, Lit("a")), strategy), MOST_STEPS):
        here: Any = step.term
        for side in step.redex.path() if step.redex else ():
            here = getattr(here, side)
        assert step.redex is None or here is step.redex.place.term


LEARNED = (
    "ADD church[2] church[3]",
    "MUL church[2] church[2]",
    "λTRUE I. NOT (AND TRUE (OR I FALSE))",
    "SND (PAIR church[1] church[0])",
    "ISZERO (SUCC church[0])",
    "S K K (λx. x)",
    "λx. [fst ⟨x, I⟩, (λy. y) x, I] :: nil",
)


def shown(term: Term, strategy: str, *, fold: bool) -> Iterator[tuple[str, Term]]:
    start = Reducible(term, library())
    texts = lines(start, strategy, max_steps=MOST_STEPS, fold=fold)
    for line, step in zip(texts, reduction(term, strategy), strict=False):
        if not hasattr(line, "path"):
            return
        yield line.before + line.redex + line.after, step.term


def check_reading(term: Term, strategy: str, *, fold: bool) -> None:
    for text, expected in shown(term, strategy, fold=fold):
        read = parse_lambda(Source("line", text), library()).term
        assert read is not None
        assert alpha_equal(read, expected, labels=False), text


@given(functions(), st.sampled_from(STRATEGIES), st.booleans())
def test_each_printed_step_reads_back(function, strategy, fold):
    check_reading(App(function, Lit("a")), strategy, fold=fold)


def check_mark(term: Term, strategy: str, *, fold: bool) -> None:
    start = Reducible(term, library())
    texts = lines(start, strategy, max_steps=MOST_STEPS, fold=fold)
    for line, step in zip(texts, reduction(term, strategy), strict=False):
        if not isinstance(line, Line) or step.redex is None:
            return
        redex = step.redex.place.term
        if free_reach(redex) == 0:
            read = parse_lambda(Source("redex", line.redex), library()).term
            assert read is not None
            assert alpha_equal(read, redex, labels=False), line


@given(functions(), st.sampled_from(STRATEGIES), st.booleans())
def test_what_is_marked_is_the_redex(function, strategy, fold):
    check_mark(App(function, Lit("a")), strategy, fold=fold)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("fold", [True, False])
def test_what_is_marked_for_learners_is_the_redex(strategy, fold):
    for text in (*LEARNED, "(λf. λx. f (f x)) (λy. λx. y) 3", "(λx. x) (λx. x) ((λy. y) 1) 2"):
        term = parse_lambda(Source("line", text), library()).term
        assert term is not None
        check_mark(term, strategy, fold=fold)


@pytest.mark.parametrize("text", LEARNED)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("fold", [True, False])
def test_each_printed_step_of_learners_reads_back(text, strategy, fold):
    term = parse_lambda(Source("line", text), library()).term
    assert term is not None
    check_reading(term, strategy, fold=fold)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_deep_terms_are_reduced(strategy):
    term: Term = Lit(1)
    identity = Lam(Var(0, "x"), "x")
    for _ in range(10_000):
        term = App(identity, term)
    steps = list(islice(reduction(term, strategy), 4))
    assert [step.number for step in steps] == [0, 1, 2, 3]
    assert len(print_term(steps[-1].term)) > 10_000
    ten = list(islice(lines(Reducible(term, {}), strategy, max_steps=2, fold=True), 4))
    assert len(ten) == 4
    wide: Term = Lam(Var(0), "x")
    for _ in range(10_000):
        wide = App(wide, identity)
    assert len(list(islice(reduction(wide, strategy), 3))) == 3
    under: Term = App(Prim("succ"), Lit(1))
    for _ in range(10_000):
        under = Lam(under, "x")
    redex = next(reduction(under, strategy)).redex
    if strategy == "normal":
        assert redex is not None
        assert redex.path() == ("body",) * 10_000
    else:
        assert redex is None
