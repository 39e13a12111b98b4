"""Pure λ: program → program of variables, abstractions and applications around its sites.

    true ↦ λa b. a      pair ↦ λa b f. f a b      cons ↦ λh t c n. c h (t c n)
    3 ↦ λf x. f (f (f x))      fix[n] ↦ n      if ↦ λc a b. c a b i      par[2] ↦ λt u. ⟨t i, u i⟩
    tag[L, lᵢ] ↦ λp k₁ … kₙ. kᵢ p      case[L] ↦ λs b₁ … bₙ. s b₁ … bₙ
    text ↦ Church list of bytes, a byte = λk. k b₇ … b₀

What is left are the sites and ``catch``, the free variables of the text, and atoms: numbers that
nothing counts with, texts where another type is wanted too, JSON, null. Each site learns the types
of its argument and its result, by which the machine decodes and encodes; see `ir.abi`. Where the
input or the answer of the program has an encoding, a border site is applied to it.

Numbers and bounds are terms as large as they are, so all of them together have a limit.

Source: semantics.md §10.
"""

from __future__ import annotations

from typing import cast

import attrs

from lambdagent.desugar.typing import infer
from lambdagent.ir import church
from lambdagent.ir.abi import DATA, INPUT, LARGEST_NUMERAL
from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data_text import integer_text
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import children, nodes

ANSWER = "border:answer"

_CONSTANTS: dict[str, Term] = {
    "pair": church.PAIR,
    "fst": church.FST,
    "snd": church.SND,
    "nil": church.NIL,
    "cons": church.CONS,
    "if": church.IF,
    "succ": church.SUCC,
    "pmap": church.PMAP,
}

# Constants whose terms have as many parts as their parameter says, by how they are written.
_UNARY = {"fix": "Y", "guard": "guard", "par": "par"}


class TooLargeError(ValueError):
    """The numerals of a program would be too large together; the text is the largest of them."""


def desugar_pure(program: Program) -> Program:
    """Return `program` in pure λ, with the types of its sites; one that has types is in pure λ.

    Raises:
        NoTypeError: A value is used as two things, so nobody could decode it, or it counts with a
            number that is too large.
        TooLargeError: Its numbers and bounds add up to more than `LARGEST_NUMERAL`.
    """
    if any((site.arg, site.result) != (None, None) for site in program.sites.values()):
        return program
    _limited(program.term, frozenset())
    found = infer(program)
    _limited(program.term, found.encoded)
    term = pure_term(program.term, found.encoded)
    sites = {
        name: attrs.evolve(site, arg=found.arg(name), result=found.result(name))
        for name, site in program.sites.items()
    }
    inner: Term = App(term, Var(0, "x"))
    if found.input != DATA:
        sites[INPUT] = Site(INPUT, "border", arg=DATA, result=found.input)
        inner = App(term, App(Prim("site", (INPUT,)), Var(0, "x")))
    if found.answer != DATA:
        sites[ANSWER] = Site(ANSWER, "border", arg=found.answer, result=DATA)
        inner = App(Prim("site", (ANSWER,)), inner)
    if found.input != DATA or found.answer != DATA:
        term = Lam(inner, "x")
    return attrs.evolve(program, term=term, sites=sites)


def _limited(root: Term, encoded: frozenset[int]) -> None:
    """Refuse what would grow too large; `encoded` is as for `pure_term`.

    What is shared counts each time, as if it were written each time.
    """
    totals: dict[int, int] = {}
    most, largest = 0, root
    for node in nodes(root):
        own = _extent(node, encoded)
        if own > most:
            most, largest = own, node
        total = own + sum(totals[id(child)] for child in children(node))
        totals[id(node)] = min(total, LARGEST_NUMERAL + 1)
    if totals[id(root)] > LARGEST_NUMERAL:
        form = _UNARY[largest.name] if type(largest) is Prim else ""
        shown = integer_text(most)
        raise TooLargeError(f"{form}[{shown}]" if form else shown)


def _extent(node: Term, encoded: frozenset[int]) -> int:
    """Return how many units `node` itself becomes; a text and a choice are as large as written."""
    if type(node) is Prim and node.name in _UNARY:
        return cast("int", node.params[0])
    if type(node) is Lit and type(node.value) is int and id(node) in encoded:
        return node.value
    return 0


def pure_term(root: Term, encoded: frozenset[int]) -> Term:
    """Return `root` with each constant replaced by a closed term; sharing is kept.

    Args:
        root: Any core term.
        encoded: Identities of the numbers and texts that are no atoms.
    """
    done: dict[int, Term] = {}
    for node in nodes(root):
        new: Term = node
        if type(node) is App:
            fun, arg = done[id(node.fun)], done[id(node.arg)]
            same = fun is node.fun and arg is node.arg and node.label is None
            new = node if same else App(fun, arg)
        elif type(node) is Lam:
            body = done[id(node.body)]
            new = node if body is node.body else Lam(body, node.name)
        elif type(node) is Lit:
            new = _literal(node, encoded=id(node) in encoded)
        elif type(node) is Prim:
            new = _constant(node)
        done[id(node)] = new
    return done[id(root)]


def _literal(node: Lit, *, encoded: bool) -> Term:
    value = node.value
    if value is UNIT:
        return church.IDENTITY
    if isinstance(value, bool):
        return church.TRUE if value else church.FALSE
    if not encoded:
        return node
    return church.text(value) if isinstance(value, str) else church.numeral(cast("int", value))


def _constant(node: Prim) -> Term:
    match node.name, node.params:
        case "tag", (tuple(labels), int(index)):
            return church.injection(len(labels), index)
        case "case", (tuple(labels),):
            return church.selection(len(labels))
        case "fix", (int(count),):
            return church.numeral(count)
        case "guard", (int(retries),):
            return church.guarded(retries)
        case "par", (int(count),):
            return church.sequence(count)
    return _CONSTANTS.get(node.name, node)
