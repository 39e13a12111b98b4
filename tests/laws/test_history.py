"""A history finds every state of a run again, and says of each transition what it did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api import history as histories
from lambdagent.api.history import History
from lambdagent.ir.alpha import alpha_equal
from lambdagent.machine.checkpoint import encode_machine
from lambdagent.machine.link import link
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Join, Kind
from lambdagent.machine.step import requests, resume, runnable, start, step
from lambdagent.machine.values import project
from lambdagent.trace.rulebook import RULES
from lambdagent.trace.transition import transition_of
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import content
from tests.laws.terms import inputs, programs, seeds

MOST = 600


@pytest.fixture(autouse=True)
def few_marks(monkeypatch):
    """Keep so few states that runs of some ten transitions forget some."""
    monkeypatch.setattr(histories, "_MARKS", 2)
    monkeypatch.setattr(histories, "_FIRST_STRIDE", 3)


def live(linked, value, oracle):
    """Return the states of a run whose requests are answered when nothing else can move."""
    machine = start(linked, value)
    states, told = [machine], {}
    while machine.transitions < MOST:
        asked = requests(machine)
        if runnable(machine):
            machine = step(linked, machine)
        elif asked:
            key, request = asked[0]
            told[key] = oracle(key, request.site, project(request.argument))
            machine = resume(linked, machine, key, told[key])
        else:
            break
        states.append(machine)
    return states, told


def check(program, value, oracle, places):
    linked = link(program)
    states, told = live(linked, value, oracle)
    history = History(linked, states[0], told, limit=MOST)
    assert history.length == len(states) - 1
    assert history.last.counters == states[-1].counters
    for place in places:
        number = place % len(states)
        assert encode_machine(linked, history.state(number)) == encode_machine(
            linked, states[number]
        )
    for number in (-1, len(states)):
        with pytest.raises(IndexError):
            history.state(number)
    return linked, history


places = st.lists(st.integers(0, MOST), min_size=1, max_size=5)


@given(programs(), inputs, seeds, places)
def test_each_state_of_a_program_is_found_again(program, value, seed, places):
    check(program, value, content(seed), places)


@given(agents(), inputs, seeds, places)
def test_each_state_of_an_agent_is_found_again(agent, value, seed, places):
    check(compiled(agent), value, answers(seed), places)


@given(programs(), inputs, seeds)
def test_the_trace_has_as_many_reductions_as_the_machine_counts(program, value, seed):
    linked, history = check(program, value, content(seed), [])
    readback = Readback.of(linked)
    counts = dict.fromkeys(Kind, 0)
    machine = history.state(0)
    for number in range(1, history.length + 1):
        move = history.move(number, machine)
        made = transition_of(readback, move)
        assert made.rule is RULES[made.rule.name]
        if made.rule.kind:
            counts[Kind("βδμγεπ".index(made.rule.kind))] += 1
        # What is shown is where the thread stood, and where it stands.
        thread = move.before.threads[made.path]
        if not isinstance(thread.state, Join):
            whole = readback.plug(readback.focus(thread, {}), getattr(thread.state, "kont", ()))
            assert alpha_equal(readback.plug(made.redex, made.around), whole, labels=False)
        machine = move.after
    assert tuple(counts.values()) == history.last.counters


@given(programs(), inputs, seeds, st.integers(0, MOST), st.sampled_from(Kind))
def test_the_next_and_the_last_reduction_of_a_kind_are_found(program, value, seed, place, kind):
    _, history = check(program, value, content(seed), [])
    number = place % (history.length + 1)

    def wanted(move):
        return move.after.counters[kind] > move.before.counters[kind]

    all_of_them = [n for n in range(1, history.length + 1) if wanted(history.move(n))]
    assert history.after(number, wanted) == next((n for n in all_of_them if n > number), None)
    before = [n for n in all_of_them if n <= number]
    assert history.until(number, wanted) == (before[-1] if before else None)
