"""Every recorded run is what its program does, and none with one thing changed in it."""

import copy
import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lambdagent.api.checking import check
from lambdagent.api.history import History
from lambdagent.errors import LambdagentError
from lambdagent.ir import surface
from lambdagent.machine.link import link
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Kind
from lambdagent.machine.step import start
from lambdagent.trace.flamegraph import WEIGHTS, frames
from lambdagent.trace.nesting import Nesting
from lambdagent.trace.reductions import reduction_of
from lambdagent.trace.rulebook import RULES
from lambdagent.trace.transition import transition_of
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import content, observe
from tests.laws.recorded import ENGINES, loaded, of_program, recorded
from tests.laws.terms import inputs, programs, seeds

engines = st.sampled_from(ENGINES)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "run.json"


@given(programs(), inputs, seeds, engines)
def test_each_run_of_a_program_is_what_it_does(program, value, seed, engine):
    run = of_program(program, recorded(program, value, content(seed), engine))
    assert check(run).wrong is None


@given(agents(), inputs, seeds, engines)
def test_each_run_of_an_agent_is_what_it_does(path, agent, value, seed, engine):
    run = loaded(recorded(compiled(agent), value, answers(seed), engine), path)
    verdict = check(run)
    assert verdict.wrong is None
    assert verdict.requests == len(run.told.intents)
    assert verdict.steps == len(run.records)


def change_a_digest(data, draw):
    intents = [record for record in data["journal"] if record[0] == 0]
    assume(intents)
    draw(st.sampled_from(intents))[3] ^= 1


def change_a_site(data, draw):
    intents = [record for record in data["journal"] if record[0] == 0]
    assume(intents)
    draw(st.sampled_from(intents))[2] += "x"


def change_an_answer(data, draw):
    """Change what a model or a tool said; of a time nobody can tell."""
    sites = {tuple(record[1]): record[2] for record in data["journal"] if record[0] == 0}
    told = [r for r in data["journal"] if r[0] == 1 and sites[tuple(r[1])].startswith(SHOWN)]
    assume(told)
    record = draw(st.sampled_from(told))
    record[2] = {"text": "changed"} if isinstance(record[2], dict) else f"changed {record[2]}"


SHOWN = ("llm:", "tool:")


def forget_a_request(data, draw):
    told = [record for record in data["journal"] if record[0] == 0]
    assume(told and "result" in data)
    key = draw(st.sampled_from(told))[1]
    data["journal"] = [record for record in data["journal"] if record[1] != key]


def invent_a_request(data, draw):
    record = [0, [999_999], "llm:nobody", 1, 1]
    data["journal"].append(record)


def change_a_record(data, draw):
    assume(data["trace"])
    row = draw(st.sampled_from(data["trace"]))
    name = draw(st.sampled_from(["step", "term", "kind", "input", "output"]))
    row[name] = 77 if name == "step" else f"{row[name]}x"


def forget_a_record(data, draw):
    assume(data["trace"])
    del data["trace"][draw(st.integers(0, len(data["trace"]) - 1))]


def invent_a_record(data, draw):
    assume(data["trace"])
    row = copy.copy(draw(st.sampled_from(data["trace"])))
    data["trace"].append({**row, "step": len(data["trace"])})


def change_a_counter(data, draw):
    assume("stats" in data)
    reductions = data["stats"]["reductions"]
    reductions[draw(st.sampled_from(sorted(reductions)))] += 1


def change_a_sum(data, draw):
    assume("stats" in data)
    name = draw(st.sampled_from(["transitions", "total_steps", "total_tokens", "engine"]))
    data["stats"][name] = "x" if name == "engine" else (data["stats"][name] or 0) + 1


def change_the_outcome(data, draw):
    name = "result" if "result" in data else "error"
    data[name] = f"{data[name]}x"


def change_the_kind_of_outcome(data, draw):
    if "result" in data:
        data["error"] = f"error[E001]: {data.pop('result')}"
    else:
        data["result"] = data.pop("error")


def change_the_input(data, draw):
    data["input"] = [data["input"]]


def change_the_name(data, draw):
    data["agent"] += "x"


def change_the_first_state(data, draw):
    data["start"] = json.loads(json.dumps(data["start"]))
    data["start"]["transitions"] += 1


def change_a_type(data, draw):
    name = draw(st.sampled_from(["trace", "stats"]))
    assume(name in data)
    data[name] = draw(st.sampled_from([None, 3, "x", {}, {"total_steps": []}, True]))


def forget_a_sum(data, draw):
    assume("stats" in data)
    known = [name for name in SUMS if data["stats"][name] is not None]
    del data["stats"][draw(st.sampled_from(known))]


SUMS = ("total_steps", "total_tokens", "total_cost_usd", "engine", "transitions", "reductions")


def forget_a_part_of_a_record(data, draw):
    assume(data["trace"])
    row = draw(st.sampled_from(data["trace"]))
    del row[draw(st.sampled_from(["step", "term", "kind", "input", "output"]))]


def invent_tokens(data, draw):
    assume(data["trace"])
    row = draw(st.sampled_from(data["trace"]))
    row["tokens"] = {"input": 1, "output": 1}


CHANGES = (
    change_a_digest,
    change_a_site,
    change_an_answer,
    forget_a_request,
    invent_a_request,
    change_a_record,
    forget_a_record,
    invent_a_record,
    change_a_counter,
    change_a_sum,
    change_the_outcome,
    change_the_kind_of_outcome,
    change_the_input,
    change_the_name,
    change_the_first_state,
    change_a_type,
    forget_a_sum,
    forget_a_part_of_a_record,
    invent_tokens,
)


@settings(max_examples=2 * settings().max_examples)
@given(agents(), inputs, seeds, st.data())
def test_no_run_with_one_thing_changed_is(path, agent, value, seed, data):
    change = data.draw(st.sampled_from(CHANGES))
    told = recorded(compiled(agent), value, answers(seed), data.draw(engines))
    change(told, data.draw)
    wrong = check(loaded(told, path)).wrong
    assert wrong is not None
    assert wrong.recorded != wrong.computed


@given(agents(), inputs, seeds, st.data())
def test_a_run_is_that_of_no_other_program(path, agent, value, seed, data):
    told = recorded(compiled(agent), value, answers(seed), data.draw(engines))
    models = [site for site in told["program"]["sites"] if site["kind"] == "llm"]
    assume(models)
    data.draw(st.sampled_from(models))["static"]["prompt"] += "!"
    if data.draw(st.booleans()):
        del told["program"]["digest"]
    with pytest.raises(LambdagentError):
        check(loaded(told, path))


OF_PROGRAMS = (
    change_a_digest,
    change_a_site,
    forget_a_request,
    invent_a_request,
    change_a_counter,
    change_a_sum,
    forget_a_sum,
    change_the_outcome,
    change_the_kind_of_outcome,
    change_a_type,
)


@given(programs(), inputs, seeds, st.data())
def test_no_run_of_a_program_with_one_thing_changed_is(program, value, seed, data):
    change = data.draw(st.sampled_from(OF_PROGRAMS))
    told = recorded(program, value, content(seed), data.draw(engines))
    change(told, data.draw)
    assert check(of_program(program, told)).wrong is not None


def parts_of(agent):
    """Return the classes of all terms of an agent."""
    found, stack = set(), [agent]
    while stack:
        term = stack.pop()
        found.add(type(term))
        stack += surface.parts(term)
    return found


def test_the_agents_of_these_laws_have_every_construct():
    found = set()

    @settings(max_examples=150, derandomize=True, database=None)
    @given(agents())
    def gather(agent):
        found.update(parts_of(agent))

    gather()
    every = {each for each in vars(surface).values() if isinstance(each, type)}
    terms = {each for each in every if issubclass(each, surface.Term)} - {surface.Term}
    assert terms - found == set()


def rules_of(run):
    """Return the names of the rules that a run uses; it is what its program does."""
    assert check(run).wrong is None
    history, readback = run.history, Readback.of(run.linked)
    fired, state = set(), history.state(0)
    for number in range(1, history.length + 1):
        move = history.move(number, state)
        fired.add(transition_of(readback, move).rule.name)
        state = move.after
    return fired


def test_the_runs_of_these_laws_use_every_rule():
    fired = set()

    @settings(max_examples=100, derandomize=True, database=None)
    @given(programs(), agents(), inputs, seeds)
    def gather(program, agent, value, seed):
        for one, oracle in ((program, content(seed)), (compiled(agent), answers(seed))):
            fired.update(rules_of(of_program(one, recorded(one, value, oracle, ENGINES[0]))))

    gather()
    assert set(RULES) - fired <= {"stuck"}, "typed programs are never stuck"


@given(agents(), inputs, seeds, st.sampled_from(WEIGHTS))
def test_frames_are_as_wide_as_what_they_hold(path, agent, value, seed, by):
    run = loaded(recorded(compiled(agent), value, answers(seed), ENGINES[0]), path)
    places = Nesting(run.linked).places(run.records, run.execution.exchanges)
    root = frames("run", run.records, places, by)
    assert root.steps == len(run.records)
    stack = [root]
    while stack:
        frame = stack.pop()
        inner = list(frame.inner.values())
        if inner:
            assert sum(each.weight for each in inner) == pytest.approx(frame.weight)
            assert sum(each.steps for each in inner) == frame.steps
        stack += inner


@given(programs(), inputs, seeds)
def test_the_calculus_says_what_each_transition_counts(program, value, seed):
    linked = link(program)
    told = {}
    oracle = content(seed)

    def note(key, site, argument):
        told[key] = oracle(key, site, argument)
        return told[key]

    end = observe(linked, value, note)
    history = History(linked, start(linked, value), told)
    counts = dict.fromkeys("βδμγεπ", 0)
    state = history.state(0)
    for number in range(1, history.length + 1):
        move = history.move(number, state)
        name = reduction_of(linked, state.threads[move.path].state)
        state = move.after
        if name:
            counts[RULES[name].kind] += 1
    stuck = end.error is not None and end.error["kind"] == "Stuck"
    assert sum(counts.values()) - sum(end.counters) <= (1 if stuck else 0)
    if not stuck:
        assert tuple(counts.values()) == end.counters
    assert len(counts) == len(Kind)
