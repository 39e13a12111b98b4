"""Memories on a server: two processes, a server that stops, and what is never told of its URL."""

import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from lambdagent.effects.protocol import StoreError
from lambdagent.effects.stores.redis_server import RedisStore
from tests.redis_server import RedisServer, redis_server

WRITE = """
import sys
from lambdagent.effects.stores.redis_server import RedisStore

store = RedisStore(sys.argv[1], "two", 1000)
for number in range(200):
    store.put(f"{sys.argv[2]}{number}", number)
"""
PASSWORD = "hunter2-is-long"


@pytest.mark.slow
def test_two_processes_write_at_once_and_nothing_is_lost(redis_url: str):
    writers = [subprocess.Popen([sys.executable, "-c", WRITE, redis_url, name]) for name in "ab"]
    assert [each.wait() for each in writers] == [0, 0]
    store = RedisStore(redis_url, "two")
    rows = store.list_recent(1000)
    store.close()
    for name in "ab":
        assert [row for row in rows if row[0].startswith(name)] == [
            (f"{name}{n}", n) for n in range(200)
        ]


def test_a_store_goes_on_when_its_server_was_started_again(server: RedisServer):
    store = RedisStore(server.url, "s")
    store.put("a", 1)
    server.stop()
    with pytest.raises(StoreError, match=r"127\.0\.0\.1") as caught:
        store.put("b", 2)
    assert "start the server" in caught.value.hint
    server.start()
    assert store.get("a") == 1
    store.put("b", 2)
    assert store.list_recent(5) == [("a", 1), ("b", 2)]
    store.close()


def test_the_server_is_told_when_entries_end(redis_url: str):
    store = RedisStore(redis_url, "ends")
    store.put("a", 1, 50)
    with Redis.from_url(redis_url) as server:
        left_ms = [server.pttl(key) for key in server.scan_iter("lambdagent:{ends}:*")]
        assert len(left_ms) == 2
        assert all(0 < left <= 50_000 for left in left_ms)
        store.put("b", 2)
        assert server.pttl("lambdagent:{ends}:newest") == -1
        store.clear()
        assert list(server.scan_iter("lambdagent:{ends}:*")) == []
    store.close()


def test_stores_of_one_server_share_their_connections(redis_url: str):
    url = f"{redis_url}?client_name=many"
    stores = [RedisStore(url, str(number)) for number in range(20)]
    with Redis.from_url(redis_url) as server:
        assert len([each for each in server.client_list() if each["name"] == "many"]) == 1
        for store in stores:
            store.close()
            store.close()
        assert [each for each in server.client_list() if each["name"] == "many"] == []


def test_ages_are_those_of_the_server(redis_url: str):
    store = RedisStore(redis_url, "ages")
    store.put("a", 1)
    assert 0 <= store.list_aged(1)[0].age_s < 60
    store.close()


def told(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        RedisStore(url)
    failure = caught.value
    told = f"{failure!r} {failure} {failure.message} {failure.hint} {failure.__cause__}"
    assert PASSWORD not in told
    assert "ann" not in told
    return told


@pytest.mark.parametrize(
    "url",
    [
        f"redis://ann:{PASSWORD}@127.0.0.1:1/0",
        f"redis://ann:{PASSWORD}@127.0.0.1:99999/0",
        f"redis://ann:{PASSWORD}@127.0.0.1:port/0",
        f"http://ann:{PASSWORD}@127.0.0.1:1/0",
        f"redis://127.0.0.1:1/0?password={PASSWORD}",
        f"redis://127.0.0.1:1/0?username=ann&password={PASSWORD}&socket_timeout=x",
        f"redis://127.0.0.1:1/0?token={PASSWORD}",
        f"ann:{PASSWORD}@127.0.0.1",
        f"unix://ann:{PASSWORD}@/no/such.sock",
    ],
)
def test_a_server_that_is_not_there_is_told_without_its_credentials(url: str):
    assert told(url)


def test_a_wrong_password_is_told_without_it(tmp_path: Path):
    for server in redis_server(tmp_path, "--requirepass", "right"):
        assert "check the user and the password" in told(
            server.url.replace("redis://", f"redis://:{PASSWORD}@")
        )
        assert "check the user and the password" in told(server.url)


# How a server that is there refuses: what is done to it, what is asked, and what is to be done.
REFUSALS = {
    "no such database": ([], "/99", "check the number of the database"),
    "no number of a database": ([], "/first", "such as `redis://localhost:6379`"),
    "a reader": (
        ["ACL SETUSER reader on >long-enough-word ~* +@read +@connection +zrem +evalsha +script"],
        "reader:long-enough-word",
        "allow the user in LAMBDAGENT_REDIS_URL to write",
    ),
    "nobody may write": (
        ["ACL SETUSER looker on >long-enough-word ~* +@read +@connection"],
        "looker:long-enough-word",
        "allow the user in LAMBDAGENT_REDIS_URL to write",
    ),
    "no room": (["CONFIG SET maxmemory 1"], "", "give the server more room"),
    "a replica": (["REPLICAOF 127.0.0.1 1"], "", "a server that can be written to"),
    "another kind": (["SET lambdagent:{s}:newest text"], "", "remove the keys there"),
    "another entry": (
        ["ZADD lambdagent:{s}:newest 1 k", "SET lambdagent:{s}:entry:k text"],
        "",
        "remove the keys there",
    ),
}


def test_a_server_that_refuses_is_told_with_what_to_do(server: RedisServer):
    told = {}
    administrator = Redis.from_url(server.url)
    for name, (done, asked, hint) in REFUSALS.items():
        for command in ("REPLICAOF NO ONE", "CONFIG SET maxmemory 0", "FLUSHALL", *done):
            administrator.execute_command(*command.split(" "))
        user = asked if ":" in asked else ""
        url = server.url.replace("redis://", f"redis://{user}@" if user else "redis://")
        with pytest.raises(StoreError) as caught:
            write_and_read(url + ("" if user else asked))
        told[name] = hint if hint in caught.value.hint else str(caught.value.hint)
        assert "script:" not in caught.value.message
        assert "long-enough" not in f"{caught.value.message} {caught.value.__cause__}"
    administrator.close()
    assert told == {name: hint for name, (_, _, hint) in REFUSALS.items()}


def write_and_read(url: str) -> None:
    store = RedisStore(url, "s")
    try:
        store.put("a", "x" * 1000)
        store.list_recent(5)
    finally:
        store.close()


def test_what_cannot_be_written_to_is_told_when_it_is_opened(server: RedisServer):
    with Redis.from_url(server.url) as administrator:
        administrator.execute_command("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(StoreError, match="read only"):
        RedisStore(server.url, "s")


def test_without_the_sdk_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError) as caught:
        RedisStore("redis://localhost")
    assert "not installed" in caught.value.message
    assert caught.value.hint == "pip install 'lambdagent[redis]'"


@pytest.mark.parametrize("option", ["decode_responses=True", "protocol=2", "protocol=3"])
def test_the_options_of_a_url_change_no_entries(redis_url: str, option: str):
    store = RedisStore(f"{redis_url}?{option}", "options", 9)
    store.clear()
    store.put("键", "值")
    assert store.get("键") == "值"
    assert store.list_recent(5) == [("键", "值")]
    store.close()
