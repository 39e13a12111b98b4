"""Laws 7, 8, 9, 11 and 13: states are plain data, and schedules do not show."""

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.codec import decode_term, encode_term
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data
from lambdagent.machine.checkpoint import decode_machine, digest_machine, encode_machine
from lambdagent.machine.link import Linked, link
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Machine
from lambdagent.machine.step import run, start, step
from tests.laws.observe import (
    Oracle,
    content,
    keyed,
    observe,
    observe_fast,
    scheduler,
)
from tests.laws.terms import inputs, program, programs, seeds, site, spine, thrice

picks = st.lists(st.integers(0, 7), min_size=1, max_size=12)


def digests(linked: Linked, value: Data, oracle: Oracle) -> list[str]:
    found: list[str] = []

    def note(machine: Machine) -> Machine:
        found.append(digest_machine(linked, machine))
        return machine

    observe(linked, value, oracle, between=note)
    return found


# --- law 7 ---------------------------------------------------------------------------------------


@given(programs(), inputs, seeds)
def test_the_same_program_input_and_log_give_the_same_states(one, value, seed):
    copy = program(decode_term(encode_term(one.term)))
    first = digests(link(one), value, content(seed))
    assert digests(link(copy), value, content(seed)) == first
    assert len(set(first)) == len(first)


# --- law 8 ---------------------------------------------------------------------------------------


@thrice
@given(programs(), inputs, seeds, picks)
def test_no_schedule_shows(one, value, seed, order):
    linked = link(one)
    whole = observe(linked, value, keyed(seed))
    other = observe(linked, value, keyed(seed), choose=scheduler(order))
    assert other == whole


@given(programs(), inputs, seeds)
def test_running_fast_is_stepping(one, value, seed):
    assert observe_fast(one, value, content(seed)) == observe(one, value, content(seed))


@given(programs(), inputs, seeds)
def test_events_are_the_same_at_every_speed_once_they_are_in_order(one, value, seed):
    linked = link(one)
    fast = observe_fast(linked, value, content(seed)).events
    slow: list = []
    machine = start(linked, value)
    while True:
        before = machine
        machine = run(linked, machine, budget=1, events=slow)
        if machine.transitions == before.transitions:
            break
    assert [e[:3] for e in slow] == [e[:3] for e in fast][: len(slow)]


# --- law 9, without the journal ------------------------------------------------------------------


@thrice
@given(programs(), inputs, seeds, picks)
def test_storing_and_loading_after_every_transition_changes_nothing(one, value, seed, order):
    linked = link(one)
    reloaded = link(program(decode_term(encode_term(one.term))))

    def reload(machine: Machine) -> Machine:
        return decode_machine(reloaded, encode_machine(linked, machine))

    whole = observe(linked, value, keyed(seed), choose=scheduler(order))
    broken = observe(reloaded, value, keyed(seed), choose=scheduler(order), between=reload)
    assert broken == whole


# --- law 11 --------------------------------------------------------------------------------------


@thrice
@given(programs(), inputs, seeds, picks)
def test_decoding_a_state_gives_back_what_was_encoded(one, value, seed, order):
    linked = link(one)
    reader = Readback.of(linked)

    def check(machine: Machine) -> Machine:
        rows = encode_machine(linked, machine)
        copy = decode_machine(linked, rows)
        assert encode_machine(linked, copy) == rows
        assert copy.counters == machine.counters
        assert alpha_equal(reader.unload(copy), reader.unload(machine))
        return machine

    observe(linked, value, keyed(seed), choose=scheduler(order), between=check)


def doubled(levels: int, last: Term) -> Term:
    """``let p = ⟨x, x⟩ in let p = ⟨p, p⟩ in … last``: 2ⁿ leaves that share their parts."""
    term = last
    for _ in range(levels):
        term = App(Lam(term, "p"), spine(Prim("pair"), Var(0, "p"), Var(0, "p")))
    return Lam(term, "x")


def test_a_state_takes_as_many_rows_as_it_has_distinct_nodes():
    sizes = []
    for levels in (50, 100, 200):
        linked = link(program(doubled(levels, App(site("tool:exhausted"), Lit(0)))))
        machine = run(linked, start(linked, "leaf"))
        rows = encode_machine(linked, machine)["rows"]
        sizes.append(len(rows))
    # the environment holds every pair: one row for it and one for its cell
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])
    assert sizes[0] < 5 * 50


def test_what_is_shared_stays_shared():
    linked = link(program(doubled(60, Var(0, "p"))))
    machine = run(linked, start(linked, "leaf"))
    copy = decode_machine(linked, encode_machine(linked, machine))
    value = copy.root.state.value
    for _ in range(59):
        assert value[1] is value[2]
        value = value[1]
    assert value[1] == "leaf"


# --- law 13 --------------------------------------------------------------------------------------


@given(programs(), inputs, seeds, picks)
def test_equal_answers_give_equal_observations(one, value, seed, order):
    recorded: dict = {}
    by_content = content(seed)

    def record(key, name, argument):
        recorded[key] = by_content(key, name, argument)
        return recorded[key]

    whole = observe(one, value, record)
    again = observe(one, value, lambda key, *_: recorded[key], choose=scheduler(order))
    assert again == whole


def test_a_different_answer_shows():
    one = program(Lam(App(site("tool:str"), Var(0))))
    assert observe(one, "a", lambda *_: "b").obs != observe(one, "a", lambda *_: "c").obs


def test_a_thread_may_be_moved_alone():
    branches = [Lam(App(site("tool:str"), Lit(i)), "_") for i in range(2)]
    linked = link(program(Lam(spine(Prim("par", (2,)), *branches))))
    machine = start(linked, "x")
    while () in machine.threads and len(machine.threads) == 1:
        machine = step(linked, machine)
    moved = step(linked, machine, (0, 1))
    assert moved.threads[0, 0] is machine.threads[0, 0]
    assert moved.threads[0, 1] is not machine.threads[0, 1]
