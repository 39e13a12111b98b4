"""Files of framed records that only ever grow.

    file  = magic, 8 bytes;  frame …
    frame = length of the payload, u32;  its check, u16;  CRC-32 of the payload, u32;  payload;  A7

All numbers have their small end first. The check is the low half of the CRC-32 of the four bytes
of the length, so that a damaged length is not taken for a file that ends too early; the byte at
the end is never 0, as the bytes are that some file systems leave behind after a crash.
"""

# Note [What is cut off and what is refused]
#
# A writer that is killed leaves a beginning of what it wrote, or zeros in its place. Such an end
# is cut off: whoever wrote it had not gone on yet. Everything else was changed by somebody, and to
# guess what it said could call something twice; so it is an error that names the offset.

# Note [A disk that has refused once]
#
# After a failed `fsync` the system may take what it could not write for written: a second one
# succeeds, and what it was to make safe is not on the disk. So such a file takes nothing more; the
# run ends, and whoever goes on with it reads what there is.

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from lambdagent.errors import CheckpointError, finding
from lambdagent.messages import phrase

MAGIC_BYTES = 8
_HEAD = struct.Struct("<IHI")
_END = b"\xa7"
# No file of ours is longer, nor a record of one: reading stops before memory does.
LONGEST_FILE = 1 << 30


class FrameFile:
    """Appends frames to one file."""

    def __init__(self, path: Path, *, end: int, fsync: bool = True) -> None:
        """Append at `end`, where the file is cut off.

        Args:
            path: A file that `create` made.
            end: Where its last whole frame ends.
            fsync: Have `sync` wait until the system has written everything.

        Raises:
            CheckpointError: It cannot be written.
        """
        self._path = path
        self._fsync = fsync
        self._dirty = False
        self._failure: OSError | None = None
        self._end = end
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)
        except OSError as error:
            raise unwritable(path, error) from error

    @property
    def end(self) -> int:
        """Bytes so far."""
        return self._end

    def append(self, payload: bytes) -> None:
        """Hand one more frame to the system: a kill of this process does not lose it any more.

        Raises:
            CheckpointError: It cannot be written; the file is as before.
        """
        self._check_usable()
        frame = _frame(payload)
        _check_length(self._path, self._end + len(frame))
        try:
            _write_all(self._file, frame)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
                os.lseek(self._file, self._end, os.SEEK_SET)
            raise unwritable(self._path, error) from error
        self._end += len(frame)
        self._dirty = True

    def sync(self) -> None:
        """Wait until everything is on the disk: a failure of power does not lose it any more.

        See Note [A disk that has refused once].

        Raises:
            CheckpointError: The disk refuses it, or has refused before.
        """
        self._check_usable()
        if not self._dirty:
            return
        if self._fsync:
            try:
                os.fdatasync(self._file)
            except OSError as error:
                self._failure = error
                raise unwritable(self._path, error) from error
        self._dirty = False

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise unwritable(self._path, self._failure) from self._failure

    def close(self) -> None:
        """Let go of the file; who writes later gets an error, not somebody else's file."""
        os.close(self._file)
        self._file = -1


def _frame(payload: bytes) -> bytes:
    head = _HEAD.pack(len(payload), _check(len(payload)), zlib.crc32(payload))
    return b"".join((head, payload, _END))


def _check(length: int) -> int:
    return zlib.crc32(length.to_bytes(4, "little")) & 0xFFFF


def _check_length(path: Path, length: int) -> None:
    """Refuse to write what `read_file` would refuse to read."""
    if length > LONGEST_FILE:
        reason = phrase("it would be longer than {longest} bytes", longest=f"{LONGEST_FILE:,}")
        raise unwritable(path, OSError(errno.EFBIG, reason))


def _write_all(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, data[written:])


def create(path: Path, magic: bytes, payloads: list[bytes]) -> int:
    """Let a new file at `path` hold `payloads`, whole or not at all; return where it ends.

    Raises:
        CheckpointError: It cannot be written.
    """
    data = b"".join([magic, *map(_frame, payloads)])
    put_file(path, data)
    return len(data)


def put_file(path: Path, data: bytes) -> None:
    """Let `data` be all that is in the file at `path`, which nobody else may read.

    After a crash at any moment there is the old file or the new one, never a part.

    Raises:
        CheckpointError: It cannot be written.
    """
    _check_length(path, len(data))
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(beside, flags, 0o600)
        try:
            _write_all(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        beside.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_file(path: Path) -> bytes:
    """Return what is in a file of ours.

    Raises:
        FileNotFoundError: There is none.
        CheckpointError: It cannot be read, or is no file, such as a pipe that nobody writes to.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as stream:
            found = os.fstat(file)
            if found.st_size > LONGEST_FILE:
                reason = phrase("it is longer than {longest} bytes", longest=f"{LONGEST_FILE:,}")
                raise CheckpointError(finding("K009", path=str(path), reason=reason))
            if stat.S_ISREG(found.st_mode):
                return stream.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise CheckpointError(finding("K009", path=str(path), reason=why)) from error
    raise CheckpointError(finding("K009", path=str(path), reason=phrase("it is no file")))


def read_frames(path: Path, magic: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Return the payloads of a file, each with its offset, and where the last one ends.

    What follows there is the beginning of a frame; see Note [What is cut off and what is refused].

    Raises:
        CheckpointError: The file cannot be read, is of another kind or version, or is damaged.
    """
    try:
        data = read_file(path)
    except FileNotFoundError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(finding("K009", path=str(path), reason=reason)) from error
    if data[:MAGIC_BYTES] != magic:
        raise _wrong_magic(path, data[:MAGIC_BYTES], magic)
    frames = list(_frames(path, data))
    end = frames[-1][0] + _HEAD.size + len(frames[-1][1]) + 1 if frames else MAGIC_BYTES
    return frames, end


def ends_with(path: Path, payload: bytes) -> bool:
    """Whether `payload` is the last record of a file, as far as its last bytes tell.

    Whoever relies on it still has to read the file. One that cannot be read does not end so.
    """
    frame = _frame(payload)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as stream:
            stream.seek(-len(frame), os.SEEK_END)
            return stream.read() == frame
    except OSError:
        return False


def _wrong_magic(path: Path, found: bytes, magic: bytes) -> CheckpointError:
    if found[:-1] == magic[:-1] and len(found) == MAGIC_BYTES:
        return unknown_format(path, found[-1], magic[-1])
    return damaged(path, 0, phrase("it does not begin as such a file does"))


def _frames(path: Path, data: bytes) -> Iterator[tuple[int, bytes]]:
    place, size = MAGIC_BYTES, len(data)
    while place + _HEAD.size <= size:
        length, check, crc = _HEAD.unpack_from(data, place)
        start = place + _HEAD.size
        end = start + length + 1
        if check != _check(length) or length > LONGEST_FILE:
            if data[start - 1] == 0 and not any(data[start:]):
                return
            raise damaged(path, place, phrase("the length of a record does not match its check"))
        if end > size:
            return
        if data[end - 1] == 0 and not any(data[end:]):
            return
        payload = data[start : end - 1]
        if zlib.crc32(payload) != crc:
            raise damaged(path, place, phrase("a record does not match its checksum"))
        if data[end - 1 : end] != _END:
            raise damaged(path, place, phrase("a record does not end as it should"))
        yield place, payload
        place = end


def damaged(path: Path, offset: int, reason: str) -> CheckpointError:
    """Return the error for a file that somebody has changed."""
    return CheckpointError(finding("K001", path=str(path), offset=offset, reason=reason))


def unknown_format(path: Path, found: object, known: int) -> CheckpointError:
    """Return the error for a file that another version has written."""
    return CheckpointError(finding("K004", path=str(path), found=found, known=known))


def unwritable(path: Path, error: OSError) -> CheckpointError:
    """Return the error for a file that cannot be written."""
    return CheckpointError(finding("K008", path=str(path), reason=error.strerror or str(error)))
