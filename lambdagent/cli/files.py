"""What commands read and write besides the terminal.

Places for results that are bad are refused before the run; the others are filled whole.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from pathlib import Path

from lambdagent.errors import UsageError, finding
from lambdagent.messages import phrase, say

# Our own open files by name: what was written to them stays, such as after ``>> log``.
_DESCRIPTOR = re.compile(r"/dev/std(out|err)|(/dev|/proc/(self|\d+))/fd/\d+")
# Why a file may be written but not replaced: by its folder, or as something is mounted on it.
_IN_PLACE = {errno.EACCES, errno.EBUSY, errno.EEXIST, errno.EPERM, errno.EROFS, errno.EXDEV}
_PUBLIC, _PRIVATE = 0o666, 0o600


def place(text: str) -> str:
    """Return a path of the command line, which may be anything but nothing.

    Raises:
        ArgumentTypeError: It is empty.
    """
    if not text:
        what = say("expected {expected}, got {got}", expected=phrase("a path"), got="''")
        raise ArgumentTypeError(what)
    return text


def standard_input() -> str:
    """Return all of the standard input.

    Raises:
        UsageError: It is closed, cannot be read, or is no UTF-8 text.
    """
    place = phrase("standard input")
    if sys.stdin is None:
        raise UsageError(finding("U004", path=place, reason=phrase("it is closed")))
    try:
        return decoded(sys.stdin.buffer.read(), place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(finding("U004", path=place, reason=reason)) from error


def decoded(raw: bytes, place: str) -> str:
    """Return the text that was read from `place`.

    Raises:
        UsageError: It is no UTF-8 text.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = phrase(
            "byte {start} is {byte}", start=error.start, byte=f"{raw[error.start]:#04x}"
        )
        raise UsageError(finding("U005", path=place, reason=reason)) from error


def check_places(places: Mapping[str, str | None], agent: str | None = None) -> None:
    """Refuse places for results before the run, not after it is paid for.

    Args:
        places: Paths by the options that name them; None is no place.
        agent: A file that none of them may be, called FILE on the command line.

    Raises:
        UsageError: Nothing can be written to one of them, or two are the same file.
    """
    taken: dict[object, str] = {}
    if agent is not None and (known := _identity(Path(agent))) is not None:
        taken[known] = "FILE"
    for option, path in places.items():
        if path is None:
            continue
        reason = _obstacle(Path(path))
        if reason is not None:
            raise UsageError(finding("U002", path=path, reason=reason))
        other = taken.setdefault(_identity(Path(path)) or option, option)
        if other != option:
            raise UsageError(finding("U006", first=other, second=option, path=path))


def _obstacle(path: Path) -> str | None:
    """Return why nothing can be written to `path`, None if it can."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        folder = _target(path).parent
        if not folder.is_dir():
            return phrase("there is no such directory")
        return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except OSError as error:
        return error.strerror or str(error)
    if stat.S_ISDIR(mode):
        return phrase("it is a directory")
    return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)


def _identity(path: Path) -> object:
    """Return what is equal for two names of one file, None for a device, a pipe, or no path."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return _target(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _target(path: Path) -> Path:
    """Return the file that a link points to, not the link."""
    return Path(os.path.realpath(path))


def write_file(path: Path, text: str, *, private: bool = False) -> None:
    """Let `text` be all that is in the file at `path`; see `fill_file`.

    Raises:
        OSError: It cannot be written.
    """
    if _DESCRIPTOR.fullmatch(str(path)):
        with path.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(text)
    else:
        fill_file(path, lambda place: _write(place, text), private=private)


def rewrite(path: Path, before: str, after: str) -> None:
    """Let `after` be the text of the file at `path`, which held `before` when it was read.

    Raises:
        UsageError: It cannot be written, or is not to be: it is read-only, or was changed since.
    """
    try:
        reason = None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
        if reason is None and path.read_bytes() != before.encode():
            reason = phrase("it has been changed meanwhile")
        if reason is None:
            write_file(path, after)
    except OSError as error:
        reason = error.strerror or str(error)
    if reason is not None:
        raise UsageError(finding("U035", path=str(path), reason=reason))


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a file; one that is there stays, unless `force`.

    Raises:
        UsageError: It is there, or cannot be written.
    """
    try:
        if force:
            write_file(path, text)
        else:
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError:
        raise UsageError(finding("U033", path=str(path))) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(finding("U002", path=str(path), reason=reason)) from error


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace")


def fill_file(path: Path, fill: Callable[[Path], object], *, private: bool = False) -> None:
    """Have `fill` write a file that takes the place of the one at `path`, whole or not at all.

    It keeps the permissions of the file that was there. A device or a pipe is written to, and so
    is a file that is not ours alone or that may not be replaced.

    Args:
        path: The file, or a link to it.
        fill: Writes to the path that it gets.
        private: Nobody else may read it, if it was not there before.

    Raises:
        OSError: It cannot be written.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        fill(path)  # under its own name: what a link to a pipe points to is no path
        return
    path = _target(path)
    mode = _PRIVATE if private else _PUBLIC
    if before is None or (before.st_nlink == 1 and before.st_uid == os.geteuid()):
        try:
            _replace(path, fill, before, mode)
        except OSError as error:
            if error.errno not in _IN_PLACE:
                raise
        else:
            return
    if before is None:
        path.touch(mode)
    fill(path)


def _replace(
    path: Path, fill: Callable[[Path], object], before: os.stat_result | None, mode: int
) -> None:
    temporary = path.with_name(f".{os.getpid()}.tmp")  # short, however long the name of the file
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        fill(temporary)
        if before is not None:
            temporary.chmod(stat.S_IMODE(before.st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
