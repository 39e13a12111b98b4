"""Calls of which nobody knows whether they were carried out; and runs that are saved."""

import threading

import pytest

from lambdagent import build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import AUTOSAVE, Run
from lambdagent.effects.journal import read_journal
from lambdagent.errors import (
    CheckpointError,
)
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure, key_text
from tests.api.kept_world import (
    MODEL,
    KilledError,
    World,
    echo,
    go_on,
    load,
    react,
    same,
    searching,
    undisturbed,
)

__all__ = ["go_on"]

# --- in doubt ------------------------------------------------------------------------------------


def in_doubt(tmp_path, *, idempotent: bool = False):
    """A run that died while its tool was called for the second time."""
    world = World(searching(3), die_at=3)
    run = Run.begin(react(world, idempotent=idempotent), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()
    assert world.asked[-1] == "search: q1"
    return run.path


def test_a_call_in_doubt_stops_the_run(tmp_path, go_on):
    path = in_doubt(tmp_path)
    for _ in range(2):
        again = World(searching(3))
        with load(path, again) as run, pytest.raises(CheckpointError) as caught:
            go_on(run)
        assert caught.value.diagnostic.code == "K007"
        assert f"`tool:search` at {key_text((3,))} was carried out" in str(caught.value)
        assert again.count == 0


def test_a_call_in_doubt_can_be_asked_again(tmp_path, go_on):
    path = in_doubt(tmp_path)
    again = World(searching(3))
    with load(path, again) as run:
        assert go_on(run, doubt=ask_again).value == "done after 3"
    assert again.asked[0] == "search: q1"
    assert again.count == 4


def test_a_call_in_doubt_can_be_answered(tmp_path, go_on):
    path = in_doubt(tmp_path)
    again, doubted = World(searching(3)), []

    def doubt(request):
        doubted.append((request.key, request.site.name))
        return "found q1, says the doctor"

    with load(path, again) as run:
        result = go_on(run, doubt=doubt)
    assert doubted == [((3,), "tool:search")]
    assert result.value == "done after 3"
    assert "search: q1" not in again.asked
    assert read_journal(path / "journal").answers[3,].answer == "found q1, says the doctor"
    # The answer is in the journal now: nobody is in doubt any more.
    with load(path, World(searching(3))) as run:
        same(run.resume(), result)


def test_a_call_in_doubt_can_have_failed(tmp_path, go_on):
    path = in_doubt(tmp_path)
    again = World(lambda text: searching(3)(text.replace("it was lost", "found q1")))
    with load(path, again) as run:
        result = go_on(run, doubt=lambda _: Failure("ToolError", "it was lost"))
    assert any("it was lost" in record.output for record in result.trace)
    assert "search: q1" not in again.asked


def test_who_cannot_decide_leaves_the_run_in_doubt(tmp_path, go_on):
    path = in_doubt(tmp_path)

    def doubt(_):
        raise KilledError

    with load(path, World(searching(3))) as run, pytest.raises(KilledError):
        go_on(run, doubt=doubt)
    with load(path, World(searching(3))) as run:
        with pytest.raises(CheckpointError, match="K007"):
            go_on(run)
        assert go_on(run, doubt=ask_again).value == "done after 3"


def test_an_idempotent_call_in_doubt_is_asked_again(tmp_path, go_on):
    path = in_doubt(tmp_path, idempotent=True)
    again = World(searching(3))
    with load(path, again) as run:
        assert go_on(run).value == "done after 3"
    assert again.asked[0] == "search: q1"


def test_a_model_in_doubt_is_asked_again(tmp_path, go_on):
    world = World(searching(3), die_at=4)
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()
    again = World(searching(3))
    with load(run.path, again) as run:
        assert go_on(run).value == "done after 3"
    assert again.counts & world.counts == {world.asked[-1]: 1}


def test_a_memory_of_the_users_own_is_not_written_twice(tmp_path, go_on):
    class Store:
        def __init__(self):
            self.entries, self.dies = [], True

        def list_recent(self, n):
            return self.entries[-n:]

        def put(self, key, value, ttl=0):
            self.entries.append((key, value))
            if self.dies:
                raise KilledError

        get = clear = None

    world, store = World(echo), Store()
    config = {
        "type": "simple",
        "name": "friend",
        "systemPrompt": "Remember.",
        "model": MODEL,
        "memory": {"enabled": True, "strategy": "custom"},
    }
    program = compile_term(build_agent(config, memory_store=store, **world.bound))
    run = Run.begin(program, "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()
    store.dies = False
    with Run.load(run.path, memory_store=store, **world.bound) as run:
        with pytest.raises(CheckpointError, match=r"K007.*remember"):
            go_on(run)
        assert go_on(run, doubt=lambda _: Record()).value.startswith("answer of")
    assert len(store.entries) == 1


# --- to save -------------------------------------------------------------------------------------


def test_a_run_can_be_saved_from_another_thread_while_it_moves(tmp_path):
    box: list[Run] = []

    def say(text: str) -> str:
        if text.count("found q") == 2:
            box[0].save()
        return searching(5)(text)

    world = World(say, snapshots=tmp_path / "snapshots")
    with Run.begin(react(world, 5), "in", tmp_path / "runs", fsync=False) as run:
        box.append(run)
        world.run = run.path
        whole = run.resume()
    # The state was on disk before the next call.
    saved = [(path / "states").exists() for path in sorted((tmp_path / "snapshots").iterdir())]
    assert saved == [number > 4 for number in range(11)]
    again = World(searching(5))
    with load(tmp_path / "snapshots" / "007", again) as run:
        same(run.resume(doubt=ask_again), whole)
    assert again.count == 4


@pytest.mark.parametrize(
    ("rounds", "autosave", "is_saved"), [(3, AUTOSAVE, False), (3, 0, True), (200, AUTOSAVE, True)]
)
def test_what_is_done_again_in_no_time_is_not_saved_at_the_end(
    tmp_path, rounds, autosave, is_saved
):
    world = World(searching(rounds))
    program = react(world, rounds)
    with Run.begin(program, "in", tmp_path, fsync=False, autosave=autosave) as run:
        whole = run.resume()
    assert (run.path / "states").exists() is is_saved
    again = World(searching(rounds))
    with load(run.path, again) as run:
        same(run.resume(), whole)
    assert again.count == 0


def test_a_run_that_nobody_moves_can_be_saved(tmp_path):
    whole, _ = undisturbed(react, tmp_path, searching(3))
    world = World(searching(3), snapshots=tmp_path / "snapshots")
    with Run.begin(react(world), "in", tmp_path / "runs", fsync=False) as run:
        world.run = run.path
        run.resume()
    again = World(searching(3))
    with load(tmp_path / "snapshots" / "004", again) as run:
        assert not (run.path / "states").exists()
        run.save()
        assert (run.path / "states").exists()
        assert again.count == 0
        same(run.resume(), whole)
    assert again.count == 3


def test_two_threads_do_not_go_on_with_one_run(tmp_path):
    gate, waiting = threading.Event(), threading.Event()

    def say(text: str) -> str:
        waiting.set()
        gate.wait(20)
        return searching(2)(text)

    world = World(say)
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        results: list = []
        first = threading.Thread(target=lambda: results.append(run.resume()))
        first.start()
        try:
            assert waiting.wait(20)
            with pytest.raises(CheckpointError, match="K003"):
                run.resume(timeout_s=0.2)
        finally:
            gate.set()
            first.join()
        assert [result.value for result in results] == ["done after 2"]
    assert world.count == 5
