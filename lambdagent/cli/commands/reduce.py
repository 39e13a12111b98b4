"""``lambdagent reduce EXPR | FILE``."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from lambdagent.api import compiling, reducing
from lambdagent.cli.arguments import whole
from lambdagent.cli.files import standard_input
from lambdagent.cli.output import Output
from lambdagent.errors import UsageError, finding
from lambdagent.machine.reduction import STRATEGIES
from lambdagent.messages import phrase
from lambdagent.source import Source

_AGENTS = (".yml", ".yaml", ".json")
# What is read as the name of a file even where there is none: it has nothing that only terms have.
_PATH = re.compile(r"[^\s()\[\]{}λ\\\"`⟨⟩^]+")
_MAX_STEPS = 1000
# Characters of a term on one line: where no terminal has a width, and in the narrowest one.
_LONGEST, _LEAST = 1000, 20
# They stand around a redex where it cannot be bold.
_MARKS = "‹›"
_ENDLESS = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Take the term, the strategy and what is shown."""
    add = parser.add_argument
    add(
        "term",
        metavar="EXPR|FILE",
        help=phrase("a λ term, or a .lam file; - reads standard input"),
    )
    add(
        "--strategy",
        choices=STRATEGIES,
        default=STRATEGIES[0],
        help=phrase("call by value (as agents run), normal order, or call by need; default cbv"),
    )
    add(
        "--max-steps",
        type=whole(0),
        default=_MAX_STEPS,
        metavar="N",
        help=phrase("most steps; default {count}", count=_MAX_STEPS),
    )
    add("--fold", action="store_true", help=phrase("write known terms as TRUE, church[3], …"))
    add(
        "--full",
        action="store_true",
        help=phrase(
            "whole lines; without it a line ends at the width of the terminal, or elsewhere after "
            "{count} characters of the term, and … stands for the rest",
            count=f"{_LONGEST:,}",
        ),
    )
    add("--prelude", metavar="FILE", help=phrase("a .lam file with definitions"))


def run(arguments: Namespace, out: Output) -> int:
    """Print the term after each step, with the next redex marked, and how it ended."""
    prelude = compiling.read_source(arguments.prelude) if arguments.prelude else None
    start = reducing.reducible(_source(arguments.term), prelude)
    shown = reducing.lines(
        start, arguments.strategy, max_steps=arguments.max_steps, fold=arguments.fold
    )
    width = out.width()
    for line in shown:
        if isinstance(line, reducing.End):
            out.answer(line.text)
            return 0 if line.normal else _ENDLESS
        head = f"{line.number:>4} {line.rule:<5} "
        room = _LONGEST if width is None else max(width - len(head) - len(_MARKS), _LEAST)
        told = line if arguments.full else reducing.elided(line, room)
        out.marked(f"{head}{told.before}", told.redex, told.after)
    return 0


def _source(term: str) -> Source:
    """Return the text that the argument is or names; a file that is there wins."""
    if term == "-":
        return Source("<stdin>", standard_input())
    names_file = _PATH.fullmatch(term) is not None or _exists(term)
    if term.endswith(".lam") and names_file:
        return compiling.read_source(term)
    if term.endswith(_AGENTS) and names_file:
        raise UsageError(finding("U007", path=term))
    return Source("<expression>", term)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # such as of a term that is too long for a name
        return False
