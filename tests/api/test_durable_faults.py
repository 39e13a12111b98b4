"""What broke in other durable runtimes cannot occur here: one test for each kind.

`test_durable_table` says which test is about which fault.
"""

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lambdagent import Result, Session, build_agent, from_config
from lambdagent.api import standing
from lambdagent.api.compiling import compile_term
from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.api.run_files import remove_finished
from lambdagent.effects.journal import read_journal
from lambdagent.effects.run_directory import runs_in
from lambdagent.errors import CheckpointError, LambdagentError, SemanticError
from tests.api.kept_world import (
    MODEL,
    KilledError,
    World,
    agent,
    clock,
    council,
    load,
    plain,
    react,
    react_config,
    searching,
)
from tests.conformance import test_conformance as conformance


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


# --- growth --------------------------------------------------------------------------------------


def test_a_large_answer_is_not_stored_again_at_every_step(tmp_path):
    large = "x" * (1 << 17)

    def say(text: str) -> str:
        return searching(30)(text.replace(large, ""))

    class Large(World):
        def search(self, q: str) -> str:
            """Search for it."""
            return f"found {q}" + (large if q == "q0" else "")

    world = Large(say)
    with Run.begin(react(world, 30), "in", tmp_path, fsync=False, autosave=1) as run:
        run.resume()
    # Once in the journal, and once in the states, where it is text of the conversation too.
    assert sum(map(len, files(run.path).values())) < 4 * len(large)


def test_prompts_and_tools_are_stored_with_the_program_alone(tmp_path):
    world = World(searching(5))
    program = react(world, 5, systemPrompt="A prompt that is UNIQUE.")
    with Run.begin(program, "in", tmp_path, fsync=False, autosave=1) as run:
        run.resume()
    found = {name for name, content in files(run.path).items() if b"UNIQUE" in content}
    assert found == {"program.json"}
    assert {name for name, content in files(run.path).items() if b"Search for it" in content} == {
        "program.json"
    }


def test_what_is_asked_is_not_in_the_journal(tmp_path):
    world = World(searching(5))
    with Run.begin(react(world, 5), "an input that is UNIQUE", tmp_path, fsync=False) as run:
        run.resume()
    assert b"UNIQUE" not in files(run.path)["journal"]
    assert any("UNIQUE" in question for question in world.asked)


def test_old_runs_can_be_removed_and_those_that_are_not_finished_stay(tmp_path):
    for number in range(6):
        with Run.begin(agent(World(str), type="simple"), "in", tmp_path, fsync=False) as run:
            if number % 2:
                run.resume()
    finished = {run.id for run in runs_in(tmp_path) if read_journal(run.journal).outcome}
    removed = remove_finished(tmp_path, 4)
    assert len(removed) == 2
    assert finished.issuperset(removed)
    assert len(remove_finished(tmp_path, 0)) == 1
    assert len(runs_in(tmp_path)) == 3
    assert remove_finished(tmp_path, 0) == []


def test_to_go_on_from_a_state_runs_nothing_again(tmp_path, monkeypatch):
    world = World(searching(20), die_at=30, carried_out=False)
    run = Run.begin(react(world, 20), "in", tmp_path, fsync=False, autosave=0)
    with run, pytest.raises(KilledError):
        run.resume()

    def never(*_):
        raise AssertionError

    again = World(searching(20))
    monkeypatch.setattr(standing, "replay", never)
    monkeypatch.setattr(Run, "_start", lambda _: None)  # no state to go on from
    with load(run.path, again) as run:
        assert run.resume().value == "done after 20"
    assert again.count == 11


# --- crashes and durability ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda world: react(world, idempotent=True), council])
def test_everything_is_on_the_disk_before_a_call_leaves(tmp_path, monkeypatch, make):
    events: list[str] = []
    real_write, real_sync = os.write, os.fdatasync

    class Watched(World):
        def chat(self, call):
            events.append("call")
            return super().chat(call)

        def search(self, q: str) -> str:
            """Search for it."""
            events.append("call")
            return super().search(q)

    def write(file, data):
        if Path(f"/proc/self/fd/{file}").readlink().name == "journal":
            events.append("write")
        return real_write(file, data)

    def sync(file):
        real_sync(file)
        events.append("sync")

    world = Watched(searching(3) if make is not council else str)
    with Run.begin(make(world), "in", tmp_path) as run:
        monkeypatch.setattr(os, "write", write)
        monkeypatch.setattr(os, "fdatasync", sync)
        run.resume()
    durable = False
    for number, event in enumerate(events):
        if event == "call":
            # Answers of other branches may be written meanwhile; what led to this call is not.
            assert durable or make is council, (number, events)
        durable = event == "sync" or (event == "call" and durable)
    assert events.index("write") < events.index("sync") < events.index("call")


def test_the_journal_knows_of_a_call_before_it_is_made_and_of_every_answer_before(tmp_path):
    world = World(searching(3), snapshots=tmp_path / "snapshots")
    with Run.begin(react(world), "in", tmp_path / "runs", fsync=False) as run:
        world.run = run.path
        run.resume()
    for number, path in enumerate(sorted((tmp_path / "snapshots").iterdir())):
        told = read_journal(path / "journal")
        assert told.open == [(number,)]
        assert sorted(told.answers) == [(each,) for each in range(number)]


def test_an_accepted_run_is_there_before_its_first_call(tmp_path):
    world = World(str, die_at=0, carried_out=False)
    run = Run.begin(agent(world, type="simple"), "in", tmp_path)
    with run, pytest.raises(KilledError):
        run.resume()
    (found,) = runs_in(tmp_path)
    assert found.beginning().input == "in"


def test_what_a_tool_does_to_its_answer_later_changes_no_record(tmp_path):
    given: list[list[str]] = []

    def search(q: str) -> list[str]:
        """Search for it."""
        for each in given:
            each.append("CHANGED")
        given.append([f"found {q}"])
        return given[-1]

    world = World(searching(3))
    config = react_config(3)
    program = compile_term(build_agent(config, tools={"search": search}, **world.bound))
    with Run.begin(program, "in", tmp_path, fsync=False, autosave=1) as run:
        result = run.resume()
    assert result.value == "done after 3"
    assert all(b"CHANGED" not in content for content in files(run.path).values())


# --- new versions --------------------------------------------------------------------------------


def test_what_a_tool_returns_is_kept_as_data_and_no_class_is_needed_to_read_it(tmp_path):
    class Gone:
        def __str__(self) -> str:
            return "found by Gone"

    def search(q: str) -> object:
        """Search for it."""
        return {"who": Gone(), "q": f"found {q}"}

    world = World(searching(3))
    program = compile_term(build_agent(react_config(3), tools={"search": search}, **world.bound))
    with Run.begin(program, "in", tmp_path, fsync=False) as run:
        whole = run.resume()
    told = read_journal(run.path / "journal")
    assert "Gone" in str(told.answers[1,].answer)
    with load(run.path, World(searching(3))) as again:
        result = again.resume()
    assert (result.value, plain(result.trace)) == (whole.value, plain(whole.trace))


def test_other_code_of_a_tool_is_no_other_program(tmp_path):
    world = World(searching(3), die_at=2, carried_out=False)
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()

    def search(q):
        """Search for it."""
        return "found " + q

    with Run.load(
        run.path, tools={"search": search}, providers={"openai": World(world.say)}
    ) as run:
        assert run.resume().value == "done after 3"


# --- determinism ---------------------------------------------------------------------------------


def test_the_order_in_which_branches_end_is_no_part_of_a_run(tmp_path):
    logs, values = [], []
    for last in ("Speak 0.", "Speak 2."):
        others = threading.Semaphore(0)

        def say(text: str, last=last, others=others) -> str:
            if last in text:
                for _ in range(2):
                    assert others.acquire(timeout=20)
            elif "Speak" in text:
                others.release()
            return f"said {len(text)}"

        world = World(say)
        with Run.begin(council(world), "in", tmp_path, fsync=False) as run:
            values.append(run.resume().value)
        told = read_journal(run.path / "journal")
        logs.append(
            [
                (key, told.intents[key][:2], told.answers[key].answer)
                for key in sorted(told.answers)
            ]
        )
    assert values[0] == values[1]
    assert logs[0] == logs[1]


def test_another_process_offers_the_model_the_same_tools(tmp_path):
    whole = World(searching(3))
    with Run.begin(react(whole), "in", tmp_path / "whole", fsync=False) as run:
        run.resume()
    assert all("Search for it." in asked for asked in whole.asked[::2])
    for number in (2, 4):
        world = World(searching(3), die_at=number, carried_out=False)
        run = Run.begin(react(world), "in", tmp_path / str(number), fsync=False)
        with run, pytest.raises(KilledError):
            run.resume()
        again = World(searching(3))
        with load(run.path, again) as run:
            run.resume()
        assert world.asked + again.asked == whole.asked


def test_a_process_with_other_tools_is_told_which(tmp_path):
    world = World(searching(3), die_at=2, carried_out=False)
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()

    def search(q: str) -> str:
        """Search for something else."""
        return f"found {q}"

    again = World(searching(3))
    with pytest.raises(CheckpointError, match=r"K005.*`tool:search` has another `description`"):
        Run.load(run.path, tools={"search": search}, **again.bound)
    more = {"search": again.search, "more": lambda text: text}
    with pytest.raises(SemanticError, match=r"S203.*tool more"):
        Run.load(run.path, tools=more, **again.bound)
    assert again.count == 0


# --- every agent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", conformance.FOLDERS)
def test_whatever_runs_can_be_kept_as_it_is(tmp_path, name):
    """Kept and cut off before any of its calls, it comes to the same as it does in memory."""
    folder = conformance.ROOT / name
    own = {"tools": conformance.tools(folder), "memory_store": conformance.MEMORIES.get(name)}
    program = compile_term(from_config(folder / "agent.yml", **own))
    text = (folder / "input.txt").read_text(encoding="utf-8")

    def end(run: Callable[..., Result], decided: int = 0) -> tuple[object, object]:
        """What a run comes to, and its trace, where a person has `decided` some calls before."""
        decide = conformance.decisions(folder)
        for _ in range(decided):
            decide(None)
        try:
            result = run(confirm=decide)
        except LambdagentError as error:
            return (type(error), plain(error.trace))
        return (result.value, result.store, result.counters, plain(result.trace))

    with Session(program, engine="cek", clock=clock) as session:
        whole = end(partial(session.run, text))
    with Run.begin(program, text, tmp_path, fsync=False, autosave=1, clock=clock) as run:
        assert end(run.resume) == whole
        told = run.told()
        for key in sorted(told.intents):
            before = [told.intents[each] for each in told.answers if each < key]
            with run.fork(key) as cut:
                decided = sum(intent.site.startswith("confirm:") for intent in before)
                assert end(cut.resume, decided) == whole


# --- time travel ---------------------------------------------------------------------------------


def test_a_fork_inside_a_branch_does_not_run_the_branches_beside_it_again(tmp_path):
    world = World(lambda text: f"said {len(text)}")
    with Run.begin(council(world), "in", tmp_path, fsync=False) as run:
        run.resume()
    middle = sorted(read_journal(run.path / "journal").answers)[1]
    again = World(lambda text: f"said {len(text)}")
    with load(run.path, again) as old, old.fork(middle) as fork:
        taken = sorted(read_journal(fork.path / "journal").answers)
        fork.resume()
    assert taken == [
        key for key in sorted(read_journal(run.path / "journal").answers) if key < middle
    ]
    assert again.count == 3


def test_a_fork_knows_no_answer_that_came_later(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        run.resume()
    again = World(searching(1))
    with load(run.path, again) as old, old.fork((2,)) as fork:
        assert sorted(read_journal(fork.path / "journal").answers) == [(0,), (1,)]
        assert not (fork.path / "states").exists()
        assert fork.resume(doubt=ask_again).value == "done after 1"
    assert again.count == 1


def test_a_fork_of_nothing_is_refused(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        run.resume()
        with pytest.raises(CheckpointError, match="K011"):
            run.fork((3,), {(9,): "an answer"})
    assert len(runs_in(tmp_path)) == 1


# --- loops ---------------------------------------------------------------------------------------


def test_a_loop_goes_on_at_the_round_at_which_it_was_left(tmp_path):
    for number in range(1, 13, 3):
        world = World(searching(5), die_at=number, carried_out=False)
        run = Run.begin(react(world, 5, model=MODEL), "in", tmp_path / str(number), fsync=False)
        with run, pytest.raises(KilledError):
            run.resume()
        again = World(searching(5))
        with load(run.path, again) as run:
            assert run.resume(doubt=ask_again).value == "done after 5"
        assert again.count == 11 - number
