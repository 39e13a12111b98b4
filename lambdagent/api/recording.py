"""Runs in one file: what they came to, their trace, and all it takes to go through them again.

    {"lambdagent-trace": 1, "agent": …, "result" or "error": …, "trace": [record, …], "stats": {…},
     "stopped": {…}, "input": …, "program": {…}, "start": {…}, "journal": [record, …]}

``trace`` and ``stats`` are as in specification 15.8, ``stopped`` is as `api.standing` writes it,
of a run that has no end, ``program`` is as `lambdagent lambda --format json` writes it, ``start``
is a state as `machine.checkpoint` encodes it, and ``journal`` has the records of
`effects.journal`. See docs/trace.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import attrs

from lambdagent.api.finite import finite
from lambdagent.api.history import LIMIT, History, Watch, unwatched
from lambdagent.api.run_files import find_run, kept_program, stored_program
from lambdagent.api.running import trace_of
from lambdagent.api.standing import Standing, Stop, kept_standing, read_standing, standing_of
from lambdagent.effects.collector import relaxed
from lambdagent.effects.execution import Execution
from lambdagent.effects.frames import read_file
from lambdagent.effects.journal import Intent, Recorded, Told, read_journal, records_of, told_by
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.replay import replay
from lambdagent.errors import CheckpointError, LambdaSyntaxError, NoSuchFileError, finding
from lambdagent.frontend.json_text import NoJsonError, parse_json
from lambdagent.frontend.lambda_json import program_of
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.data_text import NUMBER_KEY, data_text, escaped
from lambdagent.ir.program import Program
from lambdagent.machine.checkpoint import MalformedStateError, decode_machine, encode_machine
from lambdagent.machine.link import Linked, link
from lambdagent.machine.request_digest import RequestDigest
from lambdagent.machine.state import AWAIT_FUN_OF_VALUE, Eval, Machine
from lambdagent.machine.step import start
from lambdagent.machine.tenable import untenable
from lambdagent.machine.values import project
from lambdagent.messages import phrase
from lambdagent.source import Source
from lambdagent.trace.macro import TraceRecord

FORMAT_KEY, FORMAT = "lambdagent-trace", 1
# What a file says besides the program, the state that it began in, and the journal.
_HEAD = ("agent", "input", "result", "error", "trace", "stats")
# A program, its state and the answers are a few levels below the top.
DEEPEST = 220


@attrs.frozen(eq=False, slots=False)
class Recording:
    """A run that was recorded or kept.

    Attributes:
        place: Where it was read from.
        head: What the file says besides: its result or error, trace and stats; empty for a run
            that was kept.
        told: What was asked and answered.
        limit: Most transitions to go through.
        standing: Where the run was stopped, if it was and that is known.
        watch: Told how far long work on the run is, now and then.
    """

    place: str
    head: Record
    linked: Linked = attrs.field(repr=False)
    first: Machine = attrs.field(repr=False)
    told: Told = attrs.field(repr=False)
    limit: int = LIMIT
    standing: Standing | None = None
    watch: Watch = attrs.field(default=unwatched, repr=False)

    @property
    def program(self) -> Program:
        """The program that ran."""
        return self.linked.program

    @property
    def input(self) -> Data:
        """What it was asked."""
        return _input_of(self.first)

    @property
    def elapsed_s(self) -> float:
        """Seconds that it took, as far as is known."""
        stats = self.head.get("stats")
        known = stats.get("total_time_ms") if isinstance(stats, Record) else None
        return known / 1000 if isinstance(known, int | float) else self.told.length_s

    @property
    def engine(self) -> tuple[str, str] | tuple[()]:
        """The engine that ran and why; empty where that is not recorded."""
        stats = self.head.get("stats")
        if isinstance(stats, Record) and stats.get("engine") is not None:
            return str(stats["engine"]), str(stats.get("engine_reason"))
        return () if self.standing is None else self.standing.engine

    @property
    def stop(self) -> Stop | None:
        """How far the machine had come when the run was stopped, if that is known."""
        return None if self.standing is None else self.standing.stop

    @property
    def most(self) -> int:
        """Most transitions to go through, none of them after where the run was stopped."""
        goal = None if self.stop is None else self.stop.goal
        return self.limit if goal is None else min(self.limit, goal)

    @cached_property
    def execution(self) -> Execution:
        """The run again, to where its journal ends; nobody is asked.

        Raises:
            DivergenceError: The program asks something else than the journal says.
        """
        return replay(self.linked, self.first, self.told, self.most)

    @cached_property
    def records(self) -> tuple[TraceRecord, ...]:
        """The macro trace."""
        return trace_of(self.execution)

    @cached_property
    def history(self) -> History:
        """Every state of the run."""
        return self.opened(whole=True)

    def opened(self, *, whole: bool) -> History:
        """Return every state of the run; unless it is to be `whole`, none but the first yet."""
        answers = {key: recorded.answer for key, recorded in self.told.answers.items()}
        return History(
            self.linked, self.first, answers, limit=self.most, whole=whole, watch=self.watch
        )


def _input_of(first: Machine) -> Data:
    """Return what a run that is about to begin is given.

    Raises:
        ValueError: It has begun.
    """
    state = first.root.state
    if not isinstance(state, Eval) or not state.kont or state.kont[0] != AWAIT_FUN_OF_VALUE:
        what = phrase("it is not about to begin")
        raise ValueError(what)
    return project(state.kont[2])


def _check_first(linked: Linked, first: Machine) -> None:
    """See that `first` is the state in which `linked` is about to begin, and nothing else.

    Raises:
        ValueError: It is not.
    """
    _input_of(first)
    state = first.root.state
    assert isinstance(state, Eval)
    why = untenable(linked, first)
    if why is not None:
        raise ValueError(why)
    inside = state.control is not linked.codes[-1] or state.env or state.kont[1]
    if inside or first.root.clock:
        what = phrase("it is not about to begin")
        raise ValueError(what)


@relaxed()
def document(execution: Execution, outcome: Mapping[str, object], redaction: Redaction) -> str:
    """Return a run as the text of a file, one record a line.

    Args:
        execution: The run, from its start.
        outcome: ``result`` or ``error``, ``trace`` and ``stats``.
        redaction: Looks for secrets in the program, which is in the file too.

    Raises:
        CheckpointError: The program holds a secret.
    """
    linked = execution.linked
    program, _ = kept_program(linked.program, redaction)
    standing = standing_of(execution)
    if standing is not None:
        outcome = {**outcome, "stopped": standing.to_json()}
    rows = {
        FORMAT_KEY: str(FORMAT),
        "agent": data_text(linked.program.name),
        **{key: _outcome(value) for key, value in outcome.items()},
        "input": _exact(_input_of(execution.first)),
        "program": program.rstrip("\n"),
        "start": _exact(encode_machine(linked, execution.first)),
        "journal": _lines(records_of(_told(execution)), lambda record: record),
    }
    return "{\n" + ",\n".join(f"{data_text(key)}: {text}" for key, text in rows.items()) + "\n}\n"


def _plain(value: object) -> object:
    """Return what JSON has in the place of `value`, which it does not have."""
    return value.to_dict() if isinstance(value, Record) else dict(value)  # type: ignore[call-overload]


# Several times as fast as `data_text`, which takes what this one does not.
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, default=_plain
)
# Between rows that are written at once, since a call for each takes as long as the row itself. A
# row that holds the same makes too many of them, and then each is written by itself.
_BETWEEN, _SEAM = "\0", r', "\u0000", '


def _outcome(value: object) -> str:
    """Return a part of the outcome; numbers that JSON lacks are texts in it."""
    return _lines(value, finite) if isinstance(value, list) else _json(value, finite)


def _json(value: object, told: Callable[[object], object]) -> str:
    try:
        text = _ENCODER.encode(value)
    except ValueError:  # a number that JSON lacks
        text = NUMBER_KEY
    return _exact(freeze(told(value), max_depth=DEEPEST)) if NUMBER_KEY in text else _shown(text)


def _shown(text: str) -> str:
    return text if text.isascii() and "\x7f" not in text else escaped(text)


def _exact(data: Data) -> str:
    return data_text(data, strict=True)


def _lines(rows: Sequence[object], told: Callable[[object], object]) -> str:
    """Return a list, one row a line.

    Args:
        rows: What is in it.
        told: What is written in the place of a row that holds a number that JSON lacks.
    """
    if not rows:
        return "[]"
    mixed: list[object] = [_BETWEEN] * (2 * len(rows) - 1)
    mixed[::2] = rows
    try:
        text = _ENCODER.encode(mixed)
    except ValueError:
        text = NUMBER_KEY
    lines = text[1:-1].split(_SEAM)
    if NUMBER_KEY in text or len(lines) != len(rows):
        return _stacked(_json(row, told) for row in rows)
    return _stacked(map(_shown, lines))


def _stacked(lines: Iterable[str]) -> str:
    return "[\n  " + ",\n  ".join(lines) + "\n]"


def _told(execution: Execution) -> Told:
    digest = RequestDigest()
    intents, answers = {}, {}
    for key, each in execution.exchanges.items():
        asked = digest.of(each.site.name, each.argument)
        intents[key] = Intent(each.site.name, asked, each.started_s)
        answers[key] = Recorded(each.answer, each.started_s, each.elapsed_s)
    for request in execution.pending:
        asked = digest.of(request.site.name, request.argument)
        intents[request.key] = Intent(request.site.name, asked, 0.0)
    return Told(intents, answers, None, 0)


@relaxed()
def load(path: Path, *, limit: int = LIMIT) -> Recording:
    """Return the run in the file at `path`, or the kept one in the directory.

    Raises:
        NoSuchFileError: There is none.
        CheckpointError: It is damaged, of another version, or cannot be read.
    """
    if path.is_dir():
        directory = find_run(path)
        beginning = directory.beginning()
        linked = link(stored_program(directory, beginning.digest))
        first = start(linked, beginning.input)
        told = read_journal(directory.journal)
        standing = kept_standing(directory, linked, told)
        return Recording(str(directory.path), Record(), linked, first, told, limit, standing)
    try:
        text = read_file(path.resolve()).decode("utf-8", "surrogatepass")
        data = parse_json(text)
    except FileNotFoundError:
        raise NoSuchFileError(finding("S012", path=str(path))) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(finding("K009", path=str(path), reason=reason)) from error
    except UnicodeDecodeError as error:
        _refuse(path, phrase("it is no UTF-8 text from byte {start} on", start=error.start))
    except NoJsonError as error:
        _refuse(
            path,
            phrase(
                "at {line}:{column} {error}",
                line=error.where.line,
                column=error.where.column,
                error=error.args[0],
            ),
        )
    return _recording(path, data, limit)


def _recording(path: Path, data: Data, limit: int) -> Recording:
    if not isinstance(data, Record) or FORMAT_KEY not in data:
        _refuse(path, phrase('"{key}" is missing', key=FORMAT_KEY))
    found = data[FORMAT_KEY]
    if type(found) is not int or found != FORMAT:
        known = str(FORMAT)
        shown = data_text(found)
        raise CheckpointError(finding("T002", path=str(path), found=shown, known=known))
    journal = data.get("journal")
    if not isinstance(journal, tuple):
        _refuse(path, phrase('"journal" is missing'))
    try:
        linked = link(program_of(data.get("program"), Source(str(path), "")))
        first = decode_machine(linked, data.get("start"))
        _check_first(linked, first)
        told = told_by(journal)
        standing = read_standing(data["stopped"]) if "stopped" in data else None
    except LambdaSyntaxError as error:
        _refuse(path, phrase("its program is none: {what}", what=error.diagnostic.what))
    except (MalformedStateError, KeyError, OverflowError, TypeError, ValueError) as error:
        _refuse(path, phrase("its state or journal is none: {error}", error=error))
    head = {key: data[key] for key in _HEAD if key in data}
    return Recording(str(path), Record(head), linked, first, told, limit, standing)


def _refuse(path: Path, reason: str) -> NoReturn:
    raise CheckpointError(finding("T001", path=str(path), reason=reason)) from None
