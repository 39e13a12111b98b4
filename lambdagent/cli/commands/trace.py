"""``lambdagent trace RUN``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import attrs

from lambdagent.api.recording import Recording, load
from lambdagent.api.reducing import library
from lambdagent.api.stepping import Stepper
from lambdagent.api.viewer import Viewer
from lambdagent.cli import viewing
from lambdagent.cli.arguments import whole
from lambdagent.cli.output import Output, columns, json_text
from lambdagent.cli.progress import ProgressLine
from lambdagent.errors import UsageError, finding
from lambdagent.machine.brief import BriefReadback
from lambdagent.messages import phrase, say
from lambdagent.trace import listing
from lambdagent.trace.sight import Sight
from lambdagent.trace.text import RULE, render_record, render_total
from lambdagent.trace.transition import Transition, transition_of

_LEVELS = ("agent", "beta", "machine")
_FORMATS = ("text", "json", "jsonl")


def add_arguments(parser: ArgumentParser) -> None:
    """Take the recorded run and how to look at it."""
    add = parser.add_argument
    add(
        "run",
        metavar="RUN",
        help=phrase("a file of `run --trace-file`, or a directory of a kept run"),
    )
    add(
        "--level",
        choices=_LEVELS,
        default=_LEVELS[0],
        help=phrase("what the agent did, each reduction, or each transition of the machine"),
    )
    add("--step", type=whole(0), metavar="N", help=phrase("all about step N alone"))
    add(
        "--filter",
        metavar="TERM",
        help=phrase("steps of a name, a kind, a rule or a site; may be a glob"),
    )
    add(
        "--slow",
        action="store_true",
        help=phrase("step through the run by keys; h there shows them"),
    )
    add("--quiet", "-q", action="store_true", help=phrase("print nothing but the answer"))
    add("--format", choices=_FORMATS, default=_FORMATS[0], help=phrase("form of the steps"))
    viewing.add_arguments(parser)


def run(arguments: Namespace, out: Output) -> int:
    """Print the steps of a recorded run, or another view of it; nothing is called."""
    out.quiet = arguments.quiet
    view = viewing.view_of(arguments)
    if arguments.slow:
        return _slow(arguments, out)
    with ProgressLine(out) as line:
        recording = _load(arguments, line)
        if view is not None:
            return view(recording, arguments, out)
        if arguments.level == _LEVELS[0]:
            _agent(recording, arguments, out)
        else:
            _machine(recording, arguments, out)
    return 0


def _load(arguments: Namespace, line: ProgressLine) -> Recording:
    """Return the run; `line` shows how far work on it is."""
    return attrs.evolve(load(Path(arguments.run)), watch=line.at)


def _slow(arguments: Namespace, out: Output) -> int:
    """Show the run step by step in the terminal; elsewhere print all steps.

    Raises:
        UsageError: Another option wants something else to be shown.
    """
    refused = {
        "filter": arguments.filter is not None,
        "format": arguments.format != _FORMATS[0],
        "level": arguments.level == _LEVELS[1],
    }
    for option, is_given in refused.items():
        if is_given:
            raise UsageError(finding("U001", option="--slow", other=f"--{option}"))
    slow = import_module("lambdagent.cli.slow")
    if slow.has_screen():
        recording = load(Path(arguments.run))
        stepper = Stepper(recording, library())
        if arguments.step is not None:
            stepper.ensure(arguments.step)
            known = stepper.history
            stepper.move_to(_checked(arguments.step, known.first, known.length))
        slow.watch(Viewer(stepper))
        return 0
    arguments.level = "machine"
    with ProgressLine(out) as line:
        recording = _load(arguments, line)
        sight, width = Sight(recording.linked, library()), columns()
        for made in _transitions(recording, arguments):
            line.at(made.number, recording.history.length)
            out.answer("\n".join(listing.transition_lines(sight, made, width)))
        _tell_of_a_cut(recording, arguments, out)
    return 0


def _agent(recording: Recording, arguments: Namespace, out: Output) -> None:
    """Print what the agent did."""
    records = recording.records
    if arguments.step is not None:
        records = records[_checked(arguments.step, 0, len(records) - 1) :][:1]
    if arguments.filter is not None:
        records = tuple(each for each in records if listing.is_record(arguments.filter, each))
    if arguments.format != "text":
        _print_rows((record.to_json() for record in records), arguments, out)
    elif arguments.step is not None:
        for record in records:
            out.answer("\n".join(listing.record_lines(record)))
    else:
        for record in records:
            out.answer(render_record(record))
        out.answer(f"{RULE}\n{render_total(records, recording.elapsed_s)}")


def _machine(recording: Recording, arguments: Namespace, out: Output) -> None:
    """Print reductions, or transitions."""
    sight = Sight(recording.linked, library())
    made = _transitions(recording, arguments)
    if arguments.format != "text":
        _print_rows((listing.transition_row(sight, each) for each in made), arguments, out)
    elif arguments.step is not None:
        width = columns()
        for each in made:
            state = recording.history.state(each.number)
            lines = listing.transition_lines(sight, each, width)
            out.answer("\n".join([*lines, *listing.state_lines(sight, state, each.path, width)]))
    else:
        width = columns()
        for each in made:
            out.answer(listing.transition_line(sight, each, width))
    _tell_of_a_cut(recording, arguments, out)


def _tell_of_a_cut(recording: Recording, arguments: Namespace, out: Output) -> None:
    """Tell that the run goes on after the steps that are gone through."""
    if recording.history.is_cut and arguments.step is None:
        length = f"{recording.history.length:,}"
        out.note(say("stopped after {length} transitions", length=length))


def _transitions(recording: Recording, arguments: Namespace) -> Iterator[Transition]:
    history, readback = recording.history, BriefReadback.of(recording.linked)
    numbers = range(history.first + 1, history.length + 1)
    if arguments.step is not None:
        number = _checked(arguments.step, numbers.start, numbers.stop - 1)
        numbers = range(number, number + 1)
    state = history.state(numbers.start - 1)
    for number in numbers:
        move = history.move(number, state)
        state = move.after
        made = transition_of(readback, move)
        is_shown = made.rule.kind or arguments.level == "machine" or arguments.step is not None
        if is_shown and (
            arguments.filter is None or listing.is_transition(arguments.filter, made)
        ):
            yield made


def _checked(step: int, first: int, last: int) -> int:
    """Return `step`, which the run has.

    Raises:
        UsageError: It does not.
    """
    if not first <= step <= last:
        some = phrase("{first} to {last}", first=first, last=last)
        known = some if first <= last else phrase("none")
        raise UsageError(finding("U015", step=str(step), known=known))
    return step


def _print_rows(rows: Iterable[dict[str, object]], arguments: Namespace, out: Output) -> None:
    if arguments.format == "jsonl":
        for row in rows:
            out.answer(json.dumps(row, ensure_ascii=False))
    else:
        out.answer(json_text(list(rows)))
