"""``lambdagent checkpoints DIR``."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from lambdagent.api import run_files
from lambdagent.api.running import trace_of
from lambdagent.cli.arguments import whole
from lambdagent.cli.files import place
from lambdagent.cli.output import Output, json_text
from lambdagent.effects.journal import read_journal
from lambdagent.effects.run_directory import RunDirectory, leftovers_in, runs_in
from lambdagent.errors import CheckpointError, UsageError, finding
from lambdagent.ir.exchange import key_text
from lambdagent.machine.text import cut
from lambdagent.messages import phrase, say
from lambdagent.trace.sight import Sight, path_text, stands
from lambdagent.trace.text import render_record

_SHOWN = 100
_ONE_OF = ("show", "prune", "format")
# What the list says of a run that cannot be read though nothing may be wrong with it, by code.
_UNREAD = {"K004": "of another version", "K009": "cannot be read"}
_HEAD = ("RUN", "AGENT", "BEGAN", "STANDS", "CALLS", "SIZE")


def add_arguments(parser: ArgumentParser) -> None:
    """Take the directory and what is wanted."""
    add = parser.add_argument
    add("directory", type=place, metavar="DIR", help=phrase("where runs are kept"))
    add(
        "--show",
        type=place,
        metavar="RUN",
        help=phrase("print where a run stands: its steps, and its continuation"),
    )
    add(
        "--prune",
        type=whole(0),
        nargs="?",
        const=0,
        metavar="N",
        help=phrase(
            "remove finished runs until no more than N runs are left; all of them without N"
        ),
    )
    add("--format", choices=("text", "json"), help=phrase("form of the list"))


def run(arguments: Namespace, out: Output) -> int:
    """Print or remove runs."""
    directory = Path(arguments.directory)
    given = [f"--{name}" for name in _ONE_OF if getattr(arguments, name) is not None]
    if len(given) > 1:
        raise UsageError(finding("U001", option=given[0], other=given[1]))
    if arguments.show is not None:
        _show(directory / arguments.show, out)
        return 0
    if arguments.prune is not None:
        for name in run_files.remove_finished(directory, arguments.prune):
            out.note(say("removed {name}", name=name))
        return 0
    rows = [_row(each) for each in runs_in(directory)]
    rows += [_left(each) for each in leftovers_in(directory)]
    if arguments.format == "json":
        out.answer(json_text(rows))
    elif rows:
        out.answer("\n".join(_table(rows)))
    else:
        out.note(f"no runs in {directory}")
    return 0


def _left(run: RunDirectory) -> dict[str, object]:
    """Return what the list says of what a kill has left of a run."""
    return {"run": run.id, "size_bytes": run.size_bytes, "stands": say("is left of no run")}


def _row(run: RunDirectory) -> dict[str, object]:
    """Return what the list says of a run; of one that cannot be read, why."""
    row: dict[str, object] = {"run": run.id, "size_bytes": run.size_bytes}
    try:
        beginning, told = run.beginning(), read_journal(run.journal)
    except CheckpointError as error:
        stands = _UNREAD.get(error.diagnostic.code, "damaged")
        return {**row, "stands": stands, "error": str(error)}
    stands = told.outcome or ", ".join(
        say("waits for {site}", site=told.intents[key].site) for key in told.open[:3]
    )
    return {
        **row,
        "agent": beginning.agent,
        "began": beginning.began,
        "stands": stands or say("between calls"),
        "calls": len(told.answers),
        "parent": None if beginning.parent is None else "".join(beginning.parent),
    }


def _table(rows: Sequence[dict[str, object]]) -> Iterator[str]:
    cells = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEAD))]
    for line in cells:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    began, when = row.get("began"), "?"
    if isinstance(began, float):
        with suppress(OverflowError, ValueError, OSError):  # no time that there is
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(began))
    return (
        cut(str(row["run"]), 60),
        cut(str(row.get("agent", "?")), 30),
        when,
        str(row["stands"]),
        str(row.get("calls", "?")),
        f"{row['size_bytes']:,} B",
    )


def _show(path: Path, out: Output) -> None:
    directory = run_files.find_run(path)
    beginning = directory.beginning()
    linked, execution = run_files.replayed(directory)
    out.answer(f"{beginning.agent}: {cut(str(beginning.input), _SHOWN)}")
    if beginning.parent is not None:
        out.answer(
            say("a fork of {run} at {place}", run=beginning.parent[0], place=beginning.parent[1])
        )
    for record in trace_of(execution):
        out.answer(f"{render_record(record)}   {key_text(record.key)}")
    sight = Sight(linked)
    for path_, thread in sorted(execution.machine.threads.items()):
        out.answer(f"\n{path_text(path_)} {stands(thread)}")
        for number, frame in enumerate(sight.frames(thread.kont, None)):
            out.answer(f"  {number}  {cut(frame, _SHOWN)}")
