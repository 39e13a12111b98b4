"""The command ``lambdagent``: finds the command, runs it, turns errors into exit codes.

Exit codes: 0 fine, 1 the run failed, 2 does not compile or wrong usage, 3 lint found errors or not
all was imported, 4 no such file, 70 a fault of ours, 75 the run waits for a person, 129 hung up,
130 interrupted, 141 nobody reads our output, 143 terminated.
"""

# Note [Ending once]
#
# The first signal that wants our end raises an exception, which ends the run and its tools on its
# way up. A second exception would break that off halfway, so further signals are not heeded, but
# for `_FAREWELL_S` at most: then the process ends as it stands. When nothing is left to be ended,
# a signal ends the process at once.

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from lambdagent.cli.logs import log_of
from lambdagent.cli.output import Output, ReaderGoneError
from lambdagent.errors import ERROR, FIX, NOTE, LambdagentError, SuspendedError, UsageError, plain
from lambdagent.messages import ENGLISH, choose, language_of, phrase, recognized_values, say, told
from lambdagent.messages.text import phrased

# Name on the command line, module, one line of help.
COMMANDS = {
    "new": ("new", phrase("write an agent file to begin with")),
    "import": ("import_", phrase("make an agent file of a file of another framework")),
    "run": ("run", phrase("compile an agent and run it on an input")),
    "compile": ("compile", phrase("compile an agent and print its structure, without running it")),
    "lint": (
        "lint",
        phrase("say what is wrong with agents, what it means in λ, and how to mend it"),
    ),
    "tools": ("tools", phrase("list the tools of an agent, call one, ask a server for its own")),
    "lambda": ("lambda_", phrase("print an agent as a lambda expression")),
    "reduce": ("reduce", phrase("reduce a pure term step by step")),
    "trace": (
        "trace",
        phrase("show a recorded run: what the agent did, each reduction, each state"),
    ),
    "checkpoints": ("checkpoints", phrase("list the runs that are kept in a directory")),
    "schema": ("schema", phrase("print the JSON Schema of agent files, for editors")),
    "version": ("version", phrase("print the version")),
}

INTERNAL, INTERRUPTED, READER_GONE = 70, 130, 141
_BY_SIGNAL = 128
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_FAREWELL_S = 10.0
_WRONG_USAGE = 2
_WIDTH = 90


def entry() -> NoReturn:
    """Run the command of the process's arguments and exit."""
    try:
        _heed(_end)
        code = main(sys.argv[1:])
        _heed(_leave)
    except KeyboardInterrupt:  # before `main` looks out for it, or after
        code = INTERRUPTED
    finally:
        _turn_deaf()
    sys.exit(code)


def _heed(handler: Callable[[int, object], None]) -> None:
    """Have `handler` called by the signals that want our end, but not by those that are ignored.

    After the first one nothing is changed any more. See Note [Ending once].
    """
    for name in _SIGNALS:
        number = getattr(signal, name)
        if signal.getsignal(number) not in {signal.SIG_IGN, _ignore}:
            signal.signal(number, handler)


def _end(number: int, _frame: object) -> NoReturn:
    """End as after an error, so that tools end too."""
    _heed(_ignore)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(_BY_SIGNAL + number))
    signal.setitimer(signal.ITIMER_REAL, _FAREWELL_S)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(_BY_SIGNAL + number)


def _ignore(_number: int, _frame: object) -> None:
    """Let the end that has begun take its course."""


def _turn_deaf() -> None:
    """Ignore what `_ignore` does for good: the interpreter drops our handlers before it ends."""
    for name in _SIGNALS:
        if signal.getsignal(getattr(signal, name)) is _ignore:
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _leave(number: int, _frame: object) -> NoReturn:
    """End at once: all is said and done."""
    os._exit(_BY_SIGNAL + number)


def main(argv: Sequence[str], out: Output | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: Arguments without the program's name.
        out: Where to write; stdout and stderr by default.
    """
    out = out or Output()
    choose(language_of(os.environ) if out.takes("中文") else ENGLISH)
    with_traceback = "--traceback" in argv
    try:
        before = int(list(argv[:1]) == ["--traceback"])
        with log_of(os.environ, out):
            return _dispatch(list(argv[before:]), out)
    except LambdagentError as error:
        if with_traceback:
            out.error(_traceback())
        out.error("\n".join([str(error), *_notes(error)]))
        return error.exit_code
    except KeyboardInterrupt as error:
        out.error("\n".join([say("interrupted"), *_notes(error)]))
        return INTERRUPTED
    except ReaderGoneError:
        return READER_GONE
    except Exception as error:  # noqa: BLE001 - the last one who can tell
        if with_traceback:
            out.error(_traceback())
        out.error(say("internal error: {name}: {error}", name=type(error).__name__, error=error))
        out.error(f"{told(FIX)}: {say('please report this, with the output of --traceback')}")
        return INTERNAL


def _notes(error: BaseException) -> list[str]:
    """Return what else there is to tell of `error`."""
    return [f"{told(NOTE)}: {note}" for note in getattr(error, "__notes__", ())]


def _traceback() -> str:
    """Return how the current error arose; what formats it is loaded for that alone."""
    text: str = import_module("traceback").format_exc()
    return text


def _dispatch(argv: list[str], out: Output) -> int:
    if argv and argv[0] in COMMANDS:
        module, help_text = COMMANDS[argv[0]]
        command = import_module(f"lambdagent.cli.commands.{module}")
        parser = _Parser(f"lambdagent {argv[0]}", help_text, out)
        command.add_arguments(parser)
        parser.shorten_usage()
        try:
            arguments = parser.parse_intermixed_args(argv[1:])
        except SystemExit as stop:
            return int(stop.code or 0)
        try:
            code: int = command.run(arguments, out)
        except LambdagentError as error:
            answer = getattr(command, "answer", None)
            write = out.answer if answer is None else partial(answer, arguments, out)
            _tell_programs(error, getattr(arguments, "format", ""), write, out)
            raise
        return code
    return _top(argv, out)


def _tell_programs(
    error: LambdagentError, form: str, write: Callable[[str], None], out: Output
) -> None:
    """Have the findings written where programs read the answer.

    A run that waits has told its own; a wrong command line is told as argparse tells it.
    """
    findings = import_module("lambdagent.cli.findings")
    told = isinstance(error, SuspendedError | UsageError)
    if form in findings.MACHINE_FORMATS and not told:
        try:
            write(findings.render_findings(*findings.findings_of(error), form))
        except UsageError as failure:  # the error that is told is the one that led here
            out.error(str(failure))


def _top(argv: list[str], out: Output) -> int:
    """Answer ``--help``, ``--version``, and whatever is no command."""
    if argv and argv[0] in {"--version", "-V"}:
        return _dispatch(["version"], out)
    if not argv or argv[0] in {"--help", "-h", "help"}:
        width = max(map(len, COMMANDS))
        lines = [f"  {name:<{width}}  {told(text)}" for name, (_, text) in COMMANDS.items()]
        usage = f"{say('usage: ')}lambdagent {say('COMMAND [OPTIONS] …')}"
        more = say("`lambdagent COMMAND --help` tells more about a command")
        out.answer("\n".join([usage, "", f"{say('commands')}:", *lines, "", more]))
        return 0
    known = ", ".join(COMMANDS)
    what = say("there is no command `{name}`", name=argv[0])
    out.error(f"lambdagent: {what}\n{told(FIX)}: {say('use one of {known}', known=known)}")
    return 2


class _Help(argparse.HelpFormatter):
    """Lays out the help in the language of the reader."""

    def __init__(self, prog: str) -> None:
        # Its own look for the width would load four modules more.
        super().__init__(prog, width=_WIDTH)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, say("usage: ") if prefix is None else prefix)

    def _get_help_string(self, action: argparse.Action) -> str:
        return str(told(action.help))


# What argparse says of a wrong command line.
_WRONG_USAGES = (
    phrase("argument {name}: {message}"),
    phrase("the following arguments are required: {names}"),
    phrase("unrecognized arguments: {names}"),
    phrase("expected one argument"),
    phrase("expected at least one argument"),
    phrase("not allowed with argument {name}"),
    phrase("ignored explicit argument {value}"),
    phrase("invalid {type} value: {value}"),
)


def _reworded(message: str) -> str:
    """Return what argparse says in the language of the reader."""
    for words in _WRONG_USAGES:
        values = recognized_values([(words, message)])
        if values is not None:
            named: dict[str, object] = {name: _reworded(value) for name, value in values.items()}
            return str(told(phrased(message, words, named)))
    return message


class _Parser(argparse.ArgumentParser):
    """The options of one command; it writes where the command does."""

    def __init__(self, name: str, help_text: str, out: Output) -> None:
        super().__init__(
            prog=name,
            description=told(help_text),
            allow_abbrev=False,
            formatter_class=_Help,
            add_help=False,
        )
        self._output = out
        self._positionals.title = say("positional arguments")
        self._optionals.title = say("options")
        self.add_argument(
            "-h", "--help", action="help", help=phrase("show this help message and exit")
        )
        self.add_argument(
            "--traceback",
            action="store_true",
            help=phrase("show where in the program an error arose"),
        )

    def shorten_usage(self) -> None:
        """Tell the arguments that have a place; the options are told below them, one by one."""
        places = [
            str(each.metavar) if each.nargs is None else f"[{each.metavar}]"
            for each in self._get_positional_actions()
        ]
        self.usage = " ".join([self.prog, say("[OPTIONS]"), *places])

    def print_help(self, _file: object = None) -> None:
        self._output.answer(self.format_help().rstrip("\n"))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = say(
                "there is no {got}: use one of {known}",
                got=plain(value),
                known=", ".join(action.choices),
            )
            raise argparse.ArgumentError(action, what)

    def error(self, message: str) -> NoReturn:
        what = f"{self.prog}: {told(ERROR)}: {_reworded(message)}"
        self._output.error(f"{self.format_usage()}{what}")
        raise SystemExit(_WRONG_USAGE)
