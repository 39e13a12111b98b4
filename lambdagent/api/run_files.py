"""The files of kept runs: found, read, removed, given another program."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import attrs

from lambdagent.api.differences import changes, difference, in_words
from lambdagent.effects.execution import Execution
from lambdagent.effects.frames import damaged, read_file
from lambdagent.effects.journal import Told, read_journal
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.replay import replay
from lambdagent.effects.run_directory import (
    Beginning,
    RunDirectory,
    leftovers_in,
    put_program,
    runs_in,
)
from lambdagent.errors import (
    CheckpointError,
    DivergenceError,
    LambdaSyntaxError,
    NoSuchFileError,
    finding,
)
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import key_text
from lambdagent.ir.program import Program, without_credentials
from lambdagent.ir.program_text import program_json
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import Path as Key
from lambdagent.machine.step import start
from lambdagent.messages import phrase
from lambdagent.source import Source


def remove_finished(directory: Path, most: int) -> list[str]:
    """Remove the oldest finished runs in `directory` until no more than `most` runs are left.

    What a kill has left of runs goes first. A run that is not finished is never removed, nor one
    that somebody else looks after.

    Returns:
        The names of those that are removed.
    """
    runs = runs_in(directory)
    gone: list[str] = []
    for left in leftovers_in(directory):
        with suppress(CheckpointError):
            left.remove()
            gone.append(left.id)
    kept = len(runs)
    for run in runs:
        if kept <= most:
            break
        with suppress(CheckpointError):
            if read_journal(run.journal).outcome is not None:
                run.remove()
                gone.append(run.id)
                kept -= 1
    return gone


def _can_go_on(run: RunDirectory) -> bool:
    """Whether a run is not finished; a damaged one cannot go on."""
    try:
        return read_journal(run.journal).outcome is None
    except CheckpointError:
        return False


def find_run(path: Path) -> RunDirectory:
    """Return the run in `path`, or the only one of the runs in `path` that is not finished.

    Raises:
        NoSuchFileError: There is none.
        CheckpointError: There are several.
    """
    if (path / "run.json").is_file():
        return RunDirectory(path)
    found = runs_in(path)
    runs = [run for run in found if _can_go_on(run)] or found
    if not runs:
        raise NoSuchFileError(finding("K002", path=str(path)))
    if len(runs) > 1:
        names = ", ".join(run.id for run in runs)
        raise CheckpointError(finding("K010", path=str(path), count=len(runs), runs=names))
    return runs[0]


def stored_program(directory: RunDirectory, digest: str) -> Program:
    """Return the program of a run, which is to have `digest`.

    Raises:
        CheckpointError: Its file is damaged or cannot be read.
    """
    path = directory.program(digest)
    try:
        text = read_file(path).decode("utf-8", "surrogatepass")
        return parse_program_json(Source(str(path), text))
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(finding("K009", path=str(path), reason=reason)) from error
    except (UnicodeDecodeError, LambdaSyntaxError) as error:
        raise damaged(path, 0, phrase("no program: {error}", error=error)) from error


def replayed(directory: RunDirectory) -> tuple[Linked, Execution]:
    """Return the program of a run, and the run from its start to where its journal ends.

    Nothing is called, and no key is needed.

    Raises:
        CheckpointError: A file is damaged.
    """
    beginning = directory.beginning()
    linked = link(stored_program(directory, beginning.digest))
    first = start(linked, beginning.input)
    return linked, replay(linked, first, read_journal(directory.journal))


def refuse_change(before: Program, after: Program, redaction: Redaction) -> NoReturn:
    """Say what differs between the program of a run and the one that it is to go on with.

    Raises:
        CheckpointError: Always.
    """
    words = difference(before, after, redaction.text)
    raise CheckpointError(finding("K005", difference=words))


def exchange_program(directory: RunDirectory, after: Program, redaction: Redaction) -> Beginning:
    """Have a run go on with another program, and return what it then began with.

    Args:
        directory: The run.
        after: The other program.
        redaction: Takes secrets out of what is told.

    Raises:
        CheckpointError: Something that differs was called, or the run would have gone another way,
            or somebody else goes on with it.
    """
    directory.acquire()
    try:
        return _exchange_program(directory, after, redaction)
    finally:
        directory.release()


def _exchange_program(directory: RunDirectory, after: Program, redaction: Redaction) -> Beginning:
    beginning, told = directory.beginning(), read_journal(directory.journal)
    before = stored_program(directory, beginning.digest)
    check_uncalled(before, after, told, redaction)
    linked = link(after)
    replayed_whole(linked, beginning.input, told)
    text, hidden = kept_program(after, redaction)
    beginning = attrs.evolve(beginning, digest=after.digest(), hidden=hidden)
    put_program(directory, text, beginning)
    return beginning


def kept_program(program: Program, redaction: Redaction) -> tuple[str, tuple[str, ...]]:
    """Return `program` as it is kept, and its sites whose models are kept without passwords.

    Raises:
        CheckpointError: It holds a secret.
    """
    public, hidden = without_credentials(program)
    text = program_json(public)
    if variable := redaction.named_in(text):
        raise CheckpointError(finding("K014", variable=variable))
    return text, hidden


def replayed_whole(linked: Linked, value: Data, told: Told) -> Execution:
    """Return the run on `value` to where `told` ends, of which it asks everything.

    Raises:
        DivergenceError: It asks something else, or not all of that.
    """
    history = replay(linked, start(linked, value), told)
    asked = history.exchanges.keys() | {request.key for request in history.pending}
    for key in sorted(told.intents.keys() - asked):
        raise DivergenceError(finding("K006", site=told.intents[key].site, key=key_text(key)))
    return history


def check_arrival(linked: Linked, value: Data, told: Told, key: Key) -> None:
    """Refuse a fork that would not get to `key`.

    Args:
        linked: Its program.
        value: Its input.
        told: What it takes over.
        key: Where it begins.

    Raises:
        CheckpointError: It asks something else before.
    """
    try:
        replayed_whole(linked, value, told)
    except DivergenceError as error:
        reason = error.diagnostic.what
        raise CheckpointError(finding("K015", key=key_text(key), reason=reason)) from error


def check_uncalled(before: Program, after: Program, told: Told, redaction: Redaction) -> None:
    """Refuse another program where something that differs was called.

    Args:
        before: The program so far.
        after: The other one.
        told: What was asked.
        redaction: Takes secrets out of what is told.

    Raises:
        CheckpointError: Something was.
    """
    changed = changes(before, after, redaction.text)
    called = sorted({intent.site for intent in told.intents.values()} & changed.keys())
    if called:
        names = ", ".join(f"`{name}`" for name in called)
        words = in_words([changed[name] for name in called])
        raise CheckpointError(finding("K012", called=names, difference=words))
