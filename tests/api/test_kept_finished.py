"""A run that has ended comes to its answer with nothing set up: no key, no tool, no store."""

import shutil

import pytest

from lambdagent import build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.api.kept import Run
from lambdagent.effects.journal import Journal, create_journal, has_ended, read_journal
from lambdagent.errors import CheckpointError, EffectError, GuardError
from lambdagent.ir.surface import Tool
from tests.api.kept_world import MODEL, World, agent, go_on, load, react, same, searching

__all__ = ["go_on"]


class Store:
    """A memory of the user's own."""

    def get(self, _key):
        return None

    def put(self, key, value, ttl=0):
        pass

    def list_recent(self, _n):
        return []

    def clear(self):
        pass


def remembering(world: World):
    config = {
        "type": "simple",
        "name": "one",
        "systemPrompt": "Speak.",
        "model": MODEL,
        "memory": {"enabled": True, "strategy": "custom"},
    }
    return compile_term(build_agent(config, **world.bound, memory_store=Store()), "one")


def secretive(world: World):
    url = "http://me:hunter2-hunter2@127.0.0.1:9/v1"
    return agent(world, type="simple", model={**MODEL, "baseUrl": url})


MAKERS = {"a tool": react, "a store": remembering, "an address that is not kept": secretive}


@pytest.fixture(params=MAKERS)
def ended(request, tmp_path):
    """A finished run and its result."""
    world = World(searching(3))
    with Run.begin(MAKERS[request.param](world), "in", tmp_path, autosave=0, fsync=False) as run:
        return run, run.resume()


@pytest.mark.parametrize("states", [True, False])
def test_it_needs_nothing(ended, go_on, states):
    run, result = ended
    if not states:
        (run.path / "states").unlink()
    with Run.load(run.path, environment={}) as again:
        same(go_on(again), result)
        same(go_on(again), result)
        assert again.doubts == again.confirmations == []


def test_a_fork_of_it_needs_everything(ended):
    run, _ = ended
    before = sorted(run.path.parent.iterdir())
    with (
        Run.load(run.path, environment={}) as again,
        pytest.raises((EffectError, CheckpointError), match=r"E012|S202|K013"),
    ):
        again.fork((0,))
    assert sorted(run.path.parent.iterdir()) == before


def test_a_failed_run_needs_nothing_either(tmp_path, go_on):
    world = World(str)
    program = agent(world, type="simple", guard={"validator": "False", "retry": 1})
    with (
        Run.begin(program, "in", tmp_path, autosave=0, fsync=False) as run,
        pytest.raises(GuardError),
    ):
        run.resume()
    with Run.load(run.path, environment={}) as again, pytest.raises(GuardError):
        go_on(again)


def test_a_journal_that_ends_too_early_asks_nobody(tmp_path, go_on):
    """It says that the run has ended, and not what its calls were answered."""
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, autosave=0, fsync=False) as run:
        run.resume()
    told = read_journal(run.path / "journal")
    for calls in range(len(told.answers)):
        path = shutil.copytree(run.path, tmp_path / f"after {calls}")
        (path / "states").unlink()
        create_journal(path / "journal", told.before((calls,), {}))
        cut = read_journal(path / "journal")
        journal = Journal(path / "journal", cut, fsync=False)
        journal.finish("answered")
        journal.close()
        before = (path / "journal").read_bytes()
        again = load(path, World(searching(3)))
        with again, pytest.raises(CheckpointError, match="K006"):
            go_on(again)
        assert (path / "journal").read_bytes() == before


def test_whether_a_run_has_ended_is_read_off_the_end_of_its_journal(tmp_path):
    world = World(searching(1))
    with Run.begin(react(world), "in", tmp_path, autosave=0, fsync=False) as run:
        assert not has_ended(run.path / "journal")
        run.resume()
    path = run.path / "journal"
    assert has_ended(path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert not has_ended(path)
    path.unlink()
    assert not has_ended(path)


def test_a_tool_that_a_finished_run_is_given_must_be_one_of_its_own(tmp_path):
    world = World(searching(1))
    with Run.begin(react(world), "in", tmp_path, autosave=0, fsync=False) as run:
        run.resume()
    with pytest.raises(Exception, match="S203"):
        Run.load(run.path, tools={"other": Tool("other", str)})
