"""The views of ``lambdagent trace`` on a whole run: pictures, sums, another run, a check."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from lambdagent.api.checking import Verdict, check
from lambdagent.api.comparing import compare_runs
from lambdagent.api.pages import page_of
from lambdagent.api.recording import Recording, load
from lambdagent.cli.files import check_places, write_file
from lambdagent.cli.output import Output, columns, json_text
from lambdagent.errors import UsageError, finding
from lambdagent.ir.data_text import escaped
from lambdagent.ir.fitting import fit_middle
from lambdagent.messages import phrase, say
from lambdagent.trace import comparison, flamegraph, stats, timeline
from lambdagent.trace.listing import is_record, matches
from lambdagent.trace.nesting import Nesting
from lambdagent.trace.text import count_of

View = Callable[[Recording, Namespace, Output], int]

_DIFFERENT = 1
_STDOUT = "-"


def add_arguments(parser: ArgumentParser) -> None:
    """Take the views."""
    add = parser.add_argument
    add(
        "--html",
        metavar="FILE",
        help=phrase("write a page that shows every step, for any browser"),
    )
    add("--timeline", action="store_true", help=phrase("draw when the steps were"))
    add(
        "--flamegraph",
        nargs="?",
        const=_STDOUT,
        metavar="FILE",
        help=phrase("draw what the steps stand in as an SVG, to FILE or through a pipe"),
    )
    add(
        "--by",
        choices=flamegraph.WEIGHTS,
        help=phrase("what the width of the flame graph is; time"),
    )
    add("--stats", action="store_true", help=phrase("sums by term, reductions, failures, retries"))
    add(
        "--diff",
        metavar="OTHER",
        help=phrase("where another run parts from this one; exit code 1"),
    )
    add(
        "--check",
        action="store_true",
        help=phrase(
            "go through the run rule by rule: is it what its program does? exit code 1 if not"
        ),
    )


def view_of(arguments: Namespace) -> View | None:
    """Return the view that is asked for; None for the steps.

    Raises:
        UsageError: Options exclude each other, or an SVG has no place to go to.
    """
    asked = [name for name in _VIEWS if getattr(arguments, name)]
    if arguments.by and "flamegraph" not in asked:
        raise UsageError(finding("U018", option="--by", what="`--flamegraph`"))
    if not asked:
        return None
    if len(asked) > 1:
        raise UsageError(finding("U001", option=f"--{asked[0]}", other=f"--{asked[1]}"))
    for other, given in _refused(asked[0], arguments).items():
        if given:
            raise UsageError(finding("U001", option=f"--{asked[0]}", other=other))
    return _VIEWS[asked[0]]


def _refused(name: str, arguments: Namespace) -> dict[str, bool]:
    """Return the options that a view does not take, and whether they are given."""
    refused = {
        "--slow": arguments.slow,
        "--step": arguments.step is not None,
        "--level": arguments.level != "agent",
    }
    if name in {"diff", "check"}:
        refused["--filter"] = arguments.filter is not None
    if name == "html":
        refused["--filter"] = arguments.filter is not None
    if name in {"html", "flamegraph"}:
        refused[f"--format {arguments.format}"] = arguments.format != "text"
    return refused


def _html(recording: Recording, arguments: Namespace, out: Output) -> int:
    place = arguments.html
    _check_file("--html", place, arguments.run)
    page = page_of(recording)
    _write(place, page.text, private=True)
    shown = f"{page.steps:,} of " if page.steps < page.length else ""
    steps = count_of(page.length, "step")
    out.note(f"{place}: {shown}{steps}, {len(page.text.encode()) / 1000:,.0f} kB")
    return 0


def _timeline(recording: Recording, arguments: Namespace, out: Output) -> int:
    bars = timeline.bars(recording.records)
    if arguments.filter is not None:
        bars = [bar for bar in bars if is_record(arguments.filter, bar.record)]
    if arguments.format == "text":
        out.answer(timeline.render(bars, columns()))
    elif arguments.format == "json":
        out.answer(json_text([bar.to_json() for bar in bars]))
    else:
        for bar in bars:
            out.answer(json.dumps(bar.to_json(), ensure_ascii=False))
    return 0


def _flamegraph(recording: Recording, arguments: Namespace, out: Output) -> int:
    place, by = arguments.flamegraph, arguments.by or flamegraph.WEIGHTS[0]
    _check_place(place, arguments.run, out)
    records = recording.records
    places = Nesting(recording.linked).places(records, recording.execution.exchanges)
    if arguments.filter is not None:
        kept = [is_record(arguments.filter, record) for record in records]
        records = tuple(record for record, wanted in zip(records, kept, strict=True) if wanted)
        places = [place for place, wanted in zip(places, kept, strict=True) if wanted]
    drawn = flamegraph.render(flamegraph.frames(recording.program.name, records, places, by), by)
    if place == _STDOUT:
        # Whatever the encoding of the pipe is, the reader takes what the head says: UTF-8.
        out.answer(drawn.rstrip("\n").encode("ascii", "xmlcharrefreplace").decode("ascii"))
    else:
        _write(place, drawn)
    return 0


def _check_place(place: str, run: str, out: Output) -> None:
    """Refuse a place for the picture before it is drawn."""
    if place != _STDOUT:
        _check_file("--flamegraph", place, run)
    elif out.is_terminal:
        raise UsageError(finding("U021", run=run))


def _check_file(option: str, place: str, run: str) -> None:
    check_places({option: place})
    if Path(place).exists() and Path(place).samefile(run):
        raise UsageError(finding("U006", first="RUN", second=option, path=place))


def _write(place: str, text: str, *, private: bool = False) -> None:
    try:
        write_file(Path(place), text, private=private)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(finding("U002", path=place, reason=reason)) from error


def _stats(recording: Recording, arguments: Namespace, out: Output) -> int:
    execution = recording.execution
    found = stats.stats(
        list(stats.calls_of(recording.records, execution.exchanges)),
        execution.events,
        execution.exchanges,
        recording.stop or execution.machine,
        max(recording.elapsed_s, recording.told.length_s),
        recording.engine,
    )
    if arguments.filter is not None:
        found = found.only(lambda row: matches(arguments.filter, row.term, row.kind))
    _tell(arguments, out, found.to_json(), lambda: stats.render(found, columns()))
    if execution.can_move and recording.stop is None:  # counted to the limit of the replay
        out.note(say("stopped after {length} transitions", length=f"{found.transitions:,}"))
    return 0


def _diff(recording: Recording, arguments: Namespace, out: Output) -> int:
    found = compare_runs(recording, load(Path(arguments.diff)))
    _tell(arguments, out, found.to_json(), lambda: comparison.render(found, columns()))
    return 0 if found.is_same else _DIFFERENT


def _check(recording: Recording, arguments: Namespace, out: Output) -> int:
    verdict = check(recording)
    _tell(arguments, out, verdict.to_json(), lambda: _verdict_text(verdict, columns()))
    return 0 if verdict.wrong is None else _DIFFERENT


def _verdict_text(verdict: Verdict, width: int) -> str:
    wrong = verdict.wrong
    if wrong is None:
        counts = {
            "request": verdict.requests,
            "step": verdict.steps,
            "transition": verdict.transitions,
        }
        counted = ", ".join(count_of(number, noun) for noun, number in counts.items())
        text = f"the run is what its program does: {counted}"
        return text + _stop_text(verdict)
    rows = {"recorded": wrong.recorded, "computed": wrong.computed}
    shown = [f"  {name}  {escaped(text)}" for name, text in rows.items()]
    head = f"the run is not what its program does: {wrong.where}: {wrong.what}"
    return "\n".join([escaped(head), *(fit_middle(line, width) for line in shown)])


def _stop_text(verdict: Verdict) -> str:
    """Return the line on where a run was stopped that could go on, or nothing."""
    if verdict.stopped is not None:
        where = f"\nit was stopped after {count_of(verdict.stopped, 'transition')}"
        return f"{where}; not all of them are checked" if verdict.is_open else where
    if not verdict.is_open:
        return ""
    if verdict.engine == "recursive":
        return "\nit was stopped in direct style, which makes no transitions: no more is recorded"
    return "\nit was stopped while it could go on; where it stood then is not recorded"


def _tell(
    arguments: Namespace, out: Output, row: Mapping[str, object], text: Callable[[], str]
) -> None:
    """Print what was found in the form that is asked for."""
    if arguments.format == "text":
        out.answer(text())
    elif arguments.format == "json":
        out.answer(json_text(row))
    else:
        out.answer(json.dumps(row, ensure_ascii=False))


_VIEWS: Mapping[str, View] = {
    "html": _html,
    "timeline": _timeline,
    "flamegraph": _flamegraph,
    "stats": _stats,
    "diff": _diff,
    "check": _check,
}
