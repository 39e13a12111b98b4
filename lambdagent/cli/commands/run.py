"""``lambdagent run FILE [INPUT]``."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from lambdagent.api import compiling, kept, recording, running
from lambdagent.api.budgets import doubtful_budget
from lambdagent.api.declared import declared_in
from lambdagent.cli import budgets, confirming, keeping
from lambdagent.cli.files import (
    check_places,
    decoded,
    fill_file,
    standard_input,
    write_file,
)
from lambdagent.cli.output import Output, json_text
from lambdagent.cli.run_options import add_options
from lambdagent.effects.execution import Execution
from lambdagent.effects.mcp.pool import kept_open
from lambdagent.effects.redaction import Redaction
from lambdagent.errors import (
    NOTE,
    WARNING,
    CheckpointError,
    NoSuchFileError,
    RunError,
    SuspendedError,
    UsageError,
    finding,
)
from lambdagent.errors import render as render_diagnostic
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Tool
from lambdagent.messages import phrase, say
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.text import render, render_record, render_total

if TYPE_CHECKING:
    from lambdagent.api.streaming import Stream

_FALSE = {"", "0", "false", "no", "off"}
# Options of a run that talk to a person.
_ASKED = {"confirm", "doubt"}


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file, the input and the options of specification 15.3."""
    add_options(parser)


def run(arguments: Namespace, out: Output) -> int:
    """Compile the file, run it on the input, and print the answer; or go on with a kept run."""
    with kept_open():  # a server that said which tools it has is there when they are called
        return _run(arguments, out)


def _run(arguments: Namespace, out: Output) -> int:
    out.quiet = arguments.quiet
    if arguments.stream and arguments.format == "json":
        raise UsageError(finding("U001", option="--stream", other="--format json"))
    keeping.check_options(arguments)
    check_places(_places(arguments), arguments.file)
    program = None if arguments.file is None else _program(arguments)
    if program is not None:
        for doubt in doubtful_budget(program):
            out.note(render_diagnostic(doubt, word=WARNING))
    if arguments.resume is not None:
        return _kept(arguments, out, keeping.load(arguments, program))
    assert program is not None
    value = _input(arguments)
    report = _Report(arguments, out, live=arguments.verbose or program.shows_steps)
    if arguments.checkpoint_dir is not None or program.checkpoints is not None:
        return _kept(arguments, out, keeping.begin(program, value, arguments))
    with running.Session(
        program,
        engine=arguments.engine,
        owner=keeping.owner(arguments),
        remark=lambda remark: out.error(render_diagnostic(remark, word=NOTE)),
    ) as session:
        try:
            result = report.result_of(
                partial(session.run, value),
                partial(session.stream, value),
                program,
                timeout_s=arguments.timeout,
                confirm=confirming.confirm_of(arguments, None, out),
            )
            _tell(arguments, out, report, result)
        except (RunError, SuspendedError) as error:
            report.failed(error)
            _tell_suspended(arguments, out, error, None)
            raise
        finally:
            report.keep(session)
    return report.exit_code


def answer(arguments: Namespace, out: Output, text: str) -> None:
    """Write `text` where the answer goes; also what programs read when there is none.

    Raises:
        UsageError: It cannot be written.
    """
    if arguments.output:
        _writing(arguments.output, lambda path: write_file(path, f"{text}\n"))
    else:
        out.answer(text)


def _places(arguments: Namespace) -> dict[str, str | None]:
    """Return the files that are written, by the options that ask for them."""
    return {
        "--output": arguments.output,
        "--trace-file": arguments.trace_file or os.environ.get("LAMBDAGENT_TRACE_FILE") or None,
        "--record": arguments.record,
    }


def _program(arguments: Namespace) -> Program:
    """Return the program of the file, with the budget that is asked for.

    A run that is gone on with knows what its servers can do. Only where the file has changed they
    are asked again.
    """
    if arguments.resume is not None:
        known, digest = declared_in(Path(arguments.resume))
        if known:
            program = _compiled(arguments, known)
            if program.digest() == digest:
                return program
    return _compiled(arguments, {})


def _compiled(arguments: Namespace, declared: Mapping[str, tuple[Tool, ...]]) -> Program:
    program = compiling.compile_file(
        arguments.file,
        discover=True,
        declared=declared,
        model=arguments.model,
        temperature=arguments.temperature,
        max_steps=arguments.max_steps,
        tools={
            name: Tool(name, command=command)
            for name, command in _once(phrase("tools"), arguments.tool).items()
        },
        tool_timeout_s=arguments.tool_timeout,
        memory_store=_once(phrase("memories"), arguments.env) or None,
    ).program
    budget = budgets.changed(program.limits.budget, arguments.budget)
    return attrs.evolve(program, limits=attrs.evolve(program.limits, budget=budget))


def _kept(arguments: Namespace, out: Output, run: kept.Run) -> int:
    """Go on with a run on disk, and say how to go on where it does not come to its end."""
    with run:
        run.lock()  # before anybody is asked about what it waits for
        report = _Report(arguments, out, live=arguments.verbose or run.program.shows_steps)
        out.note(say("kept in {path}", path=run.path))
        doubt = keeping.doubt_of(arguments, run, out)
        confirm = confirming.confirm_of(arguments, run, out)
        try:
            try:
                result = report.result_of(
                    run.resume,
                    run.stream,
                    run.program,
                    timeout_s=arguments.timeout,
                    doubt=doubt,
                    confirm=confirm,
                    remark=lambda remark: out.error(render_diagnostic(remark, word=NOTE)),
                )
            except SuspendedError as error:
                report.failed(error)
                _tell_suspended(arguments, out, error, run)
                raise
            except BaseException as error:
                if isinstance(error, RunError):
                    report.failed(error)
                out.error(keeping.hint(run))
                raise
            _tell(arguments, out, report, result)
        finally:
            report.keep(run)
    return report.exit_code


def _tell(arguments: Namespace, out: Output, report: _Report, result: running.Result) -> None:
    """Print the answer, and what else was asked for; files about the run come after it."""
    report.finished(result)
    text = json_text(running.to_json(result)) if arguments.format == "json" else result.text
    if arguments.output or text != report.said:
        answer(arguments, out, text)


def _tell_suspended(
    arguments: Namespace, out: Output, error: RunError | SuspendedError, run: kept.Run | None
) -> None:
    """Print what the run waits for, where programs read the answer."""
    if arguments.format == "json" and isinstance(error, SuspendedError):
        answer(arguments, out, json_text(confirming.suspended_row(error, run)))


class _Report:
    """What is told about a run besides its answer.

    Attributes:
        exit_code: 0, or that of a file which could not be written.
        outcome: Returns what the run came to, as the trace file has it.
        said: What stands at the end of standard output already, None if nothing does.
    """

    def __init__(self, arguments: Namespace, out: Output, *, live: bool) -> None:
        self._out = out
        self._live = live and not out.quiet
        asked = os.environ.get("LAMBDAGENT_TRACE", "").strip().casefold() not in _FALSE
        self._trace = arguments.trace or (asked and not out.quiet)
        places = _places(arguments)
        self._file, self._recording = places["--trace-file"], places["--record"]
        self.exit_code = 0
        self.outcome: Callable[[], dict[str, object]] = lambda: {"error": "interrupted"}
        self.said: str | None = None
        self._streams = arguments.stream

    def result_of(
        self,
        run: Callable[..., running.Result],
        stream: Callable[..., Stream],
        program: Program,
        **options: Any,
    ) -> running.Result:
        """Return the result of a run of `program`, and show what happens meanwhile.

        Args:
            run: Runs.
            stream: Does the same, streaming.
            program: What runs.
            options: For either.
        """
        if self._streams:
            return self._streamed(stream, options)
        if not self._live:
            return run(**options)
        if self._out.screen is None:
            return run(**options, watch=self._show)
        live = import_module("lambdagent.cli.live")
        with live.LiveLine(self._out, self._out.screen, program) as line:
            for who in _ASKED & options.keys():
                options[who] = line.aside(options[who])
            return run(**options, watch=self._show, listeners=[line])

    def _streamed(self, stream: Callable[..., Stream], options: dict[str, Any]) -> running.Result:
        """Print what models say, and the steps in lines of their own between them."""
        steps: deque[TraceRecord] = deque()

        def show_steps() -> None:
            while steps:
                self._show(steps.popleft())

        if self._live:
            options["watch"] = steps.append
        speech = import_module("lambdagent.cli.speech")
        result: running.Result
        result, self.said = speech.printed(stream(**options), self._out, show_steps)
        return result

    def _show(self, record: TraceRecord) -> None:
        self._out.note(render_record(record))

    def failed(self, error: RunError | SuspendedError) -> None:
        """Show how far the run came."""
        if self._trace and not self._live:
            for record in error.trace:
                self._out.error(render_record(record))
        trace = [record.to_json() for record in error.trace]
        self.outcome = lambda: {"error": str(error), "trace": trace}

    def finished(self, result: running.Result) -> None:
        """Show the trace, or the totals alone."""
        self.outcome = partial(running.to_json, result)
        if self._trace and not self._live:
            self._out.error(render(result.trace, result.elapsed_s))
        else:
            self._out.note(render_total(result.trace, result.elapsed_s))

    def keep(self, run: running.Session | kept.Run) -> None:
        """Keep the run, and what the models said, however it ended."""
        if self._file:
            history, redaction = run.history(), run.redaction
            if history is not None:
                self._keep(self._file, lambda path: self._write(path, history, redaction))
        if self._recording:
            self._keep(self._recording, lambda path: fill_file(path, run.record, private=True))

    def _write(self, path: Path, history: Execution, redaction: Redaction) -> None:
        write_file(path, recording.document(history, self.outcome(), redaction), private=True)

    def _keep(self, path: str, write: Callable[[Path], None]) -> None:
        """Write a file; where that fails say so, and go on: there may be another one to write."""
        try:
            _writing(path, write)
        except (UsageError, CheckpointError) as error:
            self.exit_code = UsageError.exit_code
            self._out.error(str(error))


def _writing(path: str, write: Callable[[Path], None]) -> None:
    try:
        write(Path(path))
    except OSError as error:
        raise UsageError(
            finding("U002", path=path, reason=error.strerror or str(error))
        ) from error


def _input(arguments: Namespace) -> str:
    """Return the input, from exactly one place.

    Raises:
        UsageError: There is none, there are two, or it is no text.
        NoSuchFileError: The file of ``--input`` does not exist.
    """
    if (arguments.input is None) == (arguments.input_file is None):
        raise UsageError(finding("U003"))
    if arguments.input_file is not None:
        return _read_input(arguments.input_file)
    if arguments.input == "-":
        return standard_input().rstrip("\n")
    return str(arguments.input).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _read_input(path: str) -> str:
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise NoSuchFileError(finding("S012", path=path)) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(finding("U004", path=path, reason=reason)) from error
    return decoded(raw, path).rstrip("\n")


def _once(things: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return `pairs` as a dict.

    Raises:
        UsageError: Two have the same name.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(finding("S201", name=name, things=things))
        found[name] = value
    return found
