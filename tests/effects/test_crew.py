"""Workers: how many there are, and what happens where the system gives us none."""

import threading
import time
from collections.abc import Callable

import pytest

from lambdagent import BudgetError, EffectError
from lambdagent.effects import crew, tools
from lambdagent.effects.protocol import ModelCall, Reply
from tests.effects.agents import PATIENCE_S, Face, parallel

SYNC = Face("sync")


class Waiting:
    """A provider that is not instant; remembers the calls and how many overlapped at most."""

    instant = False

    def __init__(self, wait: Callable[[], object] = lambda: None) -> None:
        self.wait = wait
        self.calls: list[ModelCall] = []
        self.lock = threading.Lock()
        self.now = self.most = 0

    def chat(self, call: ModelCall) -> Reply:
        with self.lock:
            self.calls.append(call)
            self.now += 1
            self.most = max(self.most, self.now)
        self.wait()
        with self.lock:
            self.now -= 1
        return Reply(call.agent)

    async def achat(self, call: ModelCall) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        pass


def scarce(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let the system give us `count` threads, and then no more; those that wait end soon."""
    while tools._idle:
        time.sleep(0.01)
    start, left = threading.Thread.start, iter(range(count))

    def starting(thread: threading.Thread) -> None:
        if next(left, None) is None:
            what = "can't start new thread"
            raise RuntimeError(what)
        start(thread)

    monkeypatch.setattr(crew.threading.Thread, "start", starting)


def names(count: int) -> tuple[str, ...]:
    return tuple(f"b{i}" for i in range(count))


def test_requests_beyond_the_most_workers_wait_in_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crew, "_MOST_WORKERS", 3)
    barrier = threading.Barrier(3, timeout=PATIENCE_S)
    provider = Waiting(barrier.wait)
    assert SYNC.ask(parallel(provider, 12), "x").value == names(12)
    assert provider.most == 3


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_where_no_more_threads_start_fewer_do_the_work(
    monkeypatch: pytest.MonkeyPatch, threads: int
):
    """One of them is the leader."""
    scarce(monkeypatch, threads)
    provider = Waiting()
    assert SYNC.ask(parallel(provider, 40), "x").value == names(40)
    assert provider.most <= threads - 1


@pytest.mark.parametrize("threads", [0, 1])
def test_without_any_thread_the_run_fails_with_a_code(
    monkeypatch: pytest.MonkeyPatch, threads: int
):
    scarce(monkeypatch, threads)
    with pytest.raises(EffectError, match=r"E011.*can't start new thread"):
        SYNC.ask(parallel(Waiting(), 4), "x")


def test_what_waits_in_line_when_the_run_ends_is_left_undone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crew, "_MOST_WORKERS", 1)
    release = threading.Event()
    provider = Waiting(release.wait)
    before = set(threading.enumerate())
    with pytest.raises(BudgetError):
        SYNC.ask(parallel(provider, 5), "x", timeout_s=0.05)
    release.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert len(provider.calls) == 1


@pytest.mark.slow
def test_a_thousand_branches_are_under_way_at_once():
    barrier = threading.Barrier(1_000, timeout=PATIENCE_S)
    assert SYNC.ask(parallel(Waiting(barrier.wait), 1_000), "x").value == names(1_000)
