"""Law 22: the upper bounds hold on every prefix of every run, the lower on runs that succeed."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir import surface
from lambdagent.ir.bounds import Bounds, bounds
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.costs import Interval
from lambdagent.ir.data import Data, Record
from lambdagent.ir.labels import MOST_CALLS
from lambdagent.ir.program import Program
from tests.laws import terms
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import Answer, Oracle, Path, Seen, content, keyed, observe_fast
from tests.laws.terms import (
    DATA,
    STR,
    Maker,
    inputs,
    programs,
    seeds,
    spine,
    thrice,
    thunk,
)


def check(program: Program, found: Bounds, value: str, oracle: Oracle) -> None:
    """Every prefix of a log is smaller than the log, so that the whole log shows them all."""
    seen = observe_fast(program, value, oracle)
    counts = Counter(call.site for call in seen.obs.log)
    assert counts.keys() <= found.sites.keys()
    for name, site in found.sites.items():
        within(counts[name], site.calls, seen)
    for kind, interval in (("llm", found.model_calls), ("tool", found.tool_calls)):
        asked = sum(n for name, n in counts.items() if program.sites[name].kind == kind)
        within(asked, interval, seen)


def within(count: int, interval: Interval, seen: Seen) -> None:
    assert count <= interval.most
    assert seen.error is not None or interval.least <= count


@thrice
@given(agents(), inputs, seeds)
def test_agents_stay_within_their_bounds(agent, value, seed):
    program = compiled(agent)
    found = bounds(program)
    assert found.reasons == ()
    for number in range(3):
        check(program, found, value, answers(seed + number))


@thrice
@given(programs(), inputs, seeds)
def test_programs_stay_within_their_bounds(program, value, seed):
    found = bounds(program)
    check(program, found, value, content(seed))
    check(program, found, value, keyed(seed))


@st.composite
def forks(draw: Any) -> Program:
    """Programs whose branches fail, most of them always, where others still run."""
    maker = Maker(draw)
    one, two = (
        maker.failing(STR) if draw(st.integers(0, 3)) else maker.function(STR, STR)
        for _ in range(2)
    )
    calls = [thunk(App(function, Var(0))) for function in (one, two)]
    items = spine(Prim("cons"), Var(0), spine(Prim("cons"), Lit("a"), Prim("nil")))
    again = [thunk(App(Var(1), Var(0))) for _ in range(2)]
    in_turn = App(Lam(App(Lam(Var(1)), App(Var(2), Var(1)))), App(Var(1), Var(0)))
    form = draw(st.sampled_from(["pmap", "par", "fix", "fix in turn", "map of fix"]))
    most = draw(st.sampled_from([(), (2,), (3, 1)]))
    body: Term = spine(Prim("pmap", most), one, items)
    if form == "par":
        body = spine(Prim("par", (2,)), *calls)
    elif form != "pmap":
        step = {
            "fix": App(Prim("fst"), spine(Prim("par", (2,)), *again)),
            "fix in turn": in_turn,
            "map of fix": App(Lam(Var(1)), spine(Prim("pmap", most), Var(1), items)),
        }[form]
        step = draw(st.sampled_from([step, App(Lam(App(two, Var(1))), step)]))
        body = App(spine(Prim("fix", (draw(st.integers(0, 4)),)), Lam(Lam(step)), one), Var(0))
    if draw(st.booleans()):
        body = spine(Prim("catch"), thunk(body), maker.function(DATA, STR))
    return terms.program(Lam(body, "x"))


@thrice
@given(forks(), inputs, seeds)
def test_forks_whose_branches_fail_stay_within_their_bounds(program, value, seed):
    found = bounds(program)
    check(program, found, value, content(seed))
    check(program, found, value, keyed(seed))


def test_both_bounds_are_attained_where_models_choose():
    writer, twice = surface.Lam("writer1"), surface.Lam("writer2") >> surface.Lam("writer3")
    step = surface.ReActStep("react1", think=surface.Lam("writer4"), tools=[surface.Tool("look")])
    for agent in (
        surface.Route(surface.Lam("writer5"), {"a": writer, "b": twice}, twice >> writer),
        surface.Loop(step, max_steps=3),
        surface.Guard(writer, "x == 'yes'", 2, "text") >> surface.Loop(twice, "x == 'no'", 2),
    ):
        program = compiled(agent)
        runs = [observe_fast(program, "x", keyed_answers(seed)) for seed in range(160)]
        asked = [sum(call.site.startswith("llm:") for call in seen.obs.log) for seen in runs]
        assert Interval(min(asked), max(asked)) == bounds(program).model_calls


def keyed_answers(seed: int) -> Oracle:
    """Answer by who asks, so that a question asked again may have another answer."""
    answered = answers(seed)

    def oracle(key: Path, site: str, _argument: Data) -> Answer:
        said = answered(key, site, str(key))
        return Record(text="no") if isinstance(said, Record) and "tool_calls" in said else said

    return oracle


def test_the_bound_of_several_calls_is_finite_and_attained():
    look = surface.Tool("look")
    step = surface.ReActStep("r", think=surface.Lam("w"), tools=[look], max_concurrent=2)
    found = bounds(compiled(surface.Loop(step, max_steps=3)))
    assert (found.model_calls, found.tool_calls) == (Interval(1, 3), Interval(0, 3 * MOST_CALLS))
    assert found.reasons == ()
    call = '{"tool": "look", "args": "a"}'
    said = Record(text="\n".join([call] * MOST_CALLS))
    program = compiled(surface.Loop(step, max_steps=3))
    seen = observe_fast(program, "x", lambda _, site, __: said if site == "llm:w" else "")
    calls = [each.site for each in seen.obs.log]
    assert calls.count("tool:look") == 3 * MOST_CALLS
