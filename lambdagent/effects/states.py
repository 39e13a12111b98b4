"""The states of a run on disk: deltas of `machine.checkpoint`, each with the journal's end then.

    first frame = (format, digest of the program, id of the run)
    others      = (end of the journal, rows, threads, gone, counters, transitions)

A file begins with a whole state. When it has grown to eight times that, a new one takes its place,
since what was written is kept in memory to be referred to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lambdagent.effects.frames import (
    FrameFile,
    create,
    damaged,
    read_frames,
    sync_directory,
    unknown_format,
    unwritable,
)
from lambdagent.effects.packed import NotPackedError, pack, unpack
from lambdagent.ir.data import Data
from lambdagent.machine.checkpoint import (
    FORMAT,
    MalformedStateError,
    StateDecoder,
    StateEncoder,
    check_origin,
)
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Machine
from lambdagent.machine.tenable import untenable
from lambdagent.messages import phrase

MAGIC = b"lambdaS\x01"
_GROWTH = 8
# A small state is no reason to begin again at every turn.
_SMALL_BYTES = 1 << 16


class StateFile:
    """Writes the states of one run."""

    def __init__(self, path: Path, linked: Linked, *, run: str = "", fsync: bool = True) -> None:
        """Write the states of `run` to `path`, in the place of what is there."""
        self._path = path
        self._run = run
        self._linked = linked
        self._fsync = fsync
        self._encoder = StateEncoder()
        self._file: FrameFile | None = None
        self._limit = 0

    def save(self, machine: Machine, journal_end: int) -> None:
        """Add `machine`; the journal ended at `journal_end`, all of it on the disk.

        Raises:
            CheckpointError: It cannot be written.
        """
        try:
            if self._file is None or self._file.end > self._limit:
                self._begin(machine, journal_end)
            else:
                self._file.append(pack((journal_end, *self._encoder.delta(machine))))
                self._file.sync()
        except BaseException:
            # What the encoder takes for written is not: the next state is to be a whole one.
            self.close()
            raise

    def _begin(self, machine: Machine, journal_end: int) -> None:
        encoder = StateEncoder()
        origin = pack((FORMAT, self._linked.digest, self._run))
        whole = pack((journal_end, *encoder.delta(machine)))
        end = create(self._path, MAGIC, [origin, whole])
        self.close()
        self._file = FrameFile(self._path, end=end, fsync=self._fsync)
        self._encoder = encoder
        self._limit = max(_GROWTH * end, _SMALL_BYTES)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_states(
    path: Path, linked: Linked, journal_end: int, *, run: str = ""
) -> tuple[Machine | None, bool]:
    """Return the newest state of `run` at `path` that a journal of `journal_end` bytes leads to.

    Returns:
        The state, None if there is none, and whether there are others that the journal does not
        lead to.

    Raises:
        CheckpointError: The file is damaged, of another version or program, or cannot be read.
    """
    machine, _, is_ahead = _newest(path, linked, journal_end, run)
    return machine, is_ahead


def last_state(path: Path, linked: Linked, journal_end: int, *, run: str = "") -> Machine | None:
    """Return the newest state of `run` at `path` if nothing was told after it, else None.

    Raises:
        CheckpointError: As for `read_states`.
    """
    machine, end, _ = _newest(path, linked, journal_end, run)
    return machine if end == journal_end else None


def _newest(
    path: Path, linked: Linked, journal_end: int, run: str
) -> tuple[Machine | None, int, bool]:
    """Return what `read_states` does, and where the journal ended at that state."""
    if not path.exists():
        return None, 0, False
    frames, _ = read_frames(path, MAGIC)
    newest: Machine | None = None
    place, newest_end, is_ahead = 0, 0, False
    decoder = StateDecoder(linked)
    for number, (offset, payload) in enumerate(frames):
        try:
            row: Any = unpack(payload)
            if number == 0:
                _check_owner(path, linked, run, *row)
                continue
            end, *delta = row
            machine = decoder.state(tuple(delta))
            if end <= journal_end:
                newest, newest_end, place = machine, end, offset
            else:
                is_ahead = True
        except (NotPackedError, MalformedStateError, TypeError, ValueError) as error:
            malformed = isinstance(error, MalformedStateError)
            reason = str(error) if malformed else phrase("it is no state of a run")
            raise damaged(path, offset, reason) from error
    why_not = None if newest is None else untenable(linked, newest)
    if why_not is not None:
        raise damaged(path, place, why_not)
    return newest, newest_end, is_ahead


def _check_owner(
    path: Path, linked: Linked, run: str, form: Data, program: Data, owner: Data
) -> None:
    if form != FORMAT:
        raise unknown_format(path, form, FORMAT)
    check_origin(linked, form, program)
    if owner != run:
        what = phrase("they are states of the run {run}", run=f"{owner!s:.80}")
        raise MalformedStateError(what)


def forget_states(path: Path) -> None:
    """Remove the states at `path`; the journal is enough.

    Raises:
        CheckpointError: They cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
        sync_directory(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
