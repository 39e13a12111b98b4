"""Law 22: the upper bounds hold on every prefix of every run, the lower on runs that succeed."""

from collections import Counter

from hypothesis import given

from lambdagent.ir import surface
from lambdagent.ir.bounds import Bounds, bounds
from lambdagent.ir.costs import Interval
from lambdagent.ir.program import Program
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import Oracle, Seen, content, keyed, observe_fast
from tests.laws.terms import inputs, programs, seeds, thrice


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


def test_both_bounds_are_attained_where_models_choose():
    writer, twice = surface.Lam("writer1"), surface.Lam("writer2") >> surface.Lam("writer3")
    step = surface.ReActStep("react1", think=surface.Lam("writer4"), tools=[surface.Tool("look")])
    for agent in (
        surface.Route(surface.Lam("writer5"), {"a": writer, "b": twice}, twice >> writer),
        surface.Loop(step, max_steps=3),
        surface.Guard(writer, "x == 'yes'", 2, "text") >> surface.Loop(twice, "x == 'no'", 2),
    ):
        program = compiled(agent)
        runs = [observe_fast(program, "x", keyed_answers(seed)) for seed in range(80)]
        asked = [sum(call.site.startswith("llm:") for call in seen.obs.log) for seen in runs]
        assert Interval(min(asked), max(asked)) == bounds(program).model_calls


def keyed_answers(seed: int) -> Oracle:
    """Answer by who asks, so that a question asked again may have another answer."""
    return lambda key, site, _argument: answers(seed)(key, site, str(key))
