"""Laws 7 and 9 to 12: a run that is kept can end at any moment and goes on as if it had not."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lambdagent.effects.frames import MAGIC_BYTES, read_frames
from lambdagent.effects.journal import MAGIC
from lambdagent.effects.packed import pack, unpack
from lambdagent.effects.replay import replay
from lambdagent.effects.states import read_states
from lambdagent.errors import CheckpointError
from lambdagent.ir import surface
from lambdagent.ir.core import App, Lam, Lit, Prim, Var
from lambdagent.ir.data import Data, Record
from lambdagent.machine.checkpoint import (
    StateDecoder,
    StateEncoder,
    decode_machine,
    digest_machine,
    encode_machine,
)
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import SHAPES, Machine
from lambdagent.machine.step import start
from tests.laws.agents import agents, answers, compiled
from tests.laws.kept import NAME, Kept, KilledError, same
from tests.laws.observe import (
    Call,
    Oracle,
    Seen,
    _call,
    content,
    keyed,
    move,
    observe,
    observe_fast,
    scheduler,
    seen,
)
from tests.laws.terms import STR, Maker, inputs, list_of, program, programs, seeds, site, spine

few = settings(max_examples=max(5, settings.default.max_examples // 5))


@st.composite
def branching(draw) -> object:
    """Programs with effects in parallel branches, some of which fail, inside a caught block."""
    maker = Maker(draw)
    inner = (STR,)
    branches = [
        Lam(maker.term(STR, (STR, *inner), 3), "_") for _ in range(draw(st.integers(2, 3)))
    ]
    par = spine(Prim("par", (len(branches),)), *branches)
    mapped = spine(
        Prim("pmap"), maker.function(STR, STR, 3, inner), maker.term(list_of(STR), inner, 3)
    )
    flaky = Lam(App(site("tool:flaky"), Var(0)), "y")
    risky = spine(Prim("pmap"), flaky, maker.term(list_of(STR), (STR, *inner), 3))
    caught = spine(Prim("catch"), Lam(risky, "_"), Lam(Prim("nil"), "e"))
    body = spine(Prim("pair"), caught, spine(Prim("pair"), par, mapped))
    return program(Lam(body, "x"))


@st.composite
def runs(draw) -> tuple[Linked, Data, Oracle]:
    """A program, an input, and who answers by what is asked."""
    value, seed = draw(inputs), draw(seeds)
    kind = draw(st.sampled_from(["term", "branching", "agent"]))
    if kind == "agent":
        return link(compiled(draw(agents()))), value, answers(seed)
    return link(draw(programs() if kind == "term" else branching())), value, content(seed)


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())
    try:
        yield path
    finally:
        shutil.rmtree(path)


def states(linked: Linked, value: Data, oracle: Oracle) -> Iterator[tuple[Machine, list[Call]]]:
    """Each state of a run, with the log so far."""
    machine, log = start(linked, value), []
    yield machine, []
    while (found := move(linked, machine, oracle)) is not None:
        machine, exchange = found
        if exchange is not None:
            log.append(_call(*exchange))
        yield machine, list(log)


def finished(linked: Linked, machine: Machine, log: list[Call], oracle: Oracle) -> Seen:
    log = list(log)
    while (found := move(linked, machine, oracle)) is not None:
        machine, exchange = found
        if exchange is not None:
            log.append(_call(*exchange))
    return seen(linked, machine, log)


# --- law 7: the same program, input and log give the same states ---------------------------------


@few
@given(runs(), st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_the_same_answers_lead_through_the_same_states(run, picks):
    linked, value, oracle = run

    def digests(again: Linked) -> list[str]:
        found = []
        observe(
            again,
            value,
            oracle,
            choose=scheduler(picks),
            between=lambda machine: (found.append(digest_machine(again, machine)), machine)[1],
        )
        return found

    assert digests(linked) == digests(link(linked.program))


# --- law 9: resume anywhere ----------------------------------------------------------------------


@few
@given(runs())
def test_a_delta_at_every_transition_gives_the_state_back(run):
    linked, value, oracle = run
    encoder, decoder = StateEncoder(), StateDecoder(link(linked.program))
    for machine, _ in states(linked, value, oracle):
        copy = decoder.state(unpack(pack(encoder.delta(machine))))
        assert encode_machine(linked, copy) == encode_machine(linked, machine)


@few
@given(runs(), st.randoms(use_true_random=False))
def test_a_run_goes_on_from_every_state_as_if_nothing_had_been(run, random):
    linked, value, oracle = run
    whole = observe(linked, value, oracle)
    encoder, decoder = StateEncoder(), StateDecoder(link(linked.program))
    copies = [
        (decoder.state(unpack(pack(encoder.delta(machine)))), log)
        for machine, log in states(linked, value, oracle)
    ]
    # All of them for short runs; going on from each is quadratic.
    for copy, log in copies if len(copies) <= 60 else random.sample(copies, 60):
        same(finished(linked, copy, log, oracle), whole)


@few
@given(runs(), st.integers(1, 4))
def test_deltas_of_some_of_the_states_do_too(run, gap):
    linked, value, oracle = run
    whole = observe(linked, value, oracle)
    encoder, decoder = StateEncoder(), StateDecoder(linked)
    for number, (machine, log) in enumerate(states(linked, value, oracle)):
        if number % gap == 0:
            copy = decoder.state(unpack(pack(encoder.delta(machine))))
            last = (copy, log)
    same(finished(linked, *last, oracle), whole)


# --- law 10: crash anywhere ----------------------------------------------------------------------


def check_cut(
    kept: Kept, whole: Seen, every: set, journal: bytes, stored: bytes | None, autosave: int
) -> None:
    """Go on after a crash that left `journal` and `stored`; then look at the finished run."""
    kept.directory.journal.write_bytes(journal)
    kept.directory.states.unlink(missing_ok=True)
    if stored is not None:
        kept.directory.states.write_bytes(stored)
    answered = set(kept.told.answers)
    kept.calls.clear()
    same(kept.seen(kept.go_on(autosave=autosave)), whole)
    (calls,) = kept.calls
    assert len(calls) == len(set(calls))
    assert set(calls) == every - answered
    assert set(kept.told.answers) == every
    # A finished run asks nobody.
    same(kept.seen(kept.go_on()), whole)
    assert kept.calls[-1] == []


def check_cuts(run, sizes_of, autosave: int) -> None:
    linked, value, oracle = run
    whole = observe_fast(linked, value, oracle)
    with folder() as path:
        kept = Kept(path, linked, value, oracle).begin()
        same(kept.seen(kept.go_on(autosave=autosave)), whole)
        (calls,) = kept.calls
        assert len(calls) == len(set(calls)) == len(whole.obs.log)
        journal = kept.directory.journal.read_bytes()
        stored = kept.directory.states.read_bytes()
        for size in sizes_of(kept, len(journal)):
            for left in (None, stored):
                check_cut(kept, whole, set(calls), journal[:size], left, autosave)


def frame_ends(kept: Kept, size: int) -> list[int]:
    frames, _ = read_frames(kept.directory.journal, MAGIC)
    return [*(offset for offset, _ in frames), size]


@few
@given(runs(), st.sampled_from([0, 1, 3]))
def test_a_run_whose_journal_is_cut_between_records_comes_to_the_same(run, autosave):
    check_cuts(run, frame_ends, autosave)


@settings(max_examples=max(2, settings.default.max_examples // 25))
@pytest.mark.slow
@given(runs(), st.sampled_from([0, 1]))
def test_a_run_whose_journal_is_cut_at_any_byte_comes_to_the_same(run, autosave):
    linked, value, oracle = run
    assume(len(observe_fast(linked, value, oracle).obs.log) in range(1, 5))
    check_cuts(run, lambda _, size: range(MAGIC_BYTES, size), autosave)


@few
@given(runs(), st.data(), st.sampled_from([0, 1, 3]))
def test_a_run_whose_states_are_cut_at_any_byte_comes_to_the_same(run, draw, autosave):
    linked, value, oracle = run
    whole = observe_fast(linked, value, oracle)
    with folder() as path:
        kept = Kept(path, linked, value, oracle).begin()
        kept.go_on(autosave=autosave)
        every = set(kept.calls[0])
        journal = kept.directory.journal.read_bytes()
        stored = kept.directory.states.read_bytes()
        for _ in range(5):
            size = draw.draw(st.integers(MAGIC_BYTES, len(stored)))
            check_cut(kept, whole, every, journal, stored[:size], autosave)


@few
@given(runs(), st.lists(st.integers(0, 3), max_size=6), st.sampled_from([0, 1, 3]))
def test_a_run_that_dies_again_and_again_asks_nothing_twice_but_what_was_open(
    run, deaths, autosave
):
    linked, value, oracle = run
    whole = observe_fast(linked, value, oracle)
    with folder() as path:
        kept = Kept(path, linked, value, oracle).begin()
        for death in deaths:
            answered = set(kept.told.answers)
            with suppress(KilledError):
                kept.go_on(autosave=autosave, die_before=death)
            assert not answered & set(kept.calls[-1])
        answered = set(kept.told.answers)
        same(kept.seen(kept.go_on(autosave=autosave)), whole)
        assert not answered & set(kept.calls[-1])


# Who answers differently after a crash: the states of the history that was lost are not believed.
@few
@given(branching() | programs(), inputs, seeds)
def test_states_of_a_future_that_the_journal_does_not_know_are_forgotten(one, value, seed):
    linked = link(one)
    later = observe_fast(linked, value, content(seed + 1))
    with folder() as path:
        kept = Kept(path, linked, value, content(seed)).begin()
        kept.go_on(autosave=1)
        empty = kept.directory.journal.read_bytes()[:MAGIC_BYTES]
        kept.directory.journal.write_bytes(empty)
        kept.oracle = content(seed + 1)
        kept.go_on(saves=False)  # killed before it saved
        same(kept.seen(kept.go_on()), later)


# --- law 11: states are exact and small ----------------------------------------------------------


@few
@given(runs())
def test_a_state_is_what_its_rows_say(run):
    linked, value, oracle = run
    again = link(linked.program)
    for machine, _ in states(linked, value, oracle):
        rows = encode_machine(linked, machine)
        copy = decode_machine(again, unpack(pack(rows)))
        assert encode_machine(again, copy) == rows
        assert digest_machine(again, copy) == digest_machine(linked, machine)


def distinct(machine: Machine) -> int:
    """The number of distinct values, environments and frames of a state."""
    todo: list = []
    for thread in machine.threads.values():
        todo += [(value, "value") for value in thread.store.values()]
        for name, sort in (*SORTS.items(), ("argument", "value")):
            if hasattr(thread.state, name):
                todo.append((getattr(thread.state, name), sort))
    known: set = set()
    while todo:
        item, sort = todo.pop()
        if (id(item), sort) not in known and item != ():
            known.add((id(item), sort))
            todo += parts(item, sort)
    return len(known)


SORTS = {"env": "env", "kont": "kont", "value": "value"}


def parts(item, sort: str) -> list:
    if type(item) is not tuple:
        return []
    if sort == "env":
        return [(item[0], "value"), (item[1], "env")]
    found = []
    for part, kind in zip(item[1:], SHAPES[item[0]], strict=True):
        if kind == "args":
            found += [(arg, "value") for arg in part]
        elif kind in SORTS:
            found.append((part, kind))
    return found


@few
@given(runs())
def test_a_state_has_a_row_for_each_distinct_part_at_most(run):
    linked, value, oracle = run
    for machine, _ in states(linked, value, oracle):
        assert len(encode_machine(linked, machine)["rows"]) <= distinct(machine)


def doubling(times: int) -> Linked:
    """A program whose last value has 2^times leaves and `times` distinct parts."""
    body = App(site("tool:str"), Var(0))
    for _ in range(times):
        body = App(Lam(spine(Prim("pair"), Var(0), Var(0)), "x"), body)
    return link(program(Lam(body, "x")))


def test_what_is_shared_is_written_once():
    sizes = []
    for times in (10, 20, 40):
        linked = doubling(times)
        (machine, _), *_ = reversed(list(states(linked, "", content(0))))
        sizes.append(len(pack(encode_machine(linked, machine))))
        assert digest_machine(linked, decode_machine(linked, encode_machine(linked, machine)))
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


def loop(rounds: int) -> Linked:
    think = surface.ConversationLam("writer", "prompt")
    step = surface.ReActStep("react", think=think, tools=[surface.Tool("search")])
    return link(compiled(surface.Loop(step, max_steps=rounds)))


def searching(_key, site_name: str, _argument: Data):
    if site_name.startswith("tool:"):
        return "found"
    return Record(text='{"tool": "search", "args": {"q": "x"}}')


def test_the_deltas_of_a_run_are_linear_in_its_length():
    sizes = []
    for rounds in (20, 40, 80):
        linked, encoder = loop(rounds), StateEncoder()
        sizes.append(
            sum(
                len(pack(encoder.delta(machine))) for machine, _ in states(linked, "go", searching)
            )
        )
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


# --- law 12: replay ------------------------------------------------------------------------------


@few
@given(runs())
def test_a_replay_asks_nobody_and_is_the_run(run):
    linked, value, oracle = run
    with folder() as path:
        kept = Kept(path, linked, value, oracle).begin()
        machine = kept.go_on(autosave=1)
        history = kept.history()
        assert history.finished
        assert digest_machine(linked, history.machine) == digest_machine(linked, machine)
        stored, is_ahead = read_states(kept.directory.states, linked, kept.told.end, run=NAME)
        assert stored is not None
        assert not is_ahead
        assert digest_machine(linked, stored) == digest_machine(linked, machine)


@few
@given(branching() | programs(), inputs, seeds)
def test_a_replay_of_answers_by_key_is_the_run_too(one, value, seed):
    linked = link(one)
    with folder() as path:
        kept = Kept(path, linked, value, keyed(seed)).begin()
        whole = observe_fast(linked, value, keyed(seed))
        same(kept.seen(kept.go_on()), whole)
        same(kept.seen(kept.history().machine), whole)


@few
@given(runs(), st.data())
def test_another_question_than_the_journal_has_is_refused(run, draw):
    linked, value, oracle = run
    with folder() as path:
        kept = Kept(path, linked, value, oracle).begin()
        kept.go_on()
        told = kept.told
        assume(told.intents)
        key = draw.draw(st.sampled_from(sorted(told.intents)))
        changed = told.intents[key]._replace(digest=told.intents[key].digest ^ 1)
        told = told._replace(intents={**told.intents, key: changed})
        with pytest.raises(CheckpointError, match="K006"):
            replay(linked, start(linked, value), told)


def test_another_input_asks_something_else():
    linked = link(program(Lam(App(site("tool:str"), Var(0)), "x")))
    with folder() as path:
        kept = Kept(path, linked, "one", content(0)).begin()
        kept.go_on()
        kept.value = "two"
        with pytest.raises(CheckpointError, match=r"K006.*`tool:str` something else at @0"):
            kept.history()
        kept.directory.states.unlink()
        with pytest.raises(CheckpointError, match="K006"):
            kept.go_on()


def test_another_program_is_refused():
    linked = link(program(Lam(App(site("tool:str"), Var(0)), "x")))
    other = link(program(Lam(App(site("tool:str"), Lit("y")), "x")))
    with folder() as path:
        kept = Kept(path, linked, "one", content(0)).begin()
        kept.go_on()
        kept.linked = other
        with pytest.raises(CheckpointError, match="K006"):
            kept.history()
        with pytest.raises(CheckpointError, match="K006"):  # nor are its states believed
            kept.go_on()
