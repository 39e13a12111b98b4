"""Every store of ours passes the suite that is offered to others."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lambdagent import StoreConformance
from lambdagent.effects.stores.local import LocalStore, Shelf
from lambdagent.effects.stores.redis_server import RedisStore
from lambdagent.effects.stores.sqlite import SqliteStore


class Clocked(StoreConformance):
    """Stores whose time is ours."""

    now = 1_000.0

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


class TestLocal(Clocked):
    @pytest.fixture(autouse=True)
    def _shelves(self) -> None:
        self.shelves: dict[str, Shelf] = {}

    def open_store(self, name: str) -> LocalStore:
        return LocalStore(shelf=self.shelves.setdefault(name, Shelf()), clock=self.clock)

    def open_sized(self, name: str, size: int) -> LocalStore:
        return LocalStore(size, clock=self.clock)


class TestSqlite(Clocked):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> Any:
        self.path = tmp_path / "memory.db"
        self.opened: list[SqliteStore] = []
        yield
        for store in self.opened:
            store.close()

    def open_store(self, name: str, size: int | None = None) -> SqliteStore:
        self.opened.append(SqliteStore(self.path, name, size, clock=self.clock))
        return self.opened[-1]

    open_sized = open_store


class TestRedis(StoreConformance):
    @pytest.fixture(autouse=True)
    def _server(self, redis_url: str) -> Any:
        self.url, self.test = redis_url, uuid4().hex
        self.opened: list[RedisStore] = []
        yield
        for store in self.opened:
            store.close()

    def open_store(self, name: str, size: int | None = None) -> RedisStore:
        self.opened.append(RedisStore(self.url, f"{self.test}/{name}", size))
        return self.opened[-1]

    open_sized = open_store


class Plain:
    """The shortest store there is: it forgets nothing by itself."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def get(self, key: str) -> Any | None:
        return self.held.get(key)

    def put(self, key: str, value: Any, ttl: int = 0) -> None:
        self.held.pop(key, None)
        self.held[key] = value

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        return list(self.held.items())[-n:] if n else []

    def clear(self) -> None:
        self.held.clear()


def test_the_suite_finds_what_a_store_lacks():
    held: dict[str, dict[str, Any]] = {}

    class Suite(StoreConformance):
        def open_store(self, name: str) -> Plain:
            return Plain(held.setdefault(name, {}))

        def wait(self, seconds: float) -> None:
            pass

    suite = Suite()
    failed = []
    for name in (name for name in dir(suite) if name.startswith("test_")):
        try:
            getattr(suite, name)()
        except AssertionError:
            failed.append(name)
    assert failed == [
        "test_an_entry_is_gone_after_its_time",
        "test_an_entry_that_is_put_again_has_the_new_time",
    ]
