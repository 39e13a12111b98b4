"""Runs that earlier versions left on disk are read, and gone on with, by this one."""

import shutil
from pathlib import Path

import pytest

from lambdagent.effects.journal import MAGIC as JOURNAL
from lambdagent.effects.journal import read_journal
from lambdagent.effects.states import MAGIC as STATES
from lambdagent.effects.states import read_states
from lambdagent.machine.state import Join, Suspend
from tests.api.kept_world import World, load, searching

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
FORMATS = sorted(path.name for path in RUNS.iterdir() if path.name.startswith("format-"))


@pytest.fixture(params=FORMATS)
def kept(request, tmp_path):
    """A copy of the runs of one format."""
    return shutil.copytree(RUNS / request.param, tmp_path / request.param)


def test_there_are_runs_of_the_newest_format():
    assert JOURNAL[-1] == STATES[-1] == len(FORMATS)


def test_a_finished_run_comes_to_its_answer(kept):
    world = World(searching(2))
    with load(kept / "finished", world) as run:
        result = run.resume()
    assert result.value == "done after 2"
    assert world.count == 0
    assert [record.kind for record in result.trace] == [
        *("llm", "route", "tool"),
        *("llm", "route", "tool"),
        *("llm", "route", "terminate"),
    ]
    assert list(result.store) == ["conv:worker#1"]


def test_a_stopped_run_goes_on(kept):
    told = read_journal(kept / "stopped" / "journal")
    assert sorted(told.answers) == [(0,), (1,), (2,), (3,)]
    assert (told.open, told.outcome) == ([(4,)], None)
    for states in (True, False):
        path = shutil.copytree(kept / "stopped", kept / f"with states {states}")
        if not states:
            (path / "states").unlink()
        world = World(searching(3))
        with load(path, world) as run:
            result = run.resume()
        assert result.value == "done after 3"
        assert world.count == 3
        assert len(result.trace) == 12


def test_a_joining_run_goes_on(kept):
    path = kept / "joining"
    told = read_journal(path / "journal")
    assert [each.answer["text"] for each in told.answers.values()] == ["one spoke"]
    assert len(told.open) == 2
    world = World(lambda text: f"said {len(text)}")
    with load(path, world) as run:
        state, is_ahead = read_states(
            path / "states", run._session.linked, told.end, run=run.beginning.id
        )
        assert state is not None
        assert not is_ahead
        threads = [type(thread.state) for thread in state.threads.values()]
        assert threads.count(Suspend) == 2
        assert threads.count(Join) == 1
        result = run.resume()
    assert world.count == 3
    assert result.value.startswith("said ")
    assert "one spoke" in [record.output for record in result.trace]
