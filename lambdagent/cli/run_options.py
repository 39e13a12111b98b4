"""The options of ``lambdagent run``: those of specification 15.3, and ours."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable

from lambdagent.cli import budgets, keeping
from lambdagent.cli.arguments import whole
from lambdagent.cli.files import place
from lambdagent.errors import plain
from lambdagent.machine.engines import ENGINES
from lambdagent.messages import phrase, say

_MAX_TEMPERATURE = 2.0


def add_options(parser: ArgumentParser) -> None:
    """Take the file, the input and the options of specification 15.3."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        nargs="?",
        help=phrase("agent file: YAML, λ text (.lam) or tables (.json)"),
    )
    add("input", metavar="INPUT", nargs="?", help=phrase("the input; - reads standard input"))
    add(
        "--input",
        dest="input_file",
        type=place,
        metavar="FILE",
        help=phrase("read the input from a file"),
    )
    add("--trace", action="store_true", help=phrase("print the β-trace on standard error"))
    add("--trace-file", type=place, metavar="FILE", help=phrase("record the run, for `trace`"))
    add(
        "--record",
        type=place,
        metavar="FILE",
        help=phrase("write what the models said, for `script: {recording: …}`"),
    )
    add("--max-steps", type=whole(1), metavar="N", help=phrase("bound of every ReAct loop"))
    add("--temperature", type=_temperature, metavar="T", help=phrase("temperature of every agent"))
    add(
        "--timeout",
        type=_seconds,
        metavar="S",
        help=phrase("longest time for the run, in seconds"),
    )
    add(
        "--budget",
        action="append",
        default=[],
        type=budgets.limit,
        metavar=budgets.FORM,
        help=phrase("what the run may spend: tokens, usd, calls (of models) or seconds"),
    )
    add(
        "--engine",
        choices=ENGINES,
        help=phrase("what runs the program; the file decides by default"),
    )
    add("--model", metavar="MODEL", help=phrase("model of every agent"))
    add(
        "--tool",
        action="append",
        default=[],
        type=_named("NAME=COMMAND"),
        metavar="NAME=COMMAND",
        help=phrase("a shell command as a tool; {} becomes its input, without {} it reads stdin"),
    )
    add(
        "--tool-timeout", type=_seconds, metavar="S", help=phrase("longest time for one tool call")
    )
    add(
        "--env",
        action="append",
        default=[],
        type=_named("KEY=VALUE"),
        metavar="KEY=VALUE",
        help=phrase("something that the agent remembers from the start"),
    )
    add(
        "--user",
        metavar="NAME",
        help=phrase("whose memories of the scope `user` the run has"),
    )
    add(
        "--session",
        metavar="NAME",
        help=phrase("the session whose memories it has; without one they end with the run"),
    )
    add(
        "--checkpoint-dir",
        type=place,
        metavar="DIR",
        help=phrase("keep the run on disk, in a directory of its own"),
    )
    add("--resume", type=place, metavar="RUN", help=phrase("go on with a run that was kept"))
    add(
        "--in-doubt",
        choices=keeping.POLICIES,
        help=phrase("what to do with calls of which nobody knows whether they were carried out"),
    )
    add(
        "--force",
        action="store_true",
        help=phrase("go on with the program of FILE, as long as nothing that differs was called"),
    )
    add("--at", metavar="N", help=phrase("begin a new run that is as RUN was until step N"))
    add(
        "--answer",
        action="append",
        default=[],
        type=_named("N=TEXT"),
        metavar="N=TEXT",
        help=phrase("what step N answered, in a new run or where that is in doubt"),
    )
    add(
        "--edit",
        action="append",
        default=[],
        type=_named("PATH=VALUE"),
        metavar="PATH=VALUE",
        help=phrase(
            "what the new run has another of: input, a step's answer N, or a part of it N:field"
        ),
    )
    add(
        "--approve",
        action="append",
        default=[],
        nargs="?",
        metavar="KEY",
        help=phrase("make the call that waits for a person: the one at KEY, or all that wait"),
    )
    add(
        "--deny",
        action="append",
        default=[],
        metavar="[KEY=]WHY",
        help=phrase("do not make it, and tell the agent why"),
    )
    add(
        "--stream",
        action="store_true",
        help=phrase("print what models say while they do; the answer comes last"),
    )
    add(
        "--output",
        type=place,
        metavar="FILE",
        help=phrase("write the answer to a file instead of stdout"),
    )
    add("--format", choices=("text", "json"), default="text", help=phrase("form of the answer"))
    add("--quiet", "-q", action="store_true", help=phrase("print nothing but the answer"))
    add(
        "--verbose",
        "-v",
        action="store_true",
        help=phrase("print every step as it ends; on a terminal also what is under way"),
    )


def _named(form: str) -> Callable[[str], tuple[str, str]]:
    def parse(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            what = say("expected {expected}, got {got}", expected=form, got=plain(text))
            raise ArgumentTypeError(what)
        return name.strip(), value

    return parse


def _seconds(text: str) -> float:
    return _number(text, 0.001, 1e9, say("a number of seconds above 0"))


def _temperature(text: str) -> float:
    return _number(text, 0.0, _MAX_TEMPERATURE, say("a number from 0 to 2"))


def _number(text: str, low: float, high: float, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not low <= number <= high:
        what = say("expected {expected}, got {got}", expected=expected, got=plain(text))
        raise ArgumentTypeError(what)
    return number
