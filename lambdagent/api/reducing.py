"""λ texts → the terms that they reduce to, printed with the place of the next redex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import attrs

from lambdagent.errors import LambdaSyntaxError, finding
from lambdagent.frontend.lambda_agents import FORMS
from lambdagent.frontend.lambda_faults import first_of
from lambdagent.frontend.lambda_sites import no_term
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.core import Term
from lambdagent.ir.folding import Folding, Numbering
from lambdagent.ir.printer import View, print_marked, print_term
from lambdagent.machine.reduction import LARGEST, Step, impure, reduction
from lambdagent.source import Source

# Names that everyone knows; definitions of a file or a prelude win over them.
LIBRARY = """\
I = λx. x;
K = λx y. x;
S = λx y z. x z (y z);
TRUE = λt f. t;
FALSE = λt f. f;
AND = λp q. p q FALSE;
OR = λp q. p TRUE q;
NOT = λp. p FALSE TRUE;
PAIR = λa b s. s a b;
FST = λp. p TRUE;
SND = λp. p FALSE;
SUCC = λn f x. f (n f x);
ADD = λm n f x. m f (n f x);
MUL = λm n f. m (n f);
ISZERO = λn. n (λx. FALSE) TRUE;
"""
_SHOWN = 60
# Larger terms are not compared with those before: that would keep all of them in memory.
_COMPARED = 10_000


@attrs.frozen(eq=False)
class Reducible:
    """A pure term, and the terms that have a name, in the order in which they may be used."""

    term: Term = attrs.field(repr=False)
    known: Mapping[str, Term] = attrs.field(repr=False)


@attrs.frozen
class Line:
    """One term on the way.

    Attributes:
        number: How many steps led here.
        rule: The rule of the last one; empty at the start.
        before: The text before the redex; all of it where there is none.
        redex: The text of the redex.
        after: The text after it.
        path: The way from the root to the redex: ``fun``, ``arg`` and ``body``.
    """

    number: int
    rule: str
    before: str
    redex: str
    after: str
    path: tuple[str, ...]


@attrs.frozen
class End:
    """How a reduction ended.

    Attributes:
        steps: How many steps it took.
        text: One sentence.
        normal: It ended in a normal form.
    """

    steps: int
    text: str
    normal: bool


@cache
def library() -> Mapping[str, Term]:
    """Return the terms of `LIBRARY`."""
    return parse_lambda(Source("library", LIBRARY)).definitions


def reducible(source: Source, prelude: Source | None = None) -> Reducible:
    """Return the term of a λ text, which may use the names of `prelude` and of the library.

    Raises:
        LambdaSyntaxError: A text cannot be read, holds no term, or a term with effects.
    """
    known = dict(library())
    if prelude is not None:
        known |= parse_lambda(prelude, known).definitions
    file = parse_lambda(source, known)
    if file.agent is not None:
        form, place = first_of(FORMS, source.text) or ("agent", None)
        raise LambdaSyntaxError(finding("P037", place, what=form), source)
    if file.term is None:
        raise LambdaSyntaxError(no_term(file, "(λx. x) 1"), source)
    effect = impure(file.term)
    if effect is not None:
        sites = [*file.mentions.values()] if effect.name == "site" else []
        found = first_of([effect.name], source.text)
        where = sites[0] if sites else found[1] if found else None
        raise LambdaSyntaxError(finding("P037", where, what=print_term(effect)), source)
    return Reducible(file.term, {**known, **file.definitions})


def lines(
    start: Reducible, strategy: str = "cbv", *, max_steps: int = 1000, fold: bool = False
) -> Iterator[Line | End]:
    """Yield each term of a reduction as a line, and at last how it ended.

    Args:
        start: A pure term.
        strategy: One of `machine.reduction.STRATEGIES`.
        max_steps: Most steps.
        fold: Write the names of known terms, and numerals as ``church[n]``.
    """
    folding = Folding(start.known) if fold else None
    numbering = Numbering()
    seen: dict[int, int] = {}
    for step in reduction(start.term, strategy):
        if step.size > LARGEST:
            yield End(step.number, f"stopped after {_steps(step.number)}: {_GROWN}", normal=False)
            return
        yield _line(step, folding, lets=strategy == "need")
        first = step.number
        if step.size <= _COMPARED:
            first = seen.setdefault(numbering.number(step.term), step.number)
        end = _end(step, max_steps, first)
        if end is not None:
            yield end
            return


_GROWN = f"the term has grown past {LARGEST:,} nodes"


def _end(step: Step, max_steps: int, first_seen: int) -> End | None:
    count = _steps(step.number)
    if step.redex is None:
        if step.stuck is not None:
            text = print_term(step.stuck, limit=_SHOWN, labels=False)
            return End(
                step.number, f"stuck after {count}: no rule applies to {text}", normal=False
            )
        return End(step.number, f"{_reached(step.term)} reached after {count}", normal=True)
    if first_seen < step.number:
        again = f"it is the term of step {first_seen} again, so it never ends"
        return End(step.number, f"diverges: after {count} {again}", normal=False)
    if step.number >= max_steps:
        advice = "it may never end, or need a higher --max-steps"
        return End(step.number, f"stopped after {count}, still reducing: {advice}", normal=False)
    return None


def _reached(term: Term) -> str:
    """Return what a term without redex of its strategy is: a value may hold redexes under λ."""
    whole = next(reduction(term, "normal"))
    return "normal form" if whole.redex is None else "value"


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _line(step: Step, folding: Folding | None, *, lets: bool) -> Line:
    texts: Mapping[int, str] = {}
    reserved: Sequence[str] = ()
    if folding is not None:
        texts = folding.folded(step.term, _way(step))
        reserved = folding.names
    marked = step.redex.place.term if step.redex else None
    path = step.redex.path() if step.redex else ()
    parts = print_marked(step.term, View(texts, marked, lets), reserved)
    return Line(step.number, step.rule, *parts, path)


def elided(line: Line, width: int) -> Line:
    """Return `line` with at most `width` characters of text, those around the redex.

    ``…`` stands for what is left out: before, after, or in the middle of a long redex.
    """
    before, redex, after = line.before, line.redex, line.after
    if len(before) + len(redex) + len(after) <= width:
        return line
    if not redex:
        return attrs.evolve(line, before=_beginning(before, width))
    room = max(width - len(before) - len(after), width // 2)
    if len(redex) > room:
        half = (room - 1) // 2
        redex = f"{redex[: room - 1 - half]}…{redex[len(redex) - half :]}"
    rest = width - len(redex)
    left = min(len(before), max(rest - len(after), rest // 2))
    if len(before) > left:
        before = f"…{before[len(before) - left + 1 :]}" if left else ""
    return attrs.evolve(line, before=before, redex=redex, after=_beginning(after, rest - left))


def _beginning(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…" if width > 0 else ""


def _way(step: Step) -> set[int]:
    """Return the nodes around the redex, and itself: they are shown as they are."""
    kept = set()
    place = step.redex.place if step.redex else None
    while place is not None:
        kept.add(id(place.term))
        place = place.outer
    return kept
