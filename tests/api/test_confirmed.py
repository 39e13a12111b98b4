"""Runs on disk that wait for a person: gone on with in other processes, days later."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lambdagent import Confirmation, Run, SemanticError, SuspendedError, Tool, build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.effects.journal import read_journal
from lambdagent.errors import CheckpointError
from lambdagent.ir.program import Program
from tests.api.kept_world import MODEL, KilledError, World, plain

ANSWERS = (True, False, "not now")


@pytest.fixture(params=["sync", "async"])
def go_on(request):
    """One of the two ways to go on with a run."""

    def move(run: Run, **options):
        if request.param == "sync":
            return run.resume(**options)
        return asyncio.run(run.aresume(**options))

    return move


def turns(*tools: str):
    """Say to call `tools` one after the other, then to end."""

    def say(text: str) -> str:
        done = text.count("Observation from")
        if done == len(tools):
            return '{"tool": "terminate", "args": "done"}'
        return f'{{"tool": "{tools[done]}", "args": "{tools[done]} {done}"}}'

    return say


def worker(**more: Any) -> dict[str, Any]:
    return {
        "type": "react",
        "name": "worker",
        "systemPrompt": "Work.",
        "model": MODEL,
        "confirm": ["send"],
        "mcp": {"localTools": ["send", "look", "terminate"]},
        **more,
    }


def tools(world: World) -> dict[str, Any]:
    return {
        "send": lambda text: world._answer(f"send: {text}", lambda: "sent"),
        "look": lambda text: world._answer(f"look: {text}", lambda: "seen"),
    }


def react(world: World) -> Program:
    return compile_term(build_agent(worker(), tools=tools(world), **world.bound), "worker")


def council(world: World, count: int = 3) -> Program:
    """Workers side by side."""
    config = {
        "type": "parallel",
        "name": "council",
        "systemPrompt": "All.",
        "model": MODEL,
        "parallel": {"agents": [worker(name=f"b{i}") for i in range(count)], "merge": "tuple"},
    }
    return compile_term(build_agent(config, tools=tools(world), **world.bound), "council")


def load(path: Path, world: World) -> Run:
    return Run.load(path, tools=tools(world), **world.bound, fsync=False)


def suspended(program: Program, folder: Path, go_on: Any) -> tuple[Path, SuspendedError]:
    """Begin a run that waits, and let its process end."""
    run = Run.begin(program, "in", folder, fsync=False)
    with run, pytest.raises(SuspendedError) as caught:
        go_on(run)
    return run.path, caught.value


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_run_goes_on_with_the_decision_and_repeats_nothing(tmp_path, go_on, answer):
    world = World(turns("look", "send", "look"))
    path, error = suspended(react(world), tmp_path, go_on)
    assert error.diagnostic.code == "R008"
    assert f"lambdagent run --resume {path} --approve`" in str(error)
    assert [each.term for each in error.trace][-1] == "route"
    before = world.asked.copy()
    assert before[-1].startswith("worker: ")
    assert "look: look 0" in before

    later = World(world.say)
    with load(path, later) as run:
        assert run.confirmations == [Confirmation((3,), "send", "send 1")]
        result = go_on(run, confirm=lambda _: answer)
        assert run.confirmations == []
    assert result.value == "done"
    assert not later.counts.keys() & set(before)
    assert later.counts["send: send 1"] == (answer is True)
    assert read_journal(path / "journal").answers[3,].answer == answer

    # The decision is in the journal: nobody is asked again, nothing is called again.
    last = World(world.say)
    with load(path, last) as run:
        again = go_on(run, confirm=lambda _: pytest.fail("asked again"))
    assert (plain(again.trace), last.count) == (plain(result.trace), 0)

    # The run is as if somebody had been there from the start.
    whole = World(world.say)
    with Run.begin(react(whole), "in", tmp_path / "whole", fsync=False) as run:
        at_once = go_on(run, confirm=lambda _: answer)
    assert plain(at_once.trace) == plain(result.trace)
    assert (at_once.counters, at_once.store) == (result.counters, result.store)
    assert whole.counts == world.counts + later.counts


def test_a_run_that_waits_can_be_asked_any_number_of_times(tmp_path, go_on):
    world = World(turns("send"))
    path, error = suspended(react(world), tmp_path, go_on)
    for _ in range(3):
        later = World(world.say)
        with load(path, later) as run, pytest.raises(SuspendedError) as caught:
            go_on(run)
        assert str(caught.value) == str(error)
        assert later.count == 0


def test_every_call_of_a_run_is_confirmed_on_its_own(tmp_path, go_on):
    world = World(turns("send", "look", "send"))
    path, _ = suspended(react(world), tmp_path, go_on)
    with load(path, world) as run:
        (first,) = run.confirmations
        known = {first.key: True}
        with pytest.raises(SuspendedError) as caught:
            go_on(run, confirm=lambda call: known.get(call.key))
        assert [call.argument for call in caught.value.confirmations] == ["send 2"]
        assert go_on(run, confirm=lambda call: call.key != first.key).value == "done"
    assert world.counts["send: send 0"] == world.counts["send: send 2"] == 1
    assert max(world.counts.values()) == 1


def test_branches_wait_side_by_side_and_others_come_to_their_end(tmp_path, go_on):
    world = World(turns("send"))
    path, error = suspended(council(world), tmp_path, go_on)
    assert len(error.confirmations) == 3
    keys = [call.key for call in error.confirmations]
    assert keys == sorted(keys)
    assert "--approve @0.0.1`" in str(error)
    assert '--deny "@0.2.1=why"' in str(error)
    before = world.count

    # One is decided; the run waits for the two others, and for nothing else.
    with load(path, world) as run:
        with pytest.raises(SuspendedError) as caught:
            go_on(run, confirm=lambda call: True if call.key == keys[1] else None)
        assert [call.key for call in caught.value.confirmations] == [keys[0], keys[2]]
        assert world.count == before + 2
    with load(path, world) as run:
        result = go_on(run, confirm=lambda call: call.key == keys[0] or "no")
    assert result.value == ("done", "done", "done")
    assert world.counts["send: send 0"] == 2
    told = read_journal(path / "journal")
    assert [told.answers[key].answer for key in keys] == [True, True, "no"]


def test_mixed_branches_lose_no_answer_of_those_that_nobody_confirms(tmp_path, go_on):
    world = World(turns("look"))
    config = {
        "type": "parallel",
        "name": "council",
        "systemPrompt": "All.",
        "model": MODEL,
        "parallel": {
            "agents": [
                worker(name="sure", confirm=["look"]),
                worker(name="free", confirm=["send"]),
            ],
            "merge": "tuple",
        },
    }
    program = compile_term(build_agent(config, tools=tools(world), **world.bound))
    path, error = suspended(program, tmp_path, go_on)
    assert len(error.confirmations) == 1
    assert world.counts["look: look 0"] == 1
    ended = [each for each in error.trace if each.kind == "terminate"]
    assert [each.output for each in ended] == ["done"]
    later = World(world.say)
    with load(path, later) as run:
        assert go_on(run, confirm=lambda _: True).value == ("done", "done")
    assert [each.partition(":")[0] for each in later.asked] == ["look", "sure"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_kill_at_any_call_after_the_decision_asks_nobody_again(tmp_path, go_on, answer):
    world = World(turns("send", "look"))
    path, _ = suspended(react(world), tmp_path, go_on)
    for number in range(2):
        dying = World(world.say, die_at=number, carried_out=False)
        with load(path, dying) as run, pytest.raises(KilledError):
            go_on(run, confirm=lambda _: answer, doubt=lambda _: None)
    with load(path, world) as run:
        assert run.confirmations == []
        asked = lambda _: pytest.fail("asked again")  # noqa: E731
        assert go_on(run, confirm=asked, doubt=lambda _: None).value == "done"


def test_a_kill_while_somebody_decides_leaves_the_run_waiting(tmp_path, go_on):
    def dying(_: Confirmation) -> bool:
        raise KilledError

    world = World(turns("send"))
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        go_on(run, confirm=dying)
    with load(run.path, world) as run:
        assert [call.argument for call in run.confirmations] == ["send 0"]
        assert go_on(run, confirm=lambda _: True).value == "done"
    assert max(world.counts.values()) == 1


def test_an_earlier_decision_can_be_another_one_in_a_fork(tmp_path, go_on):
    world = World(turns("send"))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        go_on(run, confirm=lambda _: "no")
        assert world.counts["send: send 0"] == 0
        with run.fork((1,), {(1,): True}) as forked:
            assert go_on(forked).value == "done"
        assert world.counts["send: send 0"] == 1
        with run.fork((1,)) as waiting, pytest.raises(SuspendedError):
            go_on(waiting)


def test_a_tool_cannot_be_confirmed_where_the_program_does_not_ask(tmp_path, go_on):
    world = World(turns("look"))
    path, _ = suspended(react(World(turns("send"))), tmp_path, go_on)
    given = {**tools(world), "look": Tool("look", str, confirm=True)}
    with pytest.raises(SemanticError, match=r"S203.*`confirm` of the tool look"):
        Run.load(path, tools=given, **world.bound)
    given = {**tools(world), "send": Tool("send", str, confirm=True)}
    with Run.load(path, tools=given, **world.bound) as run:
        assert len(run.confirmations) == 1


def test_two_cannot_decide_at_once(tmp_path, go_on):
    world = World(turns("send"))
    path, _ = suspended(react(world), tmp_path, go_on)

    def deciding(_: Confirmation) -> bool:
        with load(path, world) as other, pytest.raises(CheckpointError, match="K003"):
            go_on_sync(other)
        return True

    def go_on_sync(run: Run) -> Any:
        return run.resume(confirm=lambda _: True)

    with load(path, world) as run:
        assert run.resume(confirm=deciding).value == "done"
    assert world.counts["send: send 0"] == 1
