"""Who waits for the disk: what leaves is on it before, and no event loop waits for it."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.effects import frames
from lambdagent.effects.journal import read_journal
from lambdagent.errors import CheckpointError
from tests.api.kept_world import KilledError, World, council, go_on, load, react, searching
from tests.effects.agents import PATIENCE_S

__all__ = ["go_on"]


class Disk:
    """What `fdatasync` and `fsync` have made safe of a journal, and on which threads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: set[int] = set()
        self.safe_bytes: dict[int, int] = {}
        for name in ("fdatasync", "fsync"):
            monkeypatch.setattr(frames.os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, sync):  # type: ignore[no-untyped-def]
        def sync_and_tell(file: int) -> None:
            sync(file)
            self.threads.add(threading.get_ident())
            found = os.fstat(file)
            self.safe_bytes[found.st_ino] = found.st_size

        return sync_and_tell

    def has_all_of(self, run: Run) -> bool:
        found = (run.path / "journal").stat()
        return self.safe_bytes[found.st_ino] == found.st_size


def said(text: str) -> str:
    return f"said {len(text)}"


@pytest.mark.parametrize("make", [react, council])
async def test_the_disk_holds_up_no_event_loop(tmp_path, monkeypatch, make):
    world = World(searching(3) if make is react else said)
    run = Run.begin(make(world), "in", tmp_path, autosave=1)
    disk = Disk(monkeypatch)
    with run:
        await run.aresume()
    assert disk.threads
    assert threading.get_ident() not in disk.threads
    assert disk.has_all_of(run)


class Watchful(World):
    """Looks at the disk whenever something has left the process."""

    disk: Disk
    kept: Run
    unsafe: int = 0

    def _answer(self, question, answer):  # type: ignore[no-untyped-def]
        self.unsafe += not self.disk.has_all_of(self.kept)
        return super()._answer(question, answer)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_what_leaves_is_on_the_disk_before(tmp_path, monkeypatch, way):
    world = Watchful(searching(3))
    world.disk = Disk(monkeypatch)
    world.kept = Run.begin(react(world), "in", tmp_path)
    with world.kept as run:
        run.resume() if way == "sync" else asyncio.run(run.aresume())
    assert (world.count, world.unsafe) == (7, 0)


async def test_who_is_cancelled_while_the_disk_is_slow_waits_for_it(tmp_path, monkeypatch):
    """Otherwise the files would be closed under it, or written to out of turn."""
    loop, begun, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    sync, ended = os.fdatasync, []

    def slow(file: int) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert go_on.wait(PATIENCE_S)
        sync(file)
        ended.append(file)

    world = World(searching(3))
    run = Run.begin(react(world), "in", tmp_path)
    with run, monkeypatch.context() as patch:
        patch.setattr(frames.os, "fdatasync", slow)
        task = asyncio.ensure_future(run.aresume())
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended
    assert world.count == 0
    assert len(read_journal(run.path / "journal").intents) == 1
    with load(run.path, world) as again:
        assert (await again.aresume()).value == "done after 3"


@pytest.mark.parametrize("number", range(4))
def test_nothing_leaves_after_the_disk_has_refused(tmp_path, monkeypatch, go_on, number):
    sync, calls = os.fdatasync, []

    def refuses_once(file: int) -> None:
        calls.append(file)
        if len(calls) == number + 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(file)

    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path) as run, monkeypatch.context() as patch:
        patch.setattr(frames.os, "fdatasync", refuses_once)
        with pytest.raises(CheckpointError, match="K008"):
            go_on(run)
    assert world.count == number
    with load(run.path, world) as again:
        assert go_on(again, doubt=ask_again).value == "done after 3"
    assert world.count == 7


def test_what_ended_a_run_is_not_hidden_by_a_full_disk(tmp_path, monkeypatch, go_on):
    def full(_file: int, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Filling(World):
        """Ends the run at its third call, when nothing can be written any more."""

        def _answer(self, question, answer):  # type: ignore[no-untyped-def]
            if self.count == 2:
                monkeypatch.setattr(frames, "_write_all", full)
            return super()._answer(question, answer)

    world = Filling(searching(3), die_at=2)
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(KilledError), pytest.warns(UserWarning, match="No space left"):
        go_on(run)
    monkeypatch.undo()
    assert len(read_journal(run.path / "journal").answers) == 2


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_remark_that_raises_leaves_no_file_open(tmp_path, go_on):
    def refuse(_remark: object) -> None:
        raise KilledError

    world = World(searching(1))
    with Run.begin(react(world, 1), "in", tmp_path, fsync=False) as run:
        run.resume()
    (run.path / "states").write_bytes(b"")
    with load(run.path, world) as again:
        before = open_files()
        with pytest.raises(KilledError):
            go_on(again, remark=refuse)
        assert open_files() == before
