"""Law 6: recursive ≡ cek ≡ adaptive on outcome, store, log, macro events and all counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.costs import INFINITY
from lambdagent.ir.data import Data
from lambdagent.machine.engines import ENGINES, Choice, choose
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import Event, Store
from lambdagent.machine.values import project
from lambdagent.trace.macro import macro_trace
from lambdagent.trace.text import render
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import Oracle, content, keyed, observe_fast, observe_on
from tests.laws.terms import (
    BOOL,
    NAT,
    STR,
    Maker,
    fun,
    inputs,
    pair_of,
    program,
    programs,
    seeds,
    site,
    spine,
    thrice,
    thunk,
)

DIRECT = Choice("recursive", "asked for")


def shown(events: list[Event]) -> list:
    return [
        (e.key, e.kind, e.name, str(project(e.value)), e.started)
        for e in sorted(events, key=lambda event: event.key)
    ]


def check(linked: Linked, value: Data, oracle: Oracle, store: Store | None = None) -> set[str]:
    whole = observe_fast(linked, value, oracle, store=store)
    ran = set()
    for engine in ENGINES:
        found, choice = observe_on(choose(engine, linked), linked, value, oracle, store)
        assert found.obs == whole.obs
        assert found.counters == whole.counters
        assert shown(found.events) == shown(whole.events)
        ran.add(choice.engine)
    return ran


@thrice
@given(programs(), inputs, seeds)
def test_every_engine_comes_to_the_same_on_terms(one, value, seed):
    check(link(one), value, content(seed))
    check(link(one), value, keyed(seed))


@thrice
@given(agents(), inputs, seeds)
def test_every_engine_comes_to_the_same_on_agents(agent, value, seed):
    linked = link(compiled(agent))
    check(linked, value, answers(seed))
    check(linked, value, answers(seed + 1))


def marked(root: Term, kind: str) -> Term:
    """Return `root` with a label on every application."""
    match root:
        case Lam(body, name):
            return Lam(marked(body, kind), name)
        case App(function, argument):
            return App(marked(function, kind), marked(argument, kind), Label(kind, "here"))
    return root


@given(programs(), inputs, seeds, st.sampled_from(["llm", "tool", "route", "action", "terminate"]))
def test_labels_change_nothing_and_can_be_told_of_any_value(one, value, seed, kind):
    whole = observe_fast(one, value, keyed(seed))
    linked = link(program(marked(one.term, kind)))
    for engine in ENGINES:
        found, _ = observe_on(choose(engine, linked), linked, value, keyed(seed))
        assert found.obs == whole.obs
        records = macro_trace(found.events, {})
        assert len(records) >= sum(event.kind == kind for event in found.events)
        assert render(records, 0.0).count("β[") >= len(records)


def hidden(term: Term, *, constants: bool) -> Term:
    """Return `term` with operands that no longer are lambdas, and constants that are values."""
    match term:
        case Lam(body, name):
            return Lam(hidden(body, constants=constants), name)
        case App(function, argument, label):
            shown = [hidden(part, constants=constants) for part in (function, argument)]
            if isinstance(argument, Lam):
                shown[1] = App(IDENTITY, shown[1])
            if constants and isinstance(function, Prim):
                shown[0] = App(IDENTITY, function)
            return App(*shown, label)
    return term


IDENTITY = Lam(Var(0))


@thrice
@given(programs(), inputs, seeds, st.booleans())
def test_every_engine_comes_to_the_same_on_operands_in_disguise(one, value, seed, constants):
    linked = link(program(hidden(one.term, constants=constants)))
    check(linked, value, keyed(seed))


@thrice
@given(st.data(), inputs, seeds)
def test_a_function_that_comes_out_is_the_same_function(data, value, seed):
    result = data.draw(st.sampled_from([fun(STR, STR), pair_of(fun(NAT, BOOL), fun(STR, NAT))]))
    term = Maker(data.draw).function(STR, result, 6)
    check(link(program(term)), value, content(seed))


@given(programs(), inputs, seeds)
def test_every_engine_goes_on_from_the_same_store(one, value, seed):
    linked = link(one)
    before = observe_fast(linked, value, content(seed)).store
    check(linked, value, keyed(seed), before)


# --- direct style and its limits -----------------------------------------------------------------


def fix(n: int, body: Term, exhaustion: Term) -> Term:
    return spine(Prim("fix", (n,)), body, exhaustion)


def asking_then_deep(n: int) -> Term:
    """Ask a tool, then go `n` calls deep, then ask again: what hands over must not ask twice."""
    body = Lam(Lam(App(Prim("succ"), App(Var(1), Var(0))), "q"), "self")
    deep = App(fix(n, body, Lam(Lit(0))), Var(0))
    again = App(Lam(App(site("tool:nat"), Var(0))), deep)
    return Lam(App(Lam(again), App(site("tool:nat"), Var(0))), "x")


def test_what_hands_over_asks_nothing_twice():
    for depth, engine in ((10, "recursive"), (20_000, "cek")):
        linked = link(program(asking_then_deep(depth)))
        found, choice = observe_on(DIRECT, linked, "x", content(1))
        assert choice.engine == engine
        assert found.counters == observe_fast(linked, "x", content(1), limit=10**7).counters
        assert [call.key for call in found.obs.log] == [(0,), (1,)]
    assert choice.reason == "handed over to cek: Python's recursion limit"


def test_an_effect_from_deep_inside_is_left_to_the_stepping_machine():
    call = App(site("tool:nat"), App(Var(1), Var(0)))
    linked = link(program(Lam(App(fix(400, Lam(Lam(call)), Lam(Lit(0))), Var(0)))))
    found, choice = observe_on(DIRECT, linked, "x", content(1))
    assert choice == Choice("cek", "handed over to cek: an effect deep inside")
    assert len(found.obs.log) == 400


HUGE = 1 << 20_000  # Python writes no such number in decimal


@pytest.mark.parametrize(
    "term",
    [
        fix(HUGE, Lam(Lam(Var(0))), Lam(Var(0))),
        fix(HUGE, Lam(App(IDENTITY, Lam(Var(0)))), Lam(Var(0))),
        spine(Prim("guard", (HUGE,)), IDENTITY, Lam(Lit(True)), IDENTITY),
        Lam(App(Lam(Lit(1)), App(Prim("succ"), Lit(HUGE)))),
        App(Prim("fst"), Lit(HUGE)),
        App(Lit(HUGE), Lit(HUGE)),
        App(spine(Prim("guard", (1,)), IDENTITY, Lam(Lit(HUGE)), IDENTITY), Var(0)),
    ],
)
def test_numbers_may_be_of_any_size(term: Term):
    for body in (App(term, Var(0)), App(Lam(App(Var(0), Var(1))), term)):
        check(link(program(Lam(body))), "x", content(1))


def test_a_tail_loop_is_a_loop():
    body = Lam(Lam(App(Var(1), Var(0)), "q"), "self")
    linked = link(program(fix(20_000, body, Lam(Var(0)))))
    found, choice = observe_on(DIRECT, linked, "x", content(1))
    assert choice.engine == "recursive"
    assert found.counters == (40_001, 0, 20_001, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_long_and_deep_programs_are_right_on_every_engine(engine):
    tail = fix(1_000_000, Lam(Lam(App(Var(1), Var(0)))), Lam(Var(0)))
    deep = fix(100_000, Lam(Lam(App(Prim("succ"), App(Var(1), Var(0))))), Lam(Lit(0)))
    for term, value in ((tail, "x"), (deep, 100_000)):
        linked = link(program(term))
        assert observe_on(choose(engine, linked), linked, "x", content(1))[0].value == value


def test_a_program_beyond_direct_style_runs_all_the_same():
    term: Term = Lit(UNIT)
    for _ in range(500):
        term = Lam(term)
    linked = link(program(Lam(App(Lam(Lit(1)), term))))
    found, choice = observe_on(DIRECT, linked, "x", content(1))
    assert found.value == 1
    assert choice.engine == "cek"
    assert "too large or nested too deep" in choice.reason
    assert "too large" in choose("adaptive", linked).reason


# --- the choice ----------------------------------------------------------------------------------


def test_what_is_wanted_and_what_is_needed_decide():
    plain = link(program(Lam(Var(0))))
    forking = link(program(Lam(spine(Prim("par", (1,)), thunk(Var(0))))))
    assert choose("cek", plain) == ("cek", "asked for")
    assert choose("recursive", plain) == ("recursive", "asked for")
    assert choose(None, plain) == ("recursive", "the default")
    assert choose(None, plain, needs_states="why") == ("cek", "why")
    assert choose("recursive", plain, needs_states="a reason") == ("cek", "a reason")
    assert choose("adaptive", plain) == ("recursive", "adaptive: no fork")
    assert choose("adaptive", forking) == ("cek", "adaptive: the program forks")
    assert choose("adaptive", plain, needs_states="a reason") == ("cek", "a reason")


@pytest.mark.parametrize(
    ("calls", "shown", "engine"),
    [(8, "8", "recursive"), (9, "9", "cek"), (2**9999, "2^10000", "cek"), (INFINITY, "∞", "cek")],
)
def test_adaptive_counts_model_calls_where_a_bound_is_known(calls, shown, engine):
    choice = choose("adaptive", link(program(Lam(Var(0)))), bound=lambda: calls)
    assert choice.engine == engine
    assert f"{shown} model calls" in choice.reason
