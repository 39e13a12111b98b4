"""Pure λ at the border: around each typed site, terms that decode its argument, encode its answer.

    site ↦ λv. enc (site (dec v))      dec at pair = λv. v (λa b. ⟨dec a, dec b⟩)
    dec at bool = λv. v true false     dec at nat = λv. v succ 0      dec at list = λv. v cons nil

The terms are part of the linked program, so probing is done by the machine itself, on every
engine. What is no function is native and stays as it is.

Source: semantics.md §10 (ABI).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Final

from lambdagent.ir import church
from lambdagent.ir.abi import DATA
from lambdagent.ir.church import apps, lams
from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.program import Program
from lambdagent.ir.walk import nodes
from lambdagent.machine.state import CLOSURE, OPAQUE, PAIR, TAGGED, Value
from lambdagent.machine.values import list_items


def is_function(value: Value) -> bool:
    """Whether `value` is a function of either engine."""
    if type(value) is tuple:
        return bool(value[0] >= CLOSURE and value[0] != OPAQUE)
    return type(value) is FunctionType


def is_pair(value: Value) -> bool:
    """Whether `value` is a native pair."""
    return type(value) is tuple and value[0] == PAIR


def is_tagged(value: Value) -> bool:
    """Whether `value` is a native value of a sum."""
    return type(value) is tuple and value[0] == TAGGED


def is_bool(value: Value) -> bool:
    """Whether `value` is a native boolean."""
    return isinstance(value, bool)


def pack(value: Value) -> Value:
    """Return the text whose UTF-8 bytes `value` lists, each as the list of its bits."""
    numbers = [
        int("".join("01"[bit] for bit in list_items(bits)), 2) for bits in list_items(value)
    ]
    return bytes(numbers).decode("utf-8", "surrogatepass")


BORDER: Final[Mapping[str, Callable[[Value], Value]]] = {
    "border:function": is_function,
    "border:pair": is_pair,
    "border:tagged": is_tagged,
    "border:bool": is_bool,
    "border:pack": pack,
}


def bordered(program: Program) -> Term:
    """Return the term of `program` with its typed sites decoding and encoding."""
    typed = {n: s for n, s in program.sites.items() if s.arg is not None or s.result is not None}
    if not typed:
        return program.term
    wrapped: dict[str, Term] = {}
    done: dict[int, Term] = {}
    for node in nodes(program.term):
        new: Term = node
        if type(node) is App:
            new = App(done[id(node.fun)], done[id(node.arg)], node.label)
        elif type(node) is Lam:
            new = Lam(done[id(node.body)], node.name)
        elif type(node) is Prim and node.name == "site" and node.params[0] in typed:
            name = str(node.params[0])
            if name not in wrapped:
                site = typed[name]
                wrapped[name] = _around(node, site.arg or DATA, site.result or DATA)
            new = wrapped[name]
        done[id(node)] = new
    return done[id(program.term)]


def _around(site: Term, arg: Data, result: Data) -> Term:
    decode, encode = decoder(arg), encoder(result)
    if decode is None and encode is None:
        return site
    inner = Var(0) if decode is None else App(decode, Var(0))
    called = App(site, inner)
    return lams("v", called if encode is None else App(encode, called))


def _ask(name: str, value: Term) -> Term:
    return App(Prim("site", (name,)), value)


def _if(condition: Term, then: Term, otherwise: Term) -> Term:
    """Return a choice; both branches stand under one more binder than the condition."""
    return apps(Prim("if"), condition, lams("_", then), lams("_", otherwise))


def _apply(function: Term | None, value: Term) -> Term:
    return value if function is None else App(function, value)


def decoder(kind: Data) -> Term | None:
    """Return the closed term from encoded to native values of `kind`; None is the identity."""
    probed = _probed(kind)
    if probed is None:
        return None
    return lams("v", _if(_ask("border:function", Var(0)), probed, Var(1)))


def _probed(kind: Data) -> Term | None:
    """Return what ``^1`` is in native values."""
    function, zero, empty = Var(1), Lit(0), Prim("nil")
    match kind:
        case "unit":
            return Lit(UNIT)
        case "bool":
            return apps(function, Lit(True), Lit(False))  # noqa: FBT003
        case "nat":
            return apps(function, Prim("succ"), zero)
        case "text":
            return _ask("border:pack", apps(function, _BYTE_CONS, empty))
        case ("pair", left, right):
            parts = (_apply(decoder(left), Var(1)), _apply(decoder(right), Var(0)))
            return App(function, lams("a b", apps(Prim("pair"), *parts)))
        case ("list", item):
            cons = lams("h t", apps(Prim("cons"), _apply(decoder(item), Var(1)), Var(0)))
            return apps(function, cons, empty)
        case ("sum", Record() as parts):
            labels = (*parts,)
            tags = (
                lams("p", App(Prim("tag", (labels, i)), _apply(decoder(part), Var(0))))
                for i, part in enumerate(parts.values())
            )
            return apps(function, *tags)
    return None


def _byte_cons() -> Term:
    """Return ``λh t. h (λb₇ … b₀. [b₇ true false, …]) :: t``."""
    bits: Term = Prim("nil")
    for index in range(8):
        bit = apps(Var(index), Lit(True), Lit(False))  # noqa: FBT003
        bits = apps(Prim("cons"), bit, bits)
    names = " ".join(f"b{i}" for i in range(7, -1, -1))
    return lams("h t", apps(Prim("cons"), App(Var(1), lams(names, bits)), Var(0)))


_BYTE_CONS: Final = _byte_cons()


def encoder(kind: Data) -> Term | None:
    """Return the closed term from native to encoded values of `kind`; None is the identity.

    Numbers, texts and lists from outside stay atoms.
    """
    match kind:
        case "unit":
            return lams("v", church.IDENTITY)
        case "bool":
            chosen = _if(Var(0), church.TRUE, church.FALSE)
            return _only("border:bool", chosen)
        case ("pair", left, right):
            first = _apply(encoder(left), App(Prim("fst"), Var(0)))
            second = _apply(encoder(right), App(Prim("snd"), Var(0)))
            return _only("border:pair", apps(church.PAIR, first, second))
        case ("sum", Record() as parts):
            count = len(parts)
            branches = (
                lams("p", App(church.injection(count, i), _apply(encoder(part), Var(0))))
                for i, part in enumerate(parts.values())
            )
            chosen = apps(Prim("case", ((*parts,),)), Var(0), *branches)
            return _only("border:tagged", chosen)
    return None


def _only(test: str, encoded: Term) -> Term:
    """Return ``λv. if (test v) encoded v``; what fails the test is an atom of unknown shape."""
    return lams("v", _if(_ask(test, Var(0)), App(lams("v", encoded), Var(1)), Var(1)))
