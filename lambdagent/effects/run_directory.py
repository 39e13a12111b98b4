"""A run on disk: one directory.

    DIR/<id>/program.json    the program, as `lambdagent lambda --format json` writes it
    DIR/<id>/program-….json  the one that took its place, named by its digest
    DIR/<id>/run.json        what else the run began with; its being there is what makes it a run,
                             and what it says is the digest of the program
    DIR/<id>/journal         see `journal`
    DIR/<id>/states          see `states`
    DIR/<id>/lock            held by whoever goes on with it

Nobody else may read any of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs

from lambdagent.effects.frames import (
    damaged,
    put_file,
    read_file,
    sync_directory,
    unknown_format,
    unwritable,
)
from lambdagent.effects.journal import Told, create_journal
from lambdagent.effects.states import forget_states
from lambdagent.errors import CheckpointError, NoSuchFileError, finding
from lambdagent.ir.alpha import digest_rows
from lambdagent.ir.data import DEEPEST, Data, NotDataError, Record, freeze, thaw
from lambdagent.ir.limits import RunLimits
from lambdagent.machine.text import text_of_data
from lambdagent.messages import phrase

FORMAT_KEY, FORMAT = "lambdagent-run", 1
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_PART = re.compile(r"journal|states|lock|program(-[0-9a-f]+)?\.json|\..+\.[0-9a-f]{8}")
_BEGINNING_S = 60.0
_DIGEST = re.compile("[0-9a-f]{64}")
# Until then a float tells microseconds apart.
_LATEST_S = 1e10
# Characters of a digest that name a file.
_NAMED = 16


def new_id(began: float) -> str:
    """Return what a run that began at `began` is called."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(began))
    return f"{stamp}-{secrets.token_hex(3)}"


_NO_LIMITS: Final = RunLimits().to_data()


@attrs.frozen(kw_only=True)
class Beginning:
    """What a run began with, besides its program.

    Attributes:
        agent: Its name.
        digest: That of the program.
        input: What it was asked.
        began: Seconds since the epoch.
        autosave: β between two states on disk; 0 for none but the last.
        hidden: Sites whose models have a password in their URL, which is not kept.
        directory: Where it works, if that is known: its commands run and its relative paths start
            there.
        user: Whose memories of the scope ``user`` it has, if somebody is named.
        session: Which session it belongs to; that of its own name if None.
        parent: The run that it is a fork of, and the key of the first call that is its own.
        limits: What it may spend, and how often it may ask: see `RunLimits.to_data`.
        id: What it is called, wherever its directory is moved to.
    """

    agent: str
    digest: str
    input: Data
    began: float
    autosave: int
    hidden: tuple[str, ...] = ()
    directory: str | None = None
    user: str | None = None
    session: str | None = None
    parent: tuple[str, str] | None = None
    limits: Data = _NO_LIMITS
    id: str = attrs.field(default=attrs.Factory(lambda self: new_id(self.began), takes_self=True))


# Directories that this process has locked. A lock belongs to all who inherit it: the child of a
# fork has to let go, or it would go on with the run too, and keep it locked when we are gone.
_locked: weakref.WeakSet[RunDirectory] = weakref.WeakSet()


def _let_go() -> None:
    for directory in list(_locked):
        directory.let_go()


os.register_at_fork(after_in_child=_let_go)


class RunDirectory:
    """One run on disk.

    Attributes:
        path: Its directory.
        id: The name of that.
    """

    def __init__(self, path: Path) -> None:
        """Look at the run in `path`."""
        self.path = path
        self.id = path.name
        self._lock: int | None = None

    @property
    def journal(self) -> Path:
        """The file of the journal."""
        return self.path / "journal"

    @property
    def states(self) -> Path:
        """The file of the states."""
        return self.path / "states"

    def program(self, digest: str) -> Path:
        """The file of the program with `digest`: one that took the place of the first, or that."""
        changed = self.changed_program(digest)
        return changed if os.path.lexists(changed) else self.path / "program.json"

    def changed_program(self, digest: str) -> Path:
        """The file of a program with `digest` that takes the place of another one."""
        return self.path / f"program-{digest[:_NAMED]}.json"

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        found = 0
        for file in self.path.iterdir():
            with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                found += file.lstat().st_size
        return found

    def beginning(self) -> Beginning:
        """Return what the run began with.

        Raises:
            CheckpointError: The file is damaged or of another version.
            NoSuchFileError: There is no run.
        """
        path = self.path / "run.json"
        try:
            text = read_file(path).decode("utf-8", "surrogatepass")
            # The input is one level below the row.
            row = freeze(json.loads(text), max_depth=DEEPEST + 1)
        except FileNotFoundError:
            raise NoSuchFileError(finding("K002", path=str(self.path))) from None
        except NotDataError as error:
            raise damaged(path, 0, phrase("it describes no run: {error}", error=error)) from error
        except (ValueError, RecursionError) as error:
            raise damaged(path, 0, phrase("it describes no run: it is no JSON")) from error
        return _beginning(path, row)

    def acquire(self) -> None:
        """Be the only one to go on with this run, until `release`.

        Raises:
            CheckpointError: Somebody else goes on with it.
        """
        if self._lock is not None:
            return
        path = self.path / "lock"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise CheckpointError(finding("K003", run=self.id)) from error
        except OSError as error:
            os.close(lock)
            raise unwritable(path, error) from error
        self._lock = lock
        # Whoever forgets to let go of it does so when nobody has it any more.
        self._forgotten = weakref.finalize(self, os.close, lock)
        self._forgotten.atexit = False
        _locked.add(self)

    def release(self) -> None:
        """Let others go on with it."""
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)  # also for a child that has inherited it
            self.let_go()

    def let_go(self) -> None:
        """Have nothing to do with the lock any more; whoever else has it keeps it."""
        if self._lock is not None:
            self._forgotten()
            self._lock = None
            _locked.discard(self)

    def remove(self) -> None:
        """Remove the run. `run.json` goes first, so that what is left after a crash is none.

        Raises:
            CheckpointError: It cannot be removed, or somebody goes on with it.
        """
        if self.path.is_symlink():
            raise CheckpointError(
                finding(
                    "K009",
                    path=str(self.path),
                    reason=phrase("it is a link, which is not followed"),
                )
            )
        self.acquire()
        try:
            (self.path / "run.json").unlink(missing_ok=True)
            shutil.rmtree(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error
        finally:
            self.release()


def _beginning(path: Path, row: Data) -> Beginning:
    if not isinstance(row, Record) or not {FORMAT_KEY, "check"} <= row.keys():
        raise damaged(path, 0, phrase("it describes no run"))
    form = row[FORMAT_KEY]
    if type(form) is not int or form != FORMAT:
        raise unknown_format(path, text_of_data(form), FORMAT)
    if row["check"] != _check(row):
        raise damaged(path, 0, phrase("it does not match its check"))
    row = Record({**_ABSENT, **row})
    for field, fits in _FIELDS.items():
        if field not in row or not fits(row[field]):
            raise damaged(path, 0, phrase("its `{field}` is missing, or is none", field=field))
    fields: dict[str, Any] = {field: row[field] for field in _FIELDS}
    return Beginning(**{**fields, "began": float(fields["began"])})


def _are_texts(value: object, count: int | None = None) -> bool:
    if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
        return False
    return count is None or len(value) == count


def _are_limits(value: Data) -> bool:
    try:
        RunLimits.from_data(value)
    except ValueError:
        return False
    return True


# What runs of earlier versions do not have.
_ABSENT = {"directory": None, "user": None, "session": None, "limits": _NO_LIMITS}
# What `run.json` has besides its format and its check, each with what it may be.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "agent": lambda value: isinstance(value, str),
    "digest": lambda value: isinstance(value, str) and _DIGEST.fullmatch(value) is not None,
    "input": lambda _: True,
    "began": lambda value: type(value) in {int, float} and abs(value) < _LATEST_S,
    "autosave": lambda value: type(value) is int and value >= 0,
    "hidden": _are_texts,
    "directory": lambda value: value is None or isinstance(value, str),
    "user": lambda value: value is None or isinstance(value, str),
    "session": lambda value: value is None or isinstance(value, str),
    "parent": lambda value: value is None or _are_texts(value, 2),
    "limits": _are_limits,
    "id": lambda value: isinstance(value, str),
}


def _check(row: Record) -> str:
    """Return what the other fields are checked by: a changed input would be another run."""
    return digest_rows((Record({key: row[key] for key in row if key != "check"}),))


def create_run(
    directory: Path, program_json: str, beginning: Beginning, told: Told | None = None
) -> RunDirectory:
    """Return a new run in `directory`, locked, with everything on the disk that it needs.

    Args:
        directory: Where it gets a directory of its own.
        program_json: Its program.
        beginning: What else it begins with.
        told: What its journal says from the start.

    Raises:
        CheckpointError: It cannot be written.
    """
    run = RunDirectory(directory / beginning.id)
    try:
        _make_directories(directory)
        run.path.mkdir(mode=0o700)
        sync_directory(directory)
    except OSError as error:
        raise unwritable(run.path, error) from error
    try:
        run.acquire()
        create_journal(run.journal, told)
        put_file(run.program(beginning.digest), program_json.encode("utf-8", "surrogatepass"))
        _write_beginning(run, beginning)
    except CheckpointError:
        run.release()
        with contextlib.suppress(OSError):
            shutil.rmtree(run.path)
        raise
    return run


def _make_directories(path: Path) -> None:
    """Make a directory and those above it; the names of all of them are on the disk then."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.absolute().parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_directory(each.absolute().parent)


def put_program(run: RunDirectory, program_json: str, beginning: Beginning) -> None:
    """Have a run, which is locked, go on with another program, as `beginning` says.

    It is another one from the moment at which `run.json` says so: until then there is the old one,
    from then on the new one, whatever ends the process.

    Raises:
        CheckpointError: It cannot be written.
    """
    forget_states(run.states)  # those of the old program; the journal is enough for both
    program = run.changed_program(beginning.digest)
    put_file(program, program_json.encode("utf-8", "surrogatepass"))
    _write_beginning(run, beginning)
    for old in run.path.glob("program*.json"):
        if old != program:
            with contextlib.suppress(OSError):
                old.unlink()


def _write_beginning(run: RunDirectory, beginning: Beginning) -> None:
    """Write `run.json`.

    Raises:
        CheckpointError: It cannot be written.
    """
    row = Record({FORMAT_KEY: FORMAT, **attrs.asdict(beginning, recurse=False)})
    checked = Record(row, check=_check(row))
    text = json.dumps(thaw(checked), ensure_ascii=False, indent=1) + "\n"
    put_file(run.path / "run.json", text.encode("utf-8", "surrogatepass"))


def leftovers_in(directory: Path) -> list[RunDirectory]:
    """Return what was left in `directory` of runs whose beginning or removal was killed.

    One that is younger than a minute may be about to become a run.
    """
    latest = time.time() - _BEGINNING_S
    return [
        RunDirectory(path)
        for path in sorted(directory.iterdir())
        if _ID.fullmatch(path.name) and _is_left(path, latest)
    ]


def _is_left(path: Path, latest: float) -> bool:
    """Whether there is nothing in `path` but what a run has besides its `run.json`, since then."""
    try:
        found = path.lstat()
        is_old = stat.S_ISDIR(found.st_mode) and found.st_mtime < latest
        return is_old and all(_PART.fullmatch(each.name) for each in path.iterdir())
    except OSError:  # somebody else's, or gone meanwhile
        return False


def runs_in(directory: Path) -> list[RunDirectory]:
    """Return the runs in `directory`, oldest first.

    Raises:
        NoSuchFileError: There is no such directory.
        CheckpointError: It cannot be read.
    """
    try:
        found = [path for path in directory.iterdir() if (path / "run.json").is_file()]
    except (FileNotFoundError, NotADirectoryError):
        raise NoSuchFileError(finding("K002", path=str(directory))) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(finding("K009", path=str(directory), reason=reason)) from error
    return [RunDirectory(path) for path in sorted(found)]
