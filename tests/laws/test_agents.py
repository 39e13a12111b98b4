"""Laws 14 and 15, and what holds of every lowered agent."""

from hypothesis import given

from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.walk import free_reach, site_names
from lambdagent.machine.link import link
from tests.laws.agents import agents, answers, compiled, run_agent
from tests.laws.observe import observe, scheduler
from tests.laws.terms import inputs, seeds
from tests.laws.test_schedule import picks

ID = surface.Compose()


@given(agents(depth=4), inputs, seeds)
def test_a_lowered_agent_is_never_stuck(agent, value, seed):
    seen = run_agent(agent, value, seed)
    assert seen.error is None or seen.error["kind"] != "Stuck"


@given(agents(depth=4))
def test_a_lowered_agent_is_closed_and_its_table_is_exact(agent):
    program = compiled(agent)
    assert free_reach(program.term) == 0
    assert site_names(program.term) == set(program.sites)


@given(agents(depth=4))
def test_lowering_is_deterministic(agent):
    assert compiled(agent).digest() == compiled(agent).digest()


@given(agents(), inputs, seeds, picks)
def test_no_schedule_of_an_agent_shows(agent, value, seed, order):
    linked = link(compiled(agent))
    whole = observe(linked, value, answers(seed))
    assert observe(linked, value, answers(seed), choose=scheduler(order)) == whole


# --- law 14 --------------------------------------------------------------------------------------


@given(agents(3), inputs, seeds)
def test_composition_is_associative(three, value, seed):
    f, g, h = three
    flat = run_agent(f >> g >> h, value, seed)
    left = run_agent(surface.Compose(surface.Compose(f, g), h), value, seed)
    right = run_agent(surface.Compose(f, surface.Compose(g, h)), value, seed)
    assert left.obs == right.obs == flat.obs


@given(agents(), inputs, seeds)
def test_the_empty_composition_is_an_identity_on_both_sides(agent, value, seed):
    alone = run_agent(agent, value, seed)
    assert run_agent(surface.Compose(ID, agent), value, seed).obs == alone.obs
    assert run_agent(surface.Compose(agent, ID), value, seed).obs == alone.obs
    assert run_agent(agent >> ID, value, seed).obs == alone.obs


# --- law 15 --------------------------------------------------------------------------------------


@given(agents(4, depth=2), inputs, seeds)
def test_a_route_distributes_over_what_follows(four, value, seed):
    f, g, d, after = four
    classifier = surface.Lam("classifier")
    for default in (d, None):
        then = None if default is None else surface.Compose(default, after)
        outside = surface.Compose(surface.Route(classifier, {"a": f, "b": g}, default), after)
        routes = {"a": surface.Compose(f, after), "b": surface.Compose(g, after)}
        inside = surface.Route(classifier, routes, then)
        left, right = run_agent(outside, value, seed), run_agent(inside, value, seed)
        assert left.keyless == right.keyless


# --- what does not hold --------------------------------------------------------------------------


def test_a_guard_does_not_distribute_over_composition():
    f, g = surface.Lam("f"), surface.Lam("g")
    oracle = iter(["bad", "good", "better"])
    whole = surface.Guard(f >> g, "x == 'good'", 1, "last")
    parts = surface.Guard(f, "x == 'good'", 1, "last") >> surface.Guard(
        g, "x == 'good'", 1, "last"
    )
    calls = observe(compiled(whole), "x", lambda *_: Record(text=next(oracle))).obs.log
    assert [call.site for call in calls] == ["llm:f", "llm:g"]
    oracle = iter(["bad", "good", "better", "best"])
    calls = observe(compiled(parts), "x", lambda *_: Record(text=next(oracle))).obs.log
    assert [call.site for call in calls] == ["llm:f", "llm:f", "llm:g", "llm:g"]


def test_a_loop_tests_after_its_body():
    f = surface.Lam("f")
    tested_after = run_agent(surface.Loop(f, "True", 3), "x", 0)
    tested_before = run_agent(surface.If("True", ID, surface.Loop(f, "True", 3)), "x", 0)
    assert len(tested_after.obs.log) == 1
    assert tested_before.obs.log == ()
    assert tested_before.value == "x"
    assert tested_after.result != tested_before.result


def test_a_tool_is_no_identity_because_of_its_name():
    for name in ("id", "identity", "Terminate", "terminate ", "noop", "pass"):
        seen = run_agent(surface.Tool(name), "x", 0)
        assert [call.site for call in seen.obs.log] == [f"tool:{name}"]
