"""Whatever ends a run from outside, what was answered by then is not asked again.

Nothing here looks at a clock: answers land while whoever moves the run is held up, and then the
run is ended.
"""

import asyncio
import queue
import signal
import threading
from collections.abc import Callable

import pytest

from lambdagent.api.kept import Run
from lambdagent.effects import crew
from lambdagent.effects.journal import read_journal
from lambdagent.effects.waiting import Clock, Flight
from lambdagent.errors import BudgetError
from tests.api.kept_world import KilledError, World, council, load, react, searching
from tests.effects.agents import PATIENCE_S

BRANCHES = 4


def said(text: str) -> str:
    return f"said {len(text)}"


def stop_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock, "is_over", lambda *_: True)


def kill(_: pytest.MonkeyPatch) -> None:
    raise KilledError


def press_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return when the caller's thread has heard of it."""
    heard, stop = threading.Event(), Clock.stop

    def stop_and_tell(clock: Clock) -> None:
        stop(clock)
        heard.set()

    monkeypatch.setattr(Clock, "stop", stop_and_tell)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    assert heard.wait(PATIENCE_S)


ENDS = {BudgetError: stop_clocks, KilledError: kill, KeyboardInterrupt: press_ctrl_c}


def resumes_without_a_second_call(run: Run, world: World, answered: int) -> None:
    assert len(read_journal(run.path / "journal").answers) == answered
    run.close()
    asked = world.count
    with load(run.path, world) as again:
        again.resume()
    assert max(world.counts.values()) == 1
    assert world.count > asked


@pytest.mark.parametrize("error", ENDS)
def test_what_landed_at_workers_is_kept(tmp_path, monkeypatch, error):
    landed = threading.Semaphore(0)

    class Counting(queue.SimpleQueue):  # type: ignore[type-arg]
        def put(self, item, *options):  # type: ignore[no-untyped-def]
            super().put(item, *options)
            if isinstance(item, tuple) and isinstance(item[0], Flight):
                landed.release()

    def watch(_: object) -> None:
        if not held_up.is_set():  # the first branch has come to its answer
            held_up.set()
            for _ in range(BRANCHES):
                assert landed.acquire(timeout=PATIENCE_S)
            ENDS[error](monkeypatch)

    held_up = threading.Event()
    world = World(said)
    monkeypatch.setattr(crew.queue, "SimpleQueue", Counting)
    run = Run.begin(council(world, BRANCHES), "in", tmp_path, fsync=False)
    with pytest.raises(error):
        run.resume(watch=watch)
    monkeypatch.undo()
    resumes_without_a_second_call(run, world, BRANCHES)


@pytest.mark.parametrize("error", [BudgetError, KeyboardInterrupt])
def test_what_the_leader_was_answered_itself_is_kept(tmp_path, monkeypatch, error):
    """The answer is there, and before the leader can use it nobody wants to hear of it."""
    take_over = crew.Crew._take_over

    def late(self: crew.Crew, number: int) -> None:
        if self._own is not None and not ended.is_set():
            ended.set()
            ENDS[error](monkeypatch)
            while self._leader == number:
                gone.wait(0.001)
        take_over(self, number)

    ended, gone = threading.Event(), threading.Event()
    world = World(searching(2))
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    monkeypatch.setattr(crew.Crew, "_take_over", late)
    with pytest.raises(error):
        run.resume()
    monkeypatch.undo()
    resumes_without_a_second_call(run, world, 1)


class Awaited(World):
    """Answers on the loop, and counts who has done so."""

    landed: int = 0
    act: Callable[[int], None] = staticmethod(lambda _: None)

    async def achat(self, call):
        await asyncio.sleep(0)
        reply = self.chat(call)
        self.landed += 1
        self.act(self.landed)
        return reply


@pytest.mark.parametrize("error", [BudgetError, asyncio.CancelledError])
async def test_what_landed_on_the_event_loop_is_kept(tmp_path, monkeypatch, error):
    def act(landed: int) -> None:
        if landed == BRANCHES:  # all in the same turn of the loop, before the driver has its own
            if error is BudgetError:
                stop_clocks(monkeypatch)
            else:
                task.cancel()

    world = Awaited(said)
    world.act = act
    run = Run.begin(council(world, BRANCHES), "in", tmp_path, fsync=False)
    task = asyncio.ensure_future(run.aresume())
    with pytest.raises(error):
        await task
    monkeypatch.undo()
    world.act = lambda _: None
    run.close()
    assert len(read_journal(run.path / "journal").answers) == BRANCHES
    with load(run.path, world) as again:
        await again.aresume()
    assert max(world.counts.values()) == 1


async def test_what_fails_meanwhile_is_told_and_asked_again(tmp_path):
    def act(landed: int) -> None:
        if landed == 2:
            raise ZeroDivisionError("a fault of the provider")
        if landed == BRANCHES:
            task.cancel()

    world = Awaited(said)
    world.act = act
    run = Run.begin(council(world, BRANCHES), "in", tmp_path, fsync=False)
    task = asyncio.ensure_future(run.aresume())
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await task
    assert cancelled.value.__notes__ == [
        "meanwhile `llm:b1` failed: ZeroDivisionError: a fault of the provider"
    ]
    world.act = lambda _: None
    run.close()
    assert len(read_journal(run.path / "journal").answers) == BRANCHES - 1
    with load(run.path, world) as again:
        await again.aresume()
    assert sorted(world.counts.values()) == [1] * BRANCHES + [2]
