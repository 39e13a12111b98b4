"""Forks beside threads that hold locks."""

import ast
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import lambdagent
from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.leases import Leases
from lambdagent.effects.stores.local import LocalStore
from lambdagent.effects.stores.sqlite import SqliteStore

PATIENCE_S = 10


def status_of_child(work: Callable[[], object]) -> int:
    """Return how a fork ended that did `work`: 0, or that it took too long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE_S)
        work()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def test_a_child_takes_what_another_thread_held():
    lock, held, over = ForkSafeLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            over.wait(PATIENCE_S)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(PATIENCE_S)
    try:
        assert status_of_child(lock.__enter__) == 0
    finally:
        over.set()
        thread.join()


def test_a_fork_waits_where_it_is_to():
    lock, held, let_go = ForkSafeLock(holds_up_forks=True), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            time.sleep(0.05)
            let_go.set()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(PATIENCE_S)
    assert status_of_child(lambda: os._exit(0 if let_go.is_set() else 1)) == 0
    thread.join()
    with lock:  # the parent has it again
        pass


def locks_of(module: ast.Module) -> list[str]:
    """Return the locks of `threading` that the module has as long as the process lives."""
    made = [each.value for each in module.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    calls = [ast.unparse(each.func) for each in made if isinstance(each, ast.Call)]
    return [each for each in calls if each.endswith(("Lock", "Condition", "Semaphore"))]


def test_all_locks_of_the_process_can_be_taken_in_a_child():
    package = Path(lambdagent.__file__).parent
    found = {path: locks_of(ast.parse(path.read_text("utf-8"))) for path in package.rglob("*.py")}
    assert {name for names in found.values() for name in names} == {"ForkSafeLock"}


class Thing:
    def close(self) -> None:
        pass


class Things:
    """Leases as a store."""

    def __init__(self) -> None:
        self.leases = Leases(lambda _: Thing())

    def put(self, key: str, _: int) -> None:
        self.leases.take(key)


@pytest.mark.parametrize("kind", ["local", "sqlite", "leases"])
def test_a_child_writes_though_threads_of_the_parent_were_writing(tmp_path: Path, kind: str):
    stores = {
        "local": lambda: LocalStore(5),
        "sqlite": lambda: SqliteStore(tmp_path / "m.db", "s", 5),
        "leases": Things,
    }
    store = stores[kind]()
    for _ in range(5):
        over = threading.Event()

        def work(over: threading.Event = over) -> None:
            while not over.is_set():
                store.put("a", 1)

        def finish(over: threading.Event = over) -> None:
            over.set()
            store.put("b", 2)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.01)
        # A parent that goes on writing would keep the file from the child for a while.
        threading.Timer(0.05, over.set).start()
        try:
            assert status_of_child(finish) == 0
        finally:
            over.set()
            thread.join()
