"""Runs that are kept on disk, as `run` goes on with them."""

from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from lambdagent.api import kept
from lambdagent.api.doubts import Doubt, refuse
from lambdagent.api.running import trace_of
from lambdagent.cli.output import Output, has_terminal
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import key_of
from lambdagent.effects.stores import Owner, owner_of
from lambdagent.errors import CheckpointError, UsageError, finding
from lambdagent.ir.data import Data, NotDataError, Record, freeze
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.ir.program import Program
from lambdagent.machine.state import Fail
from lambdagent.machine.state import Path as Key
from lambdagent.machine.text import cut, text_of_value
from lambdagent.messages import phrase, say

POLICIES = ("ask", "retry", "fail")
# What `run` takes but a run that has begun has already, by attribute.
_OF_THE_BEGINNING = {
    "input": "INPUT",
    "input_file": "--input",
    "checkpoint_dir": "--checkpoint-dir",
    "user": "--user",
    "session": "--session",
}
# And what belongs to the file, which may be given again.
_OF_THE_FILE = {
    "max_steps": "--max-steps",
    "temperature": "--temperature",
    "engine": "--engine",
    "model": "--model",
    "tool": "--tool",
    "tool_timeout": "--tool-timeout",
    "env": "--env",
}
_OF_GOING_ON = {
    "at": "--at",
    "answer": "--answer",
    "edit": "--edit",
    "in_doubt": "--in-doubt",
    "force": "--force",
    "approve": "--approve",
    "deny": "--deny",
}
_SHOWN = 200
_DIGITS = 12


def check_options(arguments: Namespace) -> None:
    """Refuse options that do not belong together.

    Raises:
        UsageError: Some belong to the beginning of a run and others to going on with it.
    """
    _check_engine(arguments)
    if arguments.resume is None:
        for key, option in _OF_GOING_ON.items():
            if getattr(arguments, key):
                raise UsageError(finding("U011", option=option))
        if arguments.file is None:
            raise UsageError(finding("U009"))
        return
    if arguments.force and arguments.file is None:
        raise UsageError(
            finding("U018", option="--force", what=phrase("the FILE of another program"))
        )
    for key in ("approve", "deny", "budget"):
        for other in ("at", "edit"):
            if getattr(arguments, key) and getattr(arguments, other):
                raise UsageError(finding("U001", option=f"--{key}", other=f"--{other}"))
    refused = _OF_THE_BEGINNING if arguments.file else {**_OF_THE_BEGINNING, **_OF_THE_FILE}
    given = [name for key, name in refused.items() if getattr(arguments, key)]
    if given:
        raise UsageError(finding("U008", options=", ".join(f"`{name}`" for name in given)))


def _check_engine(arguments: Namespace) -> None:
    for key, option in {"resume": "--resume", "checkpoint_dir": "--checkpoint-dir"}.items():
        if arguments.engine == "recursive" and getattr(arguments, key):
            raise UsageError(finding("U001", option="--engine recursive", other=option))


def owner(arguments: Namespace) -> Owner:
    """Return whose memories a new run has."""
    usual = owner_of(os.environ)
    return Owner(arguments.user or usual.user, arguments.session or usual.session)


def begin(program: Program, value: str, arguments: Namespace) -> kept.Run:
    """Return a new run where ``--checkpoint-dir`` or the file of `program` wants it."""
    asked, directory = program.checkpoints, arguments.checkpoint_dir
    whose = owner(arguments)
    if asked is None:
        return kept.Run.begin(program, value, directory or "", owner=whose)
    place = directory or asked.directory
    return kept.Run.begin(
        program, value, place, autosave=asked.autosave, most=asked.most, owner=whose
    )


def load(arguments: Namespace, program: Program | None) -> kept.Run:
    """Return the run that ``--resume`` names, or the fork of it that is asked for.

    Args:
        arguments: The options.
        program: That of the file, if one is given.

    Raises:
        UsageError: A step is named that the run does not have.
    """
    if arguments.at is None and not arguments.edit:
        budget = dict(arguments.budget)
        return kept.Run.load(
            arguments.resume, program=program, force=arguments.force, budget=budget
        )
    # A fork may have another program; the run that it is one of stays as it is.
    other = program if arguments.force else None
    with kept.Run.load(arguments.resume, program=None if other else program) as run:
        places = _Places(run)
        changes = _by_key(places, arguments.answer)
        answers: dict[Key, Data] = {key: _answer(run, key, text) for key, text in changes.items()}
        value: Data = None
        for path, text in _once(arguments.edit):
            if path == "input":
                value = _value(text)
            else:
                key, answer = _edited(run, places, path, _value(text))
                if key in answers:
                    raise UsageError(
                        finding("U017", option="--edit", place=phrase("step {place}", place=path))
                    )
                answers[key] = answer
        at = places.key(arguments.at) if arguments.at is not None else _after(answers)
        return run.fork(at, answers, value, program=other)


def _by_key(places: _Places, said: list[tuple[str, str]]) -> dict[Key, str]:
    """Return what is said of steps, by key.

    Raises:
        UsageError: Two things are said of one step.
    """
    found: dict[Key, str] = {}
    for place, text in said:
        key = places.key(place)
        if key in found:
            raise UsageError(
                finding("U017", option="--answer", place=phrase("step {place}", place=place))
            )
        found[key] = text
    return found


def _once(edits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return `edits`, of which no two are about the same.

    Raises:
        UsageError: Two are.
    """
    seen: set[str] = set()
    for path, _ in edits:
        if path in seen:
            raise UsageError(finding("U017", option="--edit", place=f"`{path}`"))
        seen.add(path)
    return edits


def _after(answers: Mapping[Key, Data]) -> Key:
    """Return where a fork begins that only says what it changes: after the last of that."""
    return max(answers, default=(0,))


class _Places:
    """Finds calls by how people name them: by step of the trace, or by key."""

    def __init__(self, run: kept.Run) -> None:
        self._keys = [record.key for record in trace_of(run.history())]

    def key(self, text: str) -> Key:
        """Return the key of the step or call that `text` names.

        Raises:
            UsageError: There is none.
        """
        key = key_of(text)
        if key is None and text.isdecimal() and int(text[:_DIGITS]) < len(self._keys):
            key = self._keys[int(text)]
        if key is None:
            last = len(self._keys) - 1
            steps = phrase("0 to {last}", last=last) if self._keys else phrase("none so far")
            raise UsageError(finding("U010", text=text, steps=steps))
        return key


def _answer(run: kept.Run, key: Key, text: str) -> Data:
    """Return `text` as an answer: a model's is a record that has it."""
    intent = run.told().intents.get(key)
    is_model = intent is not None and run.program.sites[intent.site].kind == "llm"
    return Record(text=text) if is_model else text


def _value(text: str) -> Data:
    try:
        return freeze(json.loads(text))
    except (ValueError, RecursionError, NotDataError):
        return text


def _edited(run: kept.Run, places: _Places, path: str, value: Data) -> tuple[Key, Data]:
    """Return the key that `path` names, and its answer with the named part changed."""
    place, colon, fields = path.partition(":")
    key = places.key(place)
    if not colon:
        return key, value
    recorded = run.told().answers.get(key)
    if recorded is None or isinstance(recorded.answer, Failure):
        raise UsageError(finding("U012", path=path))
    return key, _changed(recorded.answer, fields.split("."), value, path)


def _changed(data: Data, fields: list[str], value: Data, path: str) -> Data:
    if not fields:
        return value
    field, *rest = fields
    if isinstance(data, Record):
        return Record(data, **{field: _changed(data.get(field), rest, value, path)})
    if isinstance(data, tuple) and field.isdecimal() and int(field) < len(data):
        items: list[Any] = list(data)
        items[int(field)] = _changed(items[int(field)], rest, value, path)
        return tuple(items)
    raise UsageError(finding("U012", path=path))


def doubt_of(arguments: Namespace, run: kept.Run, out: Output) -> Doubt:
    """Return who decides about calls of which nobody knows whether they were carried out.

    In a terminal people are asked, before anything goes on.
    """
    policy = arguments.in_doubt or ("ask" if has_terminal() else "fail")
    doubts = {request.key: request for request in run.doubts}
    told: dict[Key, Data] = {}
    if arguments.answer and arguments.at is None and not arguments.edit:
        places = _Places(run)
        for key, text in _by_key(places, arguments.answer).items():
            if key not in doubts:
                raise UsageError(finding("U013", place=key_text(key)))
            told[key] = text
    if policy == "ask":
        for key, request in doubts.items():
            if key not in told:
                told[key] = _asked(request, out)

    def decide(request: Request) -> Data | Failure | None:
        if request.key in told:
            return told[request.key]
        return None if policy == "retry" else refuse(request)

    return decide


def _asked(request: Request, out: Output) -> Data:
    """Return what a person says about a call; None is to make it again.

    Raises:
        CheckpointError: They do not know either.
    """
    shown = cut(text_of_value(request.argument), _SHOWN)
    out.error(
        say(
            "`{name}` at {key} was sent: {shown}",
            name=request.site.name,
            key=key_text(request.key),
            shown=shown,
        )
    )
    out.error(say("Nobody knows whether it was carried out, and twice may do harm."))
    while True:
        out.error(say("[r] make it again   [a] say what it answered   [s] stop here"))
        said = sys.stdin.readline()
        match said.strip().casefold()[:1]:
            case "r":
                return None
            case "a":
                out.error(say("Its answer, on one line:"))
                return sys.stdin.readline().rstrip("\n")
            case "s":
                refuse(request)
            case "" if not said:
                refuse(request)


def hint(run: kept.Run) -> str:
    """Return what to type to go on with `run`."""
    command = f"lambdagent run --resume {shlex.quote(str(run.path))}"
    if not run.has_ended:
        return say("to go on: {command}", command=command)
    key = _failed_at(run)
    if key is None:
        return say("to try again from step N: {command} --at N", command=command)
    return say("to make that call again: {command} --at {key}", command=command, key=key_text(key))


def _failed_at(run: kept.Run) -> Key | None:
    """Return the key of the call whose failure ended `run`; None if something else did."""
    with suppress(CheckpointError):  # its files may be gone
        state = run.history().machine.root.state
        key = state.error.get("key") if isinstance(state, Fail) else None
        recorded = run.told().answers.get(cast("Key", key))
        if recorded is not None and isinstance(recorded.answer, Failure):
            return cast("Key", key)
    return None
