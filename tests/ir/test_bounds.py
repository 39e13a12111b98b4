"""The reference values of semantics.md §9, and terms that only people write."""

import json
import time
from collections.abc import Callable

import pytest

from lambdagent.desugar.passes import desugar
from lambdagent.ir import surface
from lambdagent.ir.bounds import Bounds, bounds
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.costs import INFINITY, Interval
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from tests.ir.surface_terms import CHAIN, deep, react
from tests.laws.terms import program, site, spine, thunk

LAM = surface.Lam("w")
IDENTITY = Lam(Var(0))
ASK = App(site("llm:text"), Lit(""))


def of(term: surface.Term) -> Bounds:
    return bounds(desugar(term, lambda text, names: (text, *names)))


def of_body(body: Term) -> Interval:
    """Return the model calls of ``λx. body``."""
    return bounds(program(Lam(body, "x"))).model_calls


def fix(n: int, body: Term, last: Term = IDENTITY) -> Term:
    """``Yₙ(λself. λq. body, last) x``."""
    return App(spine(Prim("fix", (n,)), Lam(Lam(body, "q"), "self"), last), Var(0))


def again() -> Term:
    return App(Var(1), Var(0))


def in_turn(*terms: Term) -> Term:
    """Evaluate all of them."""
    found = terms[0]
    for term in terms[1:]:
        found = spine(Prim("pair"), found, term)
    return found


def choice(left: Term, right: Term) -> Term:
    return spine(Prim("if"), App(site("tool:bool"), Lit("")), thunk(left), thunk(right))


@pytest.mark.parametrize(
    ("term", "least", "most"),
    [
        (LAM, 1, 1),
        (surface.Compose(), 0, 0),
        (CHAIN, 3, 5),
        (LAM >> surface.Guard(LAM, "x", 2, "text") >> LAM, 3, 5),
        (surface.Route(LAM, {"a": LAM, "b": LAM >> LAM}, CHAIN), 2, 6),
        (surface.Route(LAM, {"a": LAM, "b": LAM >> LAM}, LAM >> LAM >> LAM), 2, 4),
        (surface.Route(LAM, {"a": LAM >> LAM}), 3, 3),
        (surface.Route(LAM, {}), 0, 1),
        (react("search", "terminate"), 1, 20),
        (react("search").body, 1, 1),
        ((LAM | (LAM >> LAM) | LAM) >> LAM, 5, 5),
        (surface.Loop(LAM, LAM, 3), 2, 6),
        (surface.Loop(LAM, "True", 0), 0, 0),
        (surface.Loop(LAM >> LAM, "x", 10**12), 2, 2 * 10**12),
        (surface.Loop(LAM, "x", 5, on_exhausted="error"), 1, 5),
        (surface.If(LAM, LAM >> LAM), 1, 3),
        (surface.Guard(LAM, LAM, 2), 2, 6),
        (surface.Guard(LAM, "x", 2**99), 1, 2**99 + 1),
        (surface.Pair(LAM, surface.Tool("t")), 1, 1),
    ],
)
def test_model_calls_lie_in_an_interval(term: surface.Term, least: int, most: int):
    assert of(term).model_calls == Interval(least, most)


def test_a_react_loop_calls_a_tool_once_a_round():
    think = surface.Lam("think", model=Model(provider="scripted", max_tokens=100))
    tools = [surface.Tool("a"), surface.Tool("b"), surface.Tool("terminate")]
    found = of(surface.Loop(surface.ReActStep("r", think=think, tools=tools), max_steps=4))
    assert found.model_calls == Interval(1, 4)
    assert found.tool_calls == Interval(0, 4)
    assert found.sites["tool:a"].calls == Interval(0, 4)
    assert found.output_tokens == 400
    assert found.reasons == ()


def test_each_site_has_its_own_interval():
    a, b, c = (surface.Lam(name) for name in "abc")
    found = of(surface.Route(a, {"x": b >> b}, c))
    shown = {name: str(each.calls) for name, each in found.sites.items()}
    assert shown == {"llm:a": "[1, 1]", "llm:b": "[0, 2]", "llm:c": "[0, 1]"}
    assert str(found.model_calls) == "[2, 3]"


def test_tokens_are_those_of_the_dearest_path():
    small, large = (
        surface.Lam(name, model=Model(provider="scripted", max_tokens=cap))
        for name, cap in (("s", 10), ("l", 70))
    )
    assert of(surface.If("x", small >> small, large)).output_tokens == 70
    uncapped = surface.Lam("u", model=Model(provider="scripted", max_tokens=None))
    assert of(small >> uncapped).output_tokens is None
    assert of(surface.Compose()).output_tokens == 0


# --- fixpoints -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "n", "expected"),
    [
        (in_turn(ASK, again(), again()), 3, Interval(7, 7)),
        (in_turn(ASK, again(), again()), 10_000, Interval(2**10_000 - 1, 2**10_000 - 1)),
        (choice(ASK, in_turn(ASK, again(), again())), 4, Interval(1, 15)),
        (choice(in_turn(ASK, ASK), again()), 3, Interval(0, 2)),
        (choice(Lit(0), in_turn(ASK, again())), 10**9, Interval(0, 10**9)),
        (again(), 10**9, Interval(0, 0)),
    ],
)
def test_a_fixpoint_follows_the_recurrence(body: Term, n: int, expected: Interval):
    assert of_body(fix(n, body)) == expected


def test_what_ends_the_bound_counts():
    last = Lam(in_turn(ASK, ASK, ASK))
    assert of_body(fix(2, again(), last)) == Interval(3, 3)
    assert of_body(fix(2, choice(ASK, again()), last)) == Interval(1, 3)


def test_a_failure_ends_a_path():
    fails = in_turn(ASK, App(site("fail:stop"), Lit("")), ASK, ASK)
    assert of_body(choice(fails, in_turn(ASK, ASK))) == Interval(2, 2)
    assert of_body(fix(3, choice(fails, in_turn(ASK, again())))) == Interval(3, 3)


def beside(*terms: Term) -> Term:
    return spine(Prim("par", (len(terms),)), *map(thunk, terms))


FAILS = App(site("fail:stop"), ASK)


def test_branches_run_to_their_end_where_others_fail():
    assert of_body(beside(FAILS, FAILS, ASK)) == Interval(0, 3)
    assert of_body(fix(3, beside(again(), again()), Lam(FAILS))) == Interval(0, 8)
    assert of_body(fix(3, in_turn(again(), again()), Lam(FAILS))) == Interval(0, 1)
    every = of_body(spine(Prim("pmap"), Lam(FAILS), spine(Prim("cons"), Lit(1), Prim("nil"))))
    assert every == Interval(0, INFINITY)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        (choice(Lit(0), App(Lam(FAILS), in_turn(again(), again()))), 10**9),
        pytest.param(
            choice(Lit(0), App(Lam(FAILS), beside(again(), again()))),
            INFINITY,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            choice(in_turn(ASK, again()), App(Lam(FAILS), in_turn(again(), again()))),
            INFINITY,
            marks=pytest.mark.slow,
        ),
        (beside(again(), again()), 0),
    ],
)
def test_long_fixpoints_are_worked_out_in_few_rounds(body: Term, most: float):
    began = time.process_time()
    assert of_body(fix(10**9, body)).most == most
    assert time.process_time() - began < 10


def test_a_loop_in_a_loop_may_call_both_selves():
    inner = fix(2, choice(App(Var(3), Lit(0)), in_turn(ASK, again())))
    assert of_body(fix(3, inner)).least == 0
    assert of_body(fix(3, inner)).most >= 6
    assert of_body(fix(3, inner)).most != INFINITY


# --- functions that flow -------------------------------------------------------------------------


def test_functions_are_followed_through_variables_and_pairs():
    ask = Lam(App(site("llm:text"), Var(0)))
    both = spine(Prim("pair"), ask, Lam(Var(0)))
    called = App(App(Prim("fst"), Var(0)), Lit(""))
    assert of_body(App(Lam(in_turn(called, called)), both)) == Interval(2, 2)
    either = choice(ask, Lam(Var(0)))
    assert of_body(App(either, Lit(""))) == Interval(0, 1)


def test_a_caught_failure_may_come_at_any_effect():
    body = in_turn(ASK, ASK)
    assert of_body(spine(Prim("catch"), thunk(body), Lam(ASK))) == Interval(1, 3)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (spine(Prim("pmap"), site("llm:text"), Var(0)), "`pmap` runs a function once for each"),
        (App(Lam(App(Var(0), Var(0))), Lam(in_turn(ASK, App(Var(0), Var(0))))), "applies itself"),
        (App(fix(2, Lam(in_turn(ASK, Var(0)))), Lit(0)), "not known before the run"),
    ],
)
def test_what_is_not_known_is_infinite_and_says_why(body: Term, reason: str):
    found = bounds(program(Lam(body)))
    assert found.model_calls.most == INFINITY
    assert reason in found.reasons[0]
    assert f"∞: {found.reasons[0]}" in found.describe()
    assert found.to_json()["modelCalls"] == [found.model_calls.least, "∞"]


@pytest.mark.slow
def test_numbers_beyond_all_use_are_infinite():
    found = bounds(program(Lam(fix(10**9, in_turn(ASK, again(), again())))))
    assert found.model_calls.most == INFINITY
    assert "binary digits" in found.reasons[0]


def test_large_numbers_are_exact_in_json():
    term = surface.Guard(LAM, "x", 2**99)
    assert json.loads(json.dumps(of(term).to_json()))["modelCalls"] == [1, 2**99 + 1]
    assert "[1, 2^100]" in of(term).describe()
    huge = fix(10_000, in_turn(ASK, again(), again()))
    assert json.dumps(bounds(program(Lam(huge))).to_json())


# --- cost ----------------------------------------------------------------------------------------


def nested(levels: int) -> surface.Term:
    term: surface.Term = LAM
    for _ in range(levels):
        term = surface.Loop(term >> LAM, LAM, 10_000)
    return term


def doubled(levels: int) -> Term:
    """``let f₁ = λx. f₀ (f₀ x) in …``: 2^levels calls in a term of linear size."""
    term: Term = App(Var(0), Lit(""))
    for _ in range(levels):
        term = App(Lam(term), Lam(App(Var(1), App(Var(1), Var(0)))))
    return Lam(App(Lam(term), Lam(App(site("llm:text"), Var(0)))))


@pytest.mark.slow
def test_the_analysis_is_polynomial():
    agents = [surface.Lam(f"w{number}") for number in range(500)]
    began = time.process_time()
    assert of(surface.Compose(*agents)).model_calls == Interval(500, 500)
    assert of(surface.Route(LAM, {a.name: a for a in agents[:200]})).model_calls.most == 2
    assert of(nested(5)).model_calls.least == 11
    assert bounds(program(doubled(200))).model_calls == Interval(2**200, 2**200)
    assert time.process_time() - began < 5


def test_a_chain_of_many_stages_is_added_up_in_pairs():
    """Each stage adds sites of its own, and one more way to fail."""
    stages = [surface.Guard(surface.Lam(f"w{i}"), "len(x) > 1", retry=1) for i in range(1_000)]
    began = time.process_time()
    found = of(surface.Compose(*stages))
    assert found.model_calls == Interval(1_000, 2_000)
    assert found.sites["llm:w999"].calls == Interval(1, 2)
    assert time.process_time() - began < 5


def test_many_routes_are_looked_through_once():
    routes = {f"r{i}": surface.Lam(f"w{i}") for i in range(1_500)}
    began = time.process_time()
    found = of(surface.Route(LAM, routes))
    assert found.model_calls == Interval(2, 2)
    assert found.sites["llm:w7"].calls == Interval(0, 1)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("number", range(8))
def test_deep_agents_have_bounds(number: int):
    assert of(deep(number, 500)).model_calls.most >= 0


def test_a_program_that_asks_nobody_has_no_rows():
    found = of(surface.Compose())
    assert found.sites == {}
    assert found.describe().startswith("site        calls   output tokens\n")
    assert Record(found.to_json())["reasons"] == []


# What uses a function twice, and how often a run calls it where it does that 60 times.
DOUBLED = {
    "pairs": (lambda f: App(Prim("fst"), spine(Prim("pair"), f, f)), 1),
    "lists": (lambda f: spine(Prim("cons"), f, spine(Prim("cons"), f, Prim("nil"))), 1),
    "branches": (lambda f: Lam(spine(Prim("if"), Lit(True), thunk(f), thunk(f), Var(0))), 1),
    "chains": (lambda f: Lam(App(f, App(f, Var(0)))), 2**60),
    "curried": (lambda f: Lam(spine(Lam(f), Lit(0), spine(Lam(f), Lit(0), Var(0)))), 2**60),
}


@pytest.mark.parametrize(("double", "most"), DOUBLED.values(), ids=DOUBLED)
def test_what_is_shared_is_worked_out_once(double: Callable[[Term], Term], most: int):
    function: Term = site("llm:text")
    for _ in range(60):
        function = double(function)
    assert of_body(App(function, Var(0))).most == most
