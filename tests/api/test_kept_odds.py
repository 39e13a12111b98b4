"""Kept runs under odd circumstances: forks of the process, strange files, broken writes."""

import asyncio
import errno
import gc
import os
import shutil
from pathlib import Path

import pytest

from lambdagent import CheckpointError, Run, build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.effects import frames
from lambdagent.effects.journal import read_journal
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.effects.run_directory import RunDirectory
from lambdagent.effects.states import StateFile, read_states
from lambdagent.machine.checkpoint import digest_machine
from lambdagent.machine.link import link
from lambdagent.machine.step import start, step
from tests.api.kept_world import plain
from tests.effects.agents import MODEL, Speaker, parallel, speaker

SIMPLE = {"type": "simple", "name": "a", "systemPrompt": "p", "model": MODEL}


def agent(provider: object):
    return compile_term(build_agent(SIMPLE, providers={"openai": provider}))


def begun(tmp_path: Path, text: str = "ok", value: str = "in") -> Run:
    return Run.begin(agent(speaker(text)), value, tmp_path, fsync=False, autosave=0)


def test_the_child_of_a_fork_does_not_go_on_with_our_run(tmp_path: Path):
    with begun(tmp_path) as run:
        child = os.fork()
        if child == 0:
            try:
                RunDirectory(run.path).acquire()
            except CheckpointError:
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 3
        assert run.resume().text == "ok"


def test_a_child_that_outlives_us_does_not_keep_the_lock(tmp_path: Path):
    run = begun(tmp_path)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    run.close()
    other = RunDirectory(run.path)
    other.acquire()
    other.release()
    os.close(write)
    os.waitpid(child, 0)
    os.close(read)


def test_a_file_that_is_closed_is_never_written_to_again(tmp_path: Path):
    path = tmp_path / "frames"
    file = frames.FrameFile(path, end=frames.create(path, b"lambdaJ\x01", []), fsync=False)
    file.close()
    with (tmp_path / "other").open("wb") as other, pytest.raises(CheckpointError, match="K008"):
        file.append(b"x")
    assert other.closed
    assert (tmp_path / "other").read_bytes() == b""


def test_the_states_of_another_run_are_not_believed(tmp_path: Path):
    with begun(tmp_path / "a", "about apples") as one, begun(tmp_path / "b", "about pears") as two:
        one.resume()
        two.resume()
    (one.path / "states").write_bytes((two.path / "states").read_bytes())
    again = Run.load(one.path, providers={"openai": speaker()})
    with again, pytest.warns(UserWarning, match=r"states of the run"):
        assert again.resume().trace[0].output == "about apples"


def test_a_state_after_one_that_could_not_be_written_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    linked = link(agent(speaker()))
    first = start(linked, "in")
    second = step(linked, step(linked, first))
    file = StateFile(tmp_path / "states", linked, fsync=False)
    file.save(first, 8)

    def full(_file: int, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(frames, "_write_all", full)
        with pytest.raises(CheckpointError, match="K008"):
            file.save(second, 8)
    file.save(second, 8)
    file.close()
    found, _ = read_states(tmp_path / "states", linked, 8)
    assert found is not None
    assert digest_machine(linked, found) == digest_machine(linked, second)


class Broken:
    """A provider of branches: the first raises what no provider may, the others answer."""

    instant = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = True

    def chat(self, call: ModelCall) -> Reply:
        self.asked.append(call.agent)
        if call.agent == "b0" and self.fails:
            raise ZeroDivisionError
        return Reply(f"{call.agent} spoke")

    async def achat(self, call: ModelCall) -> Reply:
        await asyncio.sleep(0)
        return self.chat(call)

    def close(self) -> None:
        pass


async def test_what_landed_with_something_that_raises_is_kept(tmp_path: Path):
    model = Broken()
    run = Run.begin(compile_term(parallel(model, 4)), "in", tmp_path, fsync=False)
    with run, pytest.raises(ZeroDivisionError):
        await run.aresume()
    assert len(read_journal(run.path / "journal").answers) == 3
    model.fails = False
    with Run.load(run.path, providers={"openai": model}) as again:
        await again.aresume()
    assert sorted(model.asked) == ["b0", "b0", "b1", "b2", "b3"]


def test_other_secrets_at_the_resume_do_not_change_the_input(tmp_path: Path):
    program = agent(speaker("ok"))
    with Run.begin(program, "move our postgres data", tmp_path, environment={}) as run:
        pass
    environment = {"DB_PASSWORD": "postgres"}
    with Run.load(run.path, providers={"openai": speaker("ok")}, environment=environment) as again:
        assert again.resume(watch=lambda _: None).text == "ok"
        assert again.resume(watch=lambda _: None).text == "ok"


def test_a_program_that_holds_a_secret_is_not_kept(tmp_path: Path):
    config = {**SIMPLE, "systemPrompt": "The key is sk-no-real-key."}
    program = build_agent(config, providers={"openai": speaker("ok")})
    with pytest.raises(CheckpointError, match=r"K014.*OPENAI_API_KEY"):
        Run.begin(program, "x", tmp_path, environment={"OPENAI_API_KEY": "sk-no-real-key"})
    assert list(tmp_path.iterdir()) == []


def test_a_run_keeps_its_name_when_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    keys: list[str | None] = []

    def say(call: ModelCall) -> str:
        keys.append(call.idempotency_key)
        raise InterruptedError

    run = Run.begin(agent(Speaker(say)), "in", tmp_path / "runs")
    with run, pytest.raises(InterruptedError):
        run.resume()
    moved = run.path.rename(tmp_path / "läufe→1")
    monkeypatch.chdir(moved)
    with Run.load(".", providers={"openai": Speaker(say)}) as again:
        with pytest.raises(InterruptedError):
            again.resume()
        fork = again.fork((0,), {(0,): "x"})
    assert keys == [f"{run.path.name}@0"] * 2
    assert fork.path.parent == tmp_path
    fork.close()


def test_a_fork_that_would_not_get_there_is_not_begun(tmp_path: Path):
    config = {
        "type": "chain",
        "systemPrompt": "p",
        "model": {**MODEL, "conversation": False},
        "chain": {"steps": [{"name": str(i), "prompt": f"step {i}"} for i in range(3)]},
    }
    program = compile_term(
        build_agent(config, providers={"openai": Speaker(lambda c: f"<{c.last_text}>")})
    )
    with Run.begin(program, "in", tmp_path, fsync=False) as run:
        run.resume()
        with pytest.raises(CheckpointError, match="K015"):
            run.fork((2,), {(0,): "another"})
        assert len(list(tmp_path.iterdir())) == 1
        with run.fork((0,), {(0,): "another"}) as fork:
            assert "another" in fork.resume().text


@pytest.mark.parametrize("name", ["journal", "program.json", "states"])
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(tmp_path: Path, name: str):
    with begun(tmp_path) as run:
        run.resume()
    (run.path / name).unlink()
    os.mkfifo(run.path / name)
    with pytest.raises(CheckpointError, match="K009"):
        Run.load(run.path, providers={"openai": speaker()}).resume()


def test_links_are_not_followed(tmp_path: Path):
    with begun(tmp_path) as run:
        pass
    (run.path / "lock").unlink()
    (run.path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(CheckpointError, match="K008"):
        RunDirectory(run.path).acquire()
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("name", ["journal", "program.json", "states", "run.json"])
def test_no_file_is_read_or_written_through_a_link(tmp_path: Path, name: str):
    with begun(tmp_path) as run:
        run.resume()
    victim = (run.path / name).rename(tmp_path / "victim")
    (run.path / name).symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(CheckpointError, match=r"K009.*symbolic links"):
        Run.load(run.path, providers={"openai": speaker()}).resume()
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", ["journal", "program.json", "states", "run.json"])
def test_a_file_that_is_too_long_is_not_read(tmp_path: Path, name: str):
    with begun(tmp_path) as run:
        run.resume()
    os.truncate(run.path / name, 1 << 40)  # it takes no room
    with pytest.raises(CheckpointError, match=r"K009.*longer than"):
        Run.load(run.path, providers={"openai": speaker()}).resume()


def test_no_file_becomes_too_long_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(frames, "LONGEST_FILE", 3_000)
    with (
        begun(tmp_path, "x" * 5_000) as run,
        pytest.raises(CheckpointError, match=r"K008.*longer"),
    ):
        run.resume()
    assert read_journal(run.path / "journal").open == [(0,)]
    with pytest.raises(CheckpointError, match=r"K008.*longer"):
        begun(tmp_path, value="y" * 5_000)


def test_a_trace_can_be_read_when_the_files_are_gone(tmp_path: Path):
    with begun(tmp_path) as run:
        whole = run.resume()
    with Run.load(run.path) as again:
        result = again.resume()
    shutil.rmtree(run.path)
    assert plain(result.trace) == plain(whole.trace)


def test_a_run_that_is_forgotten_does_not_keep_its_lock(tmp_path: Path):
    run = begun(tmp_path)
    with pytest.raises(CheckpointError, match="K003"):
        RunDirectory(run.path).acquire()
    path = run.path
    del run
    gc.collect()
    with Run.load(path, providers={"openai": speaker("ok")}) as again:
        assert again.resume().text == "ok"
