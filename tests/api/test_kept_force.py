"""Another program for a run: only if it would have come to where the run stands."""

import os
import shutil
from pathlib import Path

import pytest

from lambdagent.api.kept import Run
from lambdagent.effects.journal import read_journal
from lambdagent.errors import CheckpointError
from lambdagent.ir.program import Program
from tests.api.kept_world import KilledError, World, agent, go_on, plain

__all__ = ["go_on"]


def said(text: str) -> str:
    return f"said {len(text)}"


def chain(world: World, validator: str = "'never' in x", second: str = "Second.") -> Program:
    guard = {"validator": validator, "retry": 2, "fallback": "last"}
    steps = [
        {"name": "one", "prompt": "First.", "guard": guard},
        {"name": "two", "prompt": second},
    ]
    return agent(world, type="chain", chain={"steps": steps})


def stopped(tmp_path, calls: int):
    """A run that was killed before its call of the number `calls` was carried out."""
    world = World(said, die_at=calls, carried_out=False)
    run = Run.begin(chain(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError):
        run.resume()
    return run.path


def changed(path, world: World, **change: str) -> Run:
    return Run.load(
        path, program=chain(world, **change), force=True, fsync=False, providers={"openai": world}
    )


def test_a_site_that_was_not_called_may_change(tmp_path):
    path, world = stopped(tmp_path, 2), World(said)
    with changed(path, world, second="Another second.") as run:
        result = run.resume()
    assert [record.term for record in result.trace] == ["one", "one", "one", "two"]
    assert world.count == 2
    assert "Another second." in world.asked[-1]
    # It is the program of the run now.
    with Run.load(path, providers={"openai": World(said)}) as run:
        assert plain(run.resume().trace) == plain(result.trace)


@pytest.mark.parametrize("force", [True, False])
def test_a_site_that_was_called_may_not(tmp_path, force):
    path, world = stopped(tmp_path, 2), World(said)
    before = {each.name: each.read_bytes() for each in path.iterdir()}
    program = agent(
        world,
        type="chain",
        chain={
            "steps": [{"name": "one", "prompt": "Other."}, {"name": "two", "prompt": "Second."}]
        },
    )
    with pytest.raises(CheckpointError) as caught:
        Run.load(path, program=program, force=force, providers={"openai": world})
    assert caught.value.diagnostic.code == ("K012" if force else "K005")
    assert "`llm:one`" in str(caught.value)
    assert {each.name: each.read_bytes() for each in path.iterdir()} == before
    assert world.count == 0


# The guard accepts the first answer now: the two calls that followed would not have been made.
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_program_that_would_not_have_asked_what_was_asked_is_refused(tmp_path, calls):
    path, world = stopped(tmp_path, calls), World(said)
    answers = read_journal(path / "journal").answers
    with pytest.raises(CheckpointError, match="K006"):
        changed(path, world, validator="True")
    assert read_journal(path / "journal").answers == answers
    with Run.load(path, providers={"openai": world}) as run:
        run.resume()
    assert world.count == 4 - calls


# --- two files that change together --------------------------------------------------------------


class Dying:
    """A process that ends before its operation of the number `left` on the names of files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
        self.left = left
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, real):
        def wrapper(*arguments, **options):
            if self.left == 0:
                raise KilledError
            self.left -= 1
            return real(*arguments, **options)

        return wrapper


def test_a_forced_change_happens_whole_or_not_at_all(tmp_path, monkeypatch):
    """Wherever the process ends, the directory holds the old program or the new one."""
    begun = stopped(tmp_path / "begun", 2)
    seen, ended = [], False
    while not ended:
        path = shutil.copytree(begun, tmp_path / f"after {len(seen)}")
        with monkeypatch.context() as patch:
            Dying(patch, len(seen))
            try:
                changed(path, World(said), second="Another.").close()
                ended = True
            except KilledError:
                pass
        world = World(said)
        with Run.load(path, fsync=False, providers={"openai": world}) as run:
            run.resume()
        assert world.count == 2
        seen.append("Another." in world.asked[-1])
    assert seen == sorted(seen)
    assert {True, False} == set(seen)
    assert len(seen) > 6
    assert [each.name for each in path.glob("program*")] != ["program.json"]


def test_a_run_can_be_changed_again_and_back(tmp_path):
    path, world = stopped(tmp_path, 2), World(said)
    for second in ("Another.", "A third.", "A third.", "Second.", "Another."):
        changed(path, world, second=second).close()
        assert len(list(path.glob("program*"))) == 1
    with changed(path, world, second="Another.") as run:
        run.resume()
    assert "Another." in world.asked[-1]


def test_a_run_that_was_given_another_program_meanwhile_is_not_gone_on_with(tmp_path, go_on):
    path, world = stopped(tmp_path, 2), World(said)
    with Run.load(path, fsync=False, providers={"openai": world}) as early:
        with changed(path, world, second="Another.") as run:
            with pytest.raises(CheckpointError, match="K016"):
                go_on(early)
            run.resume()
        assert "Another." in world.asked[-1]


def test_nobody_changes_the_program_of_a_run_that_is_under_way(tmp_path):
    path, world = stopped(tmp_path, 2), World(said)
    with Run.load(path, fsync=False, providers={"openai": world}) as run:
        run.lock()
        with pytest.raises(CheckpointError, match="K003"):
            changed(path, world, second="Another.")


# --- another program for a fork ------------------------------------------------------------------


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def test_a_fork_may_have_another_program_from_before_the_call_that_differs(tmp_path):
    """At every key: refused from the first call of what differs on, and the old run stays."""
    path, world = stopped(tmp_path, 3), World(said)
    with Run.load(path, providers={"openai": world}) as run:
        run.resume()
        told, before = run.told(), files(path)
        program = chain(world, second="Another second.")
        first = min(key for key, intent in told.intents.items() if intent.site == "llm:two")
        for key in sorted(told.intents):
            if key > first:
                with pytest.raises(CheckpointError, match=r"K012.*llm:two"):
                    run.fork(key, program=program)
                continue
            with run.fork(key, program=program) as fork:
                result = fork.resume()
            assert "Another second." in world.asked[-1]
            with Run.load(fork.path, program=program, providers={"openai": World(said)}) as again:
                assert plain(again.resume().trace) == plain(result.trace)
        assert files(path) == before


def test_a_fork_whose_program_would_not_have_asked_what_was_asked_is_refused(tmp_path):
    path, world = stopped(tmp_path, 3), World(said)
    with Run.load(path, providers={"openai": world}) as run:
        last, program = max(run.told().intents), chain(world, validator="True")
        with pytest.raises(CheckpointError, match="K015"):
            run.fork(last, program=program)
    assert len(list(tmp_path.iterdir())) == 1


def test_no_program_with_a_secret_takes_the_place_of_one(tmp_path):
    path, world = stopped(tmp_path, 2), World(said)
    before = files(path)
    program = chain(world, second="The key is sk-no-real-key.")
    options = {
        "providers": {"openai": world},
        "environment": {"OPENAI_API_KEY": "sk-no-real-key"},
    }
    with pytest.raises(CheckpointError, match=r"K014.*`OPENAI_API_KEY`"):
        Run.load(path, program=program, force=True, **options)
    with Run.load(path, **options) as run, pytest.raises(CheckpointError, match="K014"):
        run.fork((0,), program=program)
    assert files(path) == before
    assert list(tmp_path.iterdir()) == [path]
