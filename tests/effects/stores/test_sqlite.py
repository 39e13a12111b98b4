"""Memories in a file: several processes, kills, and files that are none."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lambdagent.effects.protocol import StoreError
from lambdagent.effects.stores.sqlite import SqliteStore

WRITE = """
import sys
from pathlib import Path
from lambdagent.effects.stores.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]), "s", int(sys.argv[4]))
for number in range(int(sys.argv[3])):
    store.put(f"{sys.argv[2]}{number}", number)
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int, size: int = 10_000) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", WRITE, str(path), name, str(count), str(size)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def held(path: Path, space: str = "s") -> list[tuple[str, object]]:
    store = SqliteStore(path, space)
    try:
        return store.list_recent(100_000)
    finally:
        store.close()


@pytest.mark.slow
def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path: Path):
    path = tmp_path / "m.db"
    writers = [writer(path, name, 200) for name in "ab"]
    for each in writers:
        each.communicate()
    assert [each.returncode for each in writers] == [0, 0]
    rows = held(path)
    for name in "ab":
        assert [row for row in rows if row[0].startswith(name)] == [
            (f"{name}{n}", n) for n in range(200)
        ]


@pytest.mark.slow
def test_two_processes_keep_to_the_size_together(tmp_path: Path):
    path = tmp_path / "m.db"
    writers = [writer(path, name, 50, 7) for name in "ab"]
    for each in writers:
        each.communicate()
    assert len(held(path)) == 7


@pytest.mark.slow
def test_what_was_put_before_a_kill_is_there(tmp_path: Path):
    path, told = tmp_path / "m.db", -1
    for kill in range(8):
        process = writer(path, f"{kill}-", 10_000)
        assert process.stdout is not None
        for line in process.stdout:
            told = int(line)
            if told >= 5 * kill:
                process.send_signal(signal.SIGKILL)
                break
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        keys = [key for key, _ in held(path) if key.startswith(f"{kill}-")]
        assert keys[: told + 1] == [f"{kill}-{n}" for n in range(told + 1)]
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_the_file_is_in_wal_mode_and_nobody_else_may_read_it(tmp_path: Path):
    path = tmp_path / "m.db"
    held(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_a_store_is_read_by_the_child_of_a_fork(tmp_path: Path):
    store = SqliteStore(tmp_path / "m.db", "s")
    store.put("a", 1)
    child = os.fork()
    if not child:
        status = 2
        try:
            store.put("b", 2)
            status = 0 if store.get("a") == 1 else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert store.list_recent(2) == [("a", 1), ("b", 2)]
    store.close()


def refused(path: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        SqliteStore(path)
    assert str(path) in caught.value.message
    return caught.value


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "m.db"
    path.write_text("my notes\n" * 1000)
    assert "file is not a database" in refused(path).message
    assert path.read_text() == "my notes\n" * 1000


def test_a_database_of_something_else_is_told_and_left_as_it_is(tmp_path: Path):
    path = tmp_path / "m.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE entries (mine)")
    database.close()
    assert "something else" in refused(path).message
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
    database.close()
    assert tables == [("entries",)]


def test_a_file_of_another_layout_is_told(tmp_path: Path):
    path = tmp_path / "m.db"
    held(path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 7")
    database.close()
    assert "of layout 7, and this version reads 1" in refused(path).message


def test_a_place_that_cannot_be_a_file_is_told(tmp_path: Path):
    assert "No such file or directory" in refused(tmp_path / "no" / "m.db").message
    assert "it is no file" in refused(tmp_path).message
    assert "null" in refused(tmp_path / "a\x00b").message
    os.mkfifo(tmp_path / "pipe")
    assert "it is no file" in refused(tmp_path / "pipe").message


def test_a_file_that_is_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.db"
    monkeypatch.setattr("lambdagent.effects.stores.sqlite._PATIENCE_S", 0.05)
    store = SqliteStore(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    failure = refused(path)
    assert "database is locked" in failure.message
    assert "end the program that holds it locked" in failure.hint
    other.execute("ROLLBACK")
    other.close()
    store.put("a", 1)
    store.close()


def test_a_file_that_may_not_be_written_is_told(tmp_path: Path):
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    with store._open() as connection:
        connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError) as caught:
        store.put("a", 1)
    assert "attempt to write a readonly database" in caught.value.message
    assert "allow writing to it" in caught.value.hint
    store.close()


def test_a_disk_that_is_full_is_told_and_the_store_goes_on(tmp_path: Path):
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    store.put("a", 1)
    with store._open() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError) as caught:
        store.put("b", "x" * 100_000)
    assert "database or disk is full" in caught.value.message
    assert caught.value.hint == "make room on the disk"
    store.put("c", 3)
    assert store.list_recent(5) == [("a", 1), ("c", 3)]
    store.close()


def test_entries_whose_time_is_over_leave_the_file(tmp_path: Path):
    now = [0.0]
    store = SqliteStore(tmp_path / "m.db", clock=lambda: now[0])
    store.put("a", 1, 5)
    now[0] = 6.0
    SqliteStore(tmp_path / "m.db", "other", clock=lambda: now[0]).put("b", 2)
    with store._open() as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    store.close()


def test_a_file_that_is_taken_away_is_told(tmp_path: Path):
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    store.put("a", 1)
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(StoreError, match="it was taken away while it was in use"):
        store.put("b", 2)
    store.put("c", 3)
    assert held(path, "") == [("c", 3)]
    store.close()
