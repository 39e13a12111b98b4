"""The journal of a run: what was asked and what was answered, in the order of time.

    record = (0, key, site, digest, at)                      Intent: about to be asked
           | (1, key, answer, at, took)                      Result: an answer
           | (2, key, (kind, message, data), at, took)       Result: a failure
           | (3, outcome)                                    End: ``answered`` or ``failed``

``key`` is the path of the asking thread and its clock, ``digest`` that of
`machine.request_digest`; ``at`` and ``took`` are microseconds of the run.

An Intent is with the system before the request leaves, a Result before the machine goes on, and
both are on the disk before anything else leaves.

Source: semantics.md §5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from lambdagent.effects.frames import (
    MAGIC_BYTES,
    FrameFile,
    create,
    damaged,
    ends_with,
    read_frames,
)
from lambdagent.effects.handlers import Request
from lambdagent.effects.packed import NotPackedError, pack, unpack
from lambdagent.errors import DivergenceError, finding, shown
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.machine.request_digest import RequestDigest
from lambdagent.machine.state import Path as Key
from lambdagent.messages import phrase

MAGIC = b"lambdaJ\x01"
_INTENT, _ANSWER, _FAILURE, _END = 0, 1, 2, 3
Outcome = Literal["answered", "failed"]
_MICRO = 1_000_000
_LONGEST_KEY = 1_000


class Intent(NamedTuple):
    """A request that was about to go out, and its digest."""

    site: str
    digest: int
    at_s: float


class Recorded(NamedTuple):
    """An answer that came, and when."""

    answer: Data | Failure
    at_s: float
    took_s: float


class Told(NamedTuple):
    """What a journal says, by key.

    Attributes:
        outcome: How the run has ended, None if it has not.
        end: Where the last whole record ends.
    """

    intents: dict[Key, Intent]
    answers: dict[Key, Recorded]
    outcome: Outcome | None
    end: int

    @property
    def open(self) -> list[Key]:
        """Keys of the requests whose answers did not come, lowest first."""
        return sorted(self.intents.keys() - self.answers.keys())

    @property
    def length_s(self) -> float:
        """Seconds from the start of the run to the last that is known of it."""
        sent = [intent.at_s for intent in self.intents.values()]
        return max(
            [answer.at_s + answer.took_s for answer in self.answers.values()] + sent + [0.0]
        )

    def before(self, key: Key, changed: Mapping[Key, Data]) -> Told:
        """Return what was answered before `key`, in canonical order, with `changed` answers."""
        answers = {each: recorded for each, recorded in self.answers.items() if each < key}
        for each, answer in changed.items():
            was = self.answers.get(each)
            took_s = 0.0 if was is None else was.took_s
            answers[each] = Recorded(answer, self.intents[each].at_s, took_s)
        # What went out and did not come back is in doubt there too.
        intents = {each: made for each, made in self.intents.items() if each < key}
        intents |= {each: self.intents[each] for each in answers}
        return Told(intents, answers, None, MAGIC_BYTES)


def create_journal(path: Path, told: Told | None = None) -> None:
    """Make a journal at `path` that says what `told` does, which has not ended, or nothing.

    Raises:
        CheckpointError: It cannot be written.
    """
    create(path, MAGIC, [pack(record) for record in records_of(told)] if told else [])


def records_of(told: Told) -> list[tuple[Data, ...]]:
    """Return the records of what `told` says, by key."""
    records: list[tuple[Data, ...]] = []
    for key in sorted(told.intents):
        records.append(_intent_record(key, *told.intents[key]))
        if key in told.answers:
            records.append(_result_record(key, *told.answers[key]))
    return records


def told_by(records: Iterable[Data]) -> Told:
    """Return what `records` say; the inverse of `records_of`.

    Raises:
        TypeError: There is none, or something that is no record.
        ValueError: The same.
    """
    told = Told({}, {}, None, MAGIC_BYTES)
    for record in records:
        told = _read(record, told)
    return told


def _intent_record(key: Key, site: str, digest: int, at_s: float) -> tuple[Data, ...]:
    return (_INTENT, key, site, digest, _micro(at_s))


def _result_record(
    key: Key, answer: Data | Failure, at_s: float, took_s: float
) -> tuple[Data, ...]:
    form, what = (_FAILURE, tuple(answer)) if isinstance(answer, Failure) else (_ANSWER, answer)
    return (form, key, what, _micro(at_s), _micro(took_s))


def _micro(seconds: float) -> int:
    return round(seconds * _MICRO)


class _MalformedRecordError(ValueError):
    """What no record of a journal says."""


def read_journal(path: Path) -> Told:
    """Return what a journal says.

    Raises:
        CheckpointError: It is damaged, of another version, or cannot be read.
    """
    frames, end = read_frames(path, MAGIC)
    told = Told({}, {}, None, end)
    for offset, payload in frames:
        try:
            told = _read(unpack(payload), told)
        except (NotPackedError, ArithmeticError, TypeError, ValueError) as error:
            reason = f": {error}" if isinstance(error, _MalformedRecordError) else ""
            raise damaged(
                path, offset, phrase("no record of a journal{reason}", reason=reason)
            ) from error
    return told


def has_ended(path: Path) -> bool:
    """Whether a journal says at its end that the run has ended; the rest of it is not read."""
    return any(ends_with(path, pack((_END, outcome))) for outcome in get_args(Outcome))


def _read(record: Any, told: Told) -> Told:
    """Return `told` and `record`; the tables grow in place."""
    if told.outcome is not None:
        what = phrase("it stands after the end")
        raise _MalformedRecordError(what)
    form, *rest = record
    if form == _INTENT:
        key, site, digest, at = rest
        known = _is_key(key) and type(site) is str and type(digest) is int and type(at) is int
        known = known and at >= 0
        if known:
            told.intents[key] = Intent(site, digest, at / _MICRO)
    elif form in {_ANSWER, _FAILURE}:
        key, what, at, took = rest
        known = key in told.intents and type(at) is int and type(took) is int
        known = known and at >= 0 and took >= 0
        if known and key in told.answers:
            what = phrase("a second answer to {key}", key=key_text(key))
            raise _MalformedRecordError(what)
        if known:
            answer = what if form == _ANSWER else _failure(what)
            told.answers[key] = Recorded(answer, at / _MICRO, took / _MICRO)
    else:
        (outcome,) = rest
        known = form == _END and outcome in {"answered", "failed"}
        if known:
            return told._replace(outcome=outcome)
    if not known:
        raise _MalformedRecordError(shown(record))
    return told


def _is_key(key: Any) -> bool:
    if type(key) is not tuple or len(key) % 2 == 0:
        return False
    return all(type(part) is int and part >= 0 for part in key)


def _failure(what: Any) -> Failure:
    kind, message, data = what
    if type(kind) is not str or type(message) is not str:
        reason = phrase("a failure that says nothing")
        raise _MalformedRecordError(reason)
    return Failure(kind, message, data)


class Recall:
    """Answers what was answered before, and checks that it is still the same that is asked."""

    def __init__(self, told: Told) -> None:
        """Answer as `told` says."""
        self._intents = dict(told.intents)
        self._answers = dict(told.answers)
        self._digest = RequestDigest()

    def answer_to(self, request: Request) -> Recorded | None:
        """Return the answer that came to `request` before, if one did.

        Raises:
            DivergenceError: Something else was asked at its key.
        """
        intent = self._intents.pop(request.key, None)
        if intent is None:
            return None
        if (intent.site, intent.digest) != (request.site.name, self.digest_of(request)):
            raise diverged(request)
        return self._answers.pop(request.key, None)

    @property
    def has_told_all(self) -> bool:
        """Whether all that is told of has been asked."""
        return not self._intents

    def digest_of(self, request: Request) -> int:
        """Return the digest of `request`."""
        return self._digest.of(request.site.name, request.argument)


def diverged(request: Request) -> DivergenceError:
    """Return the error for a request that the journal says nothing of."""
    return DivergenceError(finding("K006", site=request.site.name, key=key_text(request.key)))


class Journal:
    """The journal of a run that goes on."""

    def __init__(self, path: Path, told: Told, *, fsync: bool = True) -> None:
        """Go on after what `read_journal` returned.

        Args:
            path: The file.
            told: What it says so far.
            fsync: Have `commit` wait until the disk has everything.

        Raises:
            CheckpointError: It cannot be written.
        """
        self._file = FrameFile(path, end=told.end, fsync=fsync)
        self._begun_s = told.length_s

    @property
    def end(self) -> int:
        """Bytes so far."""
        return self._file.end

    def intent(self, key: Key, site: str, digest: int, at_s: float) -> None:
        """Tell that a request is about to go out."""
        self._write(_intent_record(key, site, digest, self._begun_s + at_s))

    def result(self, key: Key, answer: Data | Failure, at_s: float, took_s: float) -> None:
        """Tell what came of the request with `key`."""
        self._write(_result_record(key, answer, self._begun_s + at_s, took_s))

    def finish(self, outcome: Outcome) -> None:
        """Tell that the run has ended."""
        self._write((_END, outcome))

    def commit(self) -> None:
        """Wait until all that was told is on the disk."""
        self._file.sync()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _write(self, record: tuple[Data, ...]) -> None:
        self._file.append(pack(record))


def key_of(text: str) -> Key | None:
    """Return the key that `text` is, None if it is none; the inverse of `key_text`.

    >>> key_of("@4.0.1"), key_of("4")
    ((4, 0, 1), None)
    """
    parts = text[1:_LONGEST_KEY].split(".")
    if (
        len(text) > _LONGEST_KEY
        or not text.startswith("@")
        or not all(map(str.isdecimal, parts))
        or len(parts) % 2 == 0
    ):
        return None
    return tuple(map(int, parts))
