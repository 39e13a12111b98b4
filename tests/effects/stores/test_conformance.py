"""Every store of ours passes the suite that is offered to others."""

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

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

    def wait(self, seconds: float) -> None:
        """Bring the end of all that ends nearer; it is the server that forgets it then."""
        with Redis.from_url(self.url) as server:
            for key in server.scan_iter():
                left_ms = server.pttl(key)
                if left_ms > 0:
                    server.pexpire(key, max(1, left_ms - int(seconds * 1000)))
        time.sleep(0.01)

    @pytest.mark.slow
    def test_time_passes_by_itself(self) -> None:
        store = self.open_store("real")
        store.put("a", "1", 1)
        time.sleep(1.1)
        assert store.list_recent(1) == []
        with Redis.from_url(self.url) as server:
            assert list(server.scan_iter(f"*{self.test}*")) == []


KEYS = st.sampled_from(["a", "b", "c", "记", ""])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 9), st.sampled_from([0, 0, 1, 5])),
        st.tuples(st.just("get"), KEYS),
        st.tuples(st.just("list_recent"), st.integers(0, 4)),
        st.tuples(st.just("clear")),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 2.0])),
    ),
    max_size=25,
)


@given(steps=STEPS, size=st.none() | st.integers(1, 3))
def test_a_file_answers_as_a_dict_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], size: int | None
):
    now = [1_000.0]
    path = tmp_path_factory.getbasetemp() / "same.db"
    stores: list[Any] = [
        LocalStore(size, clock=lambda: now[0]),
        SqliteStore(path, uuid4().hex, size, clock=lambda: now[0]),
    ]
    for name, *words in steps:
        if name == "wait":
            now[0] += words[0]
        else:
            here, there = (getattr(store, name)(*words) for store in stores)
            assert here == there
    assert stores[0].list_aged(9) == stores[1].list_aged(9)
    stores[1].clear()
    stores[1].close()


@given(steps=STEPS, size=st.none() | st.integers(1, 3))
def test_a_server_answers_as_a_dict_does(redis_url: str, steps: list[Any], size: int | None):
    stores: list[Any] = [LocalStore(size), RedisStore(redis_url, uuid4().hex, size)]
    for name, *words in steps:
        if name != "wait":
            asked = words[:2] if name == "put" else words
            here, there = (getattr(store, name)(*asked) for store in stores)
            assert here == there
    assert stores[0].list_recent(9) == stores[1].list_recent(9)
    stores[1].close()


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
