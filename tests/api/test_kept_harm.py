"""What the world can do to a kept run: full disks, damaged files, nonsense for answers."""

import asyncio
import resource
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.effects import frames
from lambdagent.effects.journal import Journal, Told, create_journal, read_journal
from lambdagent.effects.packed import pack
from lambdagent.effects.run_directory import runs_in
from lambdagent.errors import CheckpointError, LambdagentError, NoSuchFileError
from lambdagent.ir.exchange import Failure
from tests.api.kept_world import (
    KilledError,
    World,
    agent,
    council,
    go_on,
    load,
    react,
    same,
    searching,
    undisturbed,
)
from tests.effects.test_packed import data

__all__ = ["go_on"]


@contextmanager
def files_of_at_most(size: int):
    """No file of this process grows beyond `size` inside, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def whole_of(make, say, directory):
    world = World(say)
    with Run.begin(make(world), "in", directory, fsync=False, autosave=0) as run:
        return run.resume(), world, run.path


# --- full disks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [react, council])
def test_a_full_disk_stops_a_run_and_loses_no_answer_that_was_written(tmp_path, make):
    say = searching(3) if make is react else lambda text: f"said {len(text)}"
    whole, calls, path = whole_of(make, say, tmp_path / "whole")
    longest = max((path / name).stat().st_size for name in ("journal", "states"))
    stopped = 0
    for size in range(8, longest + 20, 23):
        world = World(say)
        with Run.begin(make(world), "in", tmp_path / str(size), fsync=False, autosave=0) as run:
            with files_of_at_most(size):
                try:
                    run.resume()
                except CheckpointError as error:
                    assert error.diagnostic.code == "K008"  # noqa: PT017 - only some sizes do
                    stopped += 1
            known = len(read_journal(run.path / "journal").answers)
            asked = world.count
            assert run.resume(doubt=ask_again).value == whole.value
        assert world.count - asked == calls.count - known
    assert stopped > 5


def test_a_full_disk_lets_no_run_begin(tmp_path):
    world = World(searching(3))
    for size in (0, 5, 8, 200, 2000):
        with files_of_at_most(size), pytest.raises(CheckpointError, match="K008"):
            Run.begin(react(world), "in", tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []
    assert world.count == 0


def test_a_run_whose_directory_is_gone_says_so(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        shutil.rmtree(run.path)
        with pytest.raises(NoSuchFileError, match="K002"):
            run.resume()
    assert world.count == 0


# --- cancelled -----------------------------------------------------------------------------------


def test_a_task_that_is_cancelled_leaves_a_run_that_goes_on(tmp_path):
    class Slow(World):
        async def achat(self, call):
            reply = self.chat(call)
            if "found q0" in "\n".join(message.text for message in call.render()):
                asked.set()
                await asyncio.sleep(60)
            return reply

    async def main() -> None:
        task = asyncio.create_task(run.aresume())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asked = asyncio.Event()
    world = Slow(searching(3))
    run = Run.begin(react(world), "in", tmp_path, fsync=False, autosave=0)
    with run:
        asyncio.run(main())
    assert (run.path / "states").exists()
    again = World(searching(3))
    with load(run.path, again) as run:
        assert run.resume().value == "done after 3"
    assert again.count == 5


# --- damage --------------------------------------------------------------------------------------


def test_every_flipped_bit_of_a_journal_is_told_and_nobody_is_asked(tmp_path):
    _, _, path = whole_of(lambda world: agent(world, type="simple"), str, tmp_path)
    name = "journal"
    whole = (path / name).read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        (path / name).write_bytes(changed)
        world = World(str)
        with load(path, world) as run, pytest.raises(CheckpointError) as caught:
            run.resume()
        assert caught.value.diagnostic.code in {"K001", "K004"}
        assert f"`{path / name}`" in str(caught.value)
        assert world.count == 0
        # Nothing is mended behind anybody's back.
        assert (path / name).read_bytes() == changed


def test_every_flipped_bit_of_the_states_is_told_and_the_journal_is_enough(tmp_path, go_on):
    whole, _, path = whole_of(lambda world: agent(world, type="simple"), str, tmp_path)
    good = (path / "states").read_bytes()
    for place in range(len(good)):
        changed = bytearray(good)
        changed[place] ^= 1 << place % 8
        (path / "states").write_bytes(changed)
        world, remarks = World(str), []
        with load(path, world) as run:
            same(go_on(run, remark=remarks.append), whole)
        assert [each.code for each in remarks] == ["K017"]
        assert f"`{path / 'states'}` is " in remarks[0].what
        assert world.count == 0
        with load(path, world) as run:  # other states have taken their place
            same(go_on(run, remark=remarks.append), whole)
        assert len(remarks) == 1


STATES = {
    "no frames": (b"lambdaS\x01no frame at all", "is corrupt at byte 8"),
    "another format": (b"lambdaS\x02", "is of format 2, and this version reads 1"),
    "another format of the states alone": (
        b"".join([b"lambdaS\x01", *map(frames._frame, [pack((7, "", ""))])]),
        "is of format 7, and this version reads 1",
    ),
    "nothing": (b"", "is corrupt at byte 0"),
}


@pytest.mark.parametrize("case", STATES)
def test_a_run_goes_on_whatever_its_states_are(tmp_path, case, go_on):
    states, what = STATES[case]
    whole, calls = undisturbed(react, tmp_path, searching(3))
    world = World(searching(3), die_at=3, carried_out=False)
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        with pytest.raises(KilledError):
            run.resume()
        (run.path / "states").write_bytes(states)
    again = World(searching(3))
    with load(run.path, again) as run, pytest.warns(UserWarning, match=what):
        result = go_on(run, doubt=ask_again)
    same(result, whole)
    assert again.count == calls.count - 3


# --- nonsense for answers ------------------------------------------------------------------------


@settings(max_examples=max(10, settings.default.max_examples // 5))
@given(st.sampled_from([0, 1, 2]), data | st.builds(Failure, st.text(), st.text(), data))
def test_any_answer_in_a_journal_is_used_or_refused(tmp_path_factory, number, answer):
    directory = tmp_path_factory.mktemp("runs")
    _, _, path = whole_of(react, searching(1), directory)
    told = read_journal(path / "journal")
    (path / "states").unlink()
    create_journal(path / "journal")
    journal = Journal(path / "journal", Told({}, {}, None, 8), fsync=False)
    for key in sorted(told.answers)[: number + 1]:
        intent = told.intents[key]
        journal.intent(key, intent.site, intent.digest, 0.0)
        journal.result(key, answer if key == (number,) else told.answers[key].answer, 0.0, 0.0)
    journal.close()
    again = World(searching(1))
    with load(path, again) as run:
        try:
            result = run.resume(timeout_s=20)
        except LambdagentError:
            return
    assert result.text is not None
    assert result.trace


# --- secrets -------------------------------------------------------------------------------------

SECRET = "sk-0123456789abcdef"


def files_with(secret: str, path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir() if secret.encode() in each.read_bytes())


def test_no_secret_that_a_person_writes_into_a_fork_is_on_disk(tmp_path):
    environment = {"OPENAI_API_KEY": SECRET}
    world = World(searching(3))
    options = {"fsync": False, "environment": environment}
    with Run.begin(react(world), f"in {SECRET}", tmp_path, **options) as run:
        run.resume()
        assert files_with(SECRET, run.path) == []
        with run.fork((3,), {(3,): f"found q1 {SECRET}"}) as fork:
            fork.resume()
            assert files_with(SECRET, fork.path) == []
        with run.fork((0,), value=f"another {SECRET}") as fork:
            fork.resume()
            assert files_with(SECRET, fork.path) == []


def test_no_secret_that_a_person_says_came_of_a_call_is_on_disk(tmp_path):
    environment = {"OPENAI_API_KEY": SECRET}
    world = World(searching(3), die_at=3)
    run = Run.begin(react(world), "in", tmp_path, fsync=False, environment=environment)
    with run, pytest.raises(KilledError):
        run.resume()
    with load(run.path, World(searching(3)), environment=environment) as run:
        run.resume(doubt=lambda _: f"found q1 {SECRET}")
    assert files_with(SECRET, run.path) == []


# --- forks that do not come about ----------------------------------------------------------------


@pytest.mark.parametrize("survived", range(3))
def test_a_fork_that_is_killed_half_way_is_no_run(tmp_path, monkeypatch, survived):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        run.resume()
        left, real = [survived], Path.replace

        def replace(path, target):
            if not left[0]:
                raise KilledError
            left[0] -= 1
            return real(path, target)

        monkeypatch.setattr(Path, "replace", replace)
        with pytest.raises(KilledError):
            run.fork((7,))
    # A run with some of the answers would make the other calls again.
    assert [each.id for each in runs_in(tmp_path)] == [run.path.name]
