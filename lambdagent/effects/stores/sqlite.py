"""Memories in an SQLite file, for several processes and threads at once.

One row for each entry; the memories of a file are told apart by their space. The file is in WAL
mode, and what is put is on the disk when `put` returns: a kill at any moment leaves a file that is
whole, with the last entry or without it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.leases import Leases
from lambdagent.effects.protocol import Entry, StoreError
from lambdagent.messages import phrase

# Stand in the header of the file: "λmem" as ours, and the layout below.
_APPLICATION, _LAYOUT = 0x3BB6D656, 1
_TABLES: Final = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    space TEXT NOT NULL,
    key BLOB NOT NULL,
    value TEXT NOT NULL,
    written REAL NOT NULL,
    expires REAL,
    UNIQUE (space, key)
);
CREATE INDEX newest ON entries (space, number);
CREATE INDEX expiring ON entries (expires) WHERE expires IS NOT NULL;
"""
_PUT = "INSERT INTO entries (space, key, value, written, expires) VALUES (?, ?, ?, ?, ?)"
_GET = """
SELECT value FROM entries WHERE space = ? AND key = ? AND (expires IS NULL OR expires > ?)
"""
_RECENT = """
SELECT key, value, written FROM entries
WHERE space = ? AND (expires IS NULL OR expires > ?) ORDER BY number DESC LIMIT ?
"""
_EVICT = """
DELETE FROM entries WHERE space = ? AND number <= (
    SELECT number FROM entries WHERE space = ? ORDER BY number DESC LIMIT 1 OFFSET ?
)
"""
# How long one waits for another process that writes, and between two tries.
_PATIENCE_S, _PAUSE_S = 10.0, 0.01
_LARGEST = 2**62
_HINTS: Final = {
    sqlite3.SQLITE_BUSY: phrase("end the program that holds it locked, or wait for it"),
    sqlite3.SQLITE_CORRUPT: phrase("put back a copy of the file, or name another one"),
    sqlite3.SQLITE_FULL: phrase("make room on the disk"),
    sqlite3.SQLITE_IOERR: phrase("check the disk"),
    sqlite3.SQLITE_NOTADB: phrase("name another file: `memory.path`"),
    sqlite3.SQLITE_READONLY: phrase("allow writing to it, or name another file: `memory.path`"),
}
_CHECK: Final = phrase("check the path and its permissions")
# Connections that are not to be closed: those of the parent of a fork, which it still uses, and
# those to a file that was taken away, since sqlite would remove the journal of the next one.
_left: list[sqlite3.Connection] = []


class SqliteStore:
    """A `MemoryStore` in a file.

    Attributes:
        at_once: Most threads that are of use; those of one file wait for each other.
    """

    at_once = 1

    def __init__(
        self,
        path: Path,
        space: str = "",
        size: int | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the file, or make it.

        Args:
            path: The file; the directory that it is in must be there.
            space: Which of the memories in the file this is.
            size: Most entries kept, None for any number.
            clock: Seconds since the epoch.

        Raises:
            StoreError: The file cannot be made, read or written, or is something else.
        """
        self._space = space
        self._size = size
        self._clock = clock
        self.shared = str(path.absolute())
        self._is_open = True
        self._database = _databases.take(self.shared)
        try:
            with self._writing():
                pass
        except BaseException:
            self.close()
            raise

    def get(self, key: str) -> Any | None:
        """Return the value of `key`, or None."""
        with self._open() as connection:
            asked = (self._space, _bytes(key), self._clock())
            row = connection.execute(_GET, asked).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, value: Any, ttl: float = 0) -> None:
        """Keep `value` for `ttl` seconds; 0 means for ever."""
        raw, text = _bytes(key), json.dumps(value)
        with self._writing() as connection:
            now = self._clock()
            connection.execute("DELETE FROM entries WHERE expires <= ?", (now,))
            connection.execute(
                "DELETE FROM entries WHERE space = ? AND key = ?", (self._space, raw)
            )
            expires = now + ttl if ttl else None
            connection.execute(_PUT, (self._space, raw, text, now, expires))
            if self._size is not None:
                connection.execute(_EVICT, (self._space, self._space, self._size))

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        """Return the `n` newest entries, oldest first."""
        return [(each.key, each.value) for each in self.list_aged(n)]

    def list_aged(self, n: int) -> list[Entry]:
        """Return the `n` newest entries, oldest first, with their ages."""
        now = self._clock()
        with self._open() as connection:
            asked = (self._space, now, min(max(n, 0), _LARGEST))
            rows = connection.execute(_RECENT, asked).fetchall()
        return [
            Entry(_text(key), json.loads(value), max(0.0, now - written))
            for key, value, written in reversed(rows)
        ]

    def clear(self) -> None:
        """Forget everything in this space."""
        with self._writing() as connection:
            connection.execute("DELETE FROM entries WHERE space = ?", (self._space,))

    def close(self) -> None:
        """Use the file no more; it is closed when nobody uses it."""
        if self._is_open:
            self._is_open = False
            _databases.give_back(self.shared)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that nobody else writes beside; all or nothing of it is kept."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk may have ended it
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._database.open()


class _Database:
    """The one connection of this process to a file: sqlite makes those of several poll."""

    def __init__(self, path: str) -> None:
        """Be about the file at `path`; it is opened when it is used."""
        self._path = Path(path)
        # A child would wait for ever for what sqlite remembers of a transaction of ours.
        self._lock = ForkSafeLock(holds_up_forks=True)
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._file: tuple[int, int] | None = None

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, to one thread at a time.

        Raises:
            StoreError: What is done with it fails.
        """
        try:
            with self._lock:
                yield self._current()
        except sqlite3.Error as error:
            hint = _HINTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _CHECK)
            raise self._failed(str(error), hint) from error
        except _OtherFileError as error:
            raise self._failed(error.args[0], _HINTS[sqlite3.SQLITE_NOTADB]) from error
        except (OSError, ValueError) as error:  # such as a path with a null character
            reason = getattr(error, "strerror", None) or str(error)
            raise self._failed(reason, _CHECK) from error

    def close(self) -> None:
        """Close the connection, if that is ours and its file is there."""
        with self._lock:
            if self._connection is None:
                return
            if self._process == os.getpid() and _identity(self._path) == self._file:
                self._connection.close()
                self._connection = None
            else:
                self._leave(self._connection)

    def _current(self) -> sqlite3.Connection:
        """Return the connection of this process to the file, a new one if there is none."""
        if self._connection is not None and self._process != os.getpid():
            self._leave(self._connection)
        if self._connection is None:
            self._connection = _connected(self._path)
            self._process, self._file = os.getpid(), _identity(self._path)
        elif _identity(self._path) != self._file:
            self._leave(self._connection)
            raise _OtherFileError(phrase("it was taken away while it was in use"))
        return self._connection

    def _leave(self, connection: sqlite3.Connection) -> None:
        """Use `connection` no more, and leave it open."""
        _left.append(connection)
        self._connection = None

    def _failed(self, reason: str, hint: str) -> StoreError:
        return StoreError(phrase("`{path}`: {reason}", path=self._path, reason=reason), hint)


_databases: Final = Leases(_Database)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file is at `path`, None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _connected(path: Path) -> sqlite3.Connection:
    """Return a new connection to the file at `path`, which is made if it is not there.

    A file that is there is left to sqlite: to close it here would take away the locks that other
    connections of this process have.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise _OtherFileError(phrase("it is no file")) from None
    connection = sqlite3.connect(
        path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, unless they are there."""
    _in_wal_mode(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    if _number(connection, "PRAGMA application_id") == _APPLICATION:
        layout = _number(connection, "PRAGMA user_version")
        if layout != _LAYOUT:
            what = phrase(
                "it is of layout {found}, and this version reads {known}",
                found=layout,
                known=_LAYOUT,
            )
            raise _OtherFileError(what)
    elif _number(connection, "SELECT count(*) FROM sqlite_master"):
        raise _OtherFileError(phrase("it is a database of something else"))
    else:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")
    connection.execute("COMMIT")


class _OtherFileError(Exception):
    """A file that is no memory of ours."""


def _number(connection: sqlite3.Connection, query: str) -> int:
    found: int = connection.execute(query).fetchone()[0]
    return found


def _in_wal_mode(connection: sqlite3.Connection) -> None:
    """Have readers and a writer not wait for each other; sqlite itself does not wait here."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
