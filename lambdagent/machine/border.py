"""Pure λ at the border: around each typed site, terms that decode its argument, encode its answer.

    site ↦ λv. enc (site (dec v))      dec at pair = λv. v (λa b. ⟨dec a, dec b⟩)
    dec at bool = λv. v true false     dec at nat = λv. v succ 0      dec at list = λv. v cons nil
    enc at nat, list, text = a fold over the units, the items, the bytes

The terms are part of the linked program, so probing is done by the machine itself, on every
engine. What is no function is native: decoding leaves it as it is.

Source: semantics.md §10 (ABI).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Final

from lambdagent.errors import finding, in_english
from lambdagent.ir import church
from lambdagent.ir.abi import DATA, INPUT, LARGEST_NUMERAL
from lambdagent.ir.church import apps, lams
from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import nodes
from lambdagent.machine.state import CLOSURE, CONS, OPAQUE, TAGGED, Value
from lambdagent.machine.values import (
    inject,
    is_pair,
    list_items,
    list_value,
    pair,
    proper_list,
    sketch,
    tagged,
)
from lambdagent.messages import phrase

_VIEW: Final = ("item", "end")
# More than any list has items.
_UNBOUNDED: Final = 1 << 62


def is_function(value: Value) -> bool:
    """Whether `value` is a function of either engine."""
    if type(value) is tuple:
        return bool(value[0] >= CLOSURE and value[0] != OPAQUE)
    return type(value) is FunctionType


def is_tagged(value: Value) -> bool:
    """Whether `value` is a native value of a sum."""
    return type(value) is tuple and value[0] == TAGGED


def is_unit(value: Value) -> bool:
    """Whether `value` is ``()``."""
    return value is UNIT


def is_bool(value: Value) -> bool:
    """Whether `value` is a native boolean."""
    return isinstance(value, bool)


def pack(value: Value) -> Value:
    """Return the text whose UTF-8 bytes `value` lists, each as the list of its bits."""
    numbers = [
        int("".join("01"[bit] for bit in list_items(bits)), 2) for bits in list_items(value)
    ]
    return bytes(numbers).decode("utf-8", "surrogatepass")


def is_natural(value: Value) -> bool:
    """Whether `value` is a number that becomes a numeral."""
    return type(value) is int and 0 <= value <= LARGEST_NUMERAL


def is_text(value: Value) -> bool:
    """Whether `value` is a text."""
    return isinstance(value, str)


def is_list(value: Value) -> bool:
    """Whether `value` is a list, native or an array of the world."""
    if type(value) is tuple and value[0] == OPAQUE:
        return True
    return proper_list(value) is not None


def units(value: Value) -> Value:
    """Return the list of as many units as `value` says."""
    return list_value([UNIT] * value)


def items(value: Value) -> Value:
    """Return a list as a native one."""
    return list_value(map(inject, value[1])) if value[0] == OPAQUE else value


def unpack(value: Value) -> Value:
    """Return the list of the UTF-8 bytes of a text, each as the list of its bits."""
    return list_value(
        list_value(bool(byte >> i & 1) for i in range(7, -1, -1))
        for byte in value.encode("utf-8", "surrogatepass")
    )


def view(value: Value) -> Value:
    """Return what a native list begins with, ``item⟨head, tail⟩``, or ``end⟨()⟩``."""
    if value[0] == CONS:
        return tagged(_VIEW, 0, pair(value[1], value[2]))
    return tagged(_VIEW, 1, UNIT)


def refusal(value: Value) -> Value:
    """Return the error data of ``⟨site, ⟨what is wanted, value⟩⟩``."""
    _, site, (_, wanted, got) = value
    whence = phrase("the answer of `{site}`", site=site) if site != INPUT else phrase("the input")
    found = finding("R007", whence=whence, wanted=wanted, got=sketch(got))
    return Record(in_english(found))


BORDER: Final[Mapping[str, Callable[[Value], Value]]] = {
    "border:function": is_function,
    "border:pair": is_pair,
    "border:tagged": is_tagged,
    "border:unit": is_unit,
    "border:bool": is_bool,
    "border:pack": pack,
    "border:natural": is_natural,
    "border:text": is_text,
    "border:list": is_list,
    "border:units": units,
    "border:items": items,
    "border:unpack": unpack,
    "border:view": view,
    "border:refusal": refusal,
}
REFUSED: Final = Site(
    "border:refused",
    "fail",
    Record(error="EncodingError", message="a value of the world does not have its type"),
)


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
                wrapped[name] = _around(node, typed[name])
            new = wrapped[name]
        done[id(node)] = new
    return done[id(program.term)]


def _around(ask: Term, site: Site) -> Term:
    decode, encode = decoder(site.arg or DATA), encoder(site.result or DATA, site.name)
    if decode is None and encode is None:
        return ask
    inner = Var(0) if decode is None else App(decode, Var(0))
    called = App(ask, inner)
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


def encoder(kind: Data, site: str) -> Term | None:
    """Return the closed term from native to encoded values of `kind`; None is the identity.

    Args:
        kind: A type.
        site: Who answers, for the error where there is no encoding.
    """
    match kind:
        case "unit":
            return _only("border:unit", church.IDENTITY)
        case "bool":
            return _only("border:bool", _BOOL)
        case "nat":
            numeral = _fold(lams("_ k", App(church.SUCC, Var(0))), church.numeral(0))
            counted = App(numeral, _ask("border:units", Var(0)))
            # Data of the program, so never in the language of a reader.
            largest = f"{LARGEST_NUMERAL:,}"
            wanted = str(phrase("natural number up to {largest}", largest=largest))
            return _only("border:natural", counted, _refuse(site, wanted))
        case "text":
            read = App(_TEXT, _ask("border:unpack", Var(0)))
            return _only("border:text", read, _refuse(site, "text"))
        case ("list", item):
            cons = lams("h t", apps(church.CONS, _apply(encoder(item, site), Var(1)), Var(0)))
            listed = App(_fold(cons, church.NIL), _ask("border:items", Var(0)))
            return _only("border:list", listed, _refuse(site, "list"))
        case ("pair", left, right):
            first = _apply(encoder(left, site), App(Prim("fst"), Var(0)))
            second = _apply(encoder(right, site), App(Prim("snd"), Var(0)))
            return _only("border:pair", apps(church.PAIR, first, second))
        case ("sum", Record() as parts):
            count = len(parts)
            branches = (
                lams("p", App(church.injection(count, i), _apply(encoder(part, site), Var(0))))
                for i, part in enumerate(parts.values())
            )
            chosen = apps(Prim("case", ((*parts,),)), Var(0), *branches)
            return _only("border:tagged", chosen)
    return None


def _only(test: str, encoded: Term, otherwise: Term | None = None) -> Term:
    """Return ``λv. if (test v) encoded otherwise``.

    Args:
        test: A host site.
        encoded: The encoding of ``v``, which is ``^0``.
        otherwise: What becomes of other values, ``v`` being ``^1``; by default they are atoms.
    """
    chosen = App(lams("v", encoded), Var(1))
    return lams("v", _if(_ask(test, Var(0)), chosen, otherwise or Var(1)))


def _refuse(site: str, wanted: str) -> Term:
    """Return the failure that the answer ``^1`` of `site` is not what is `wanted`."""
    got = apps(Prim("pair"), Lit(site), apps(Prim("pair"), Lit(wanted), Var(1)))
    return _ask(REFUSED.name, _ask("border:refusal", got))


def _fold(cons: Term, nil: Term) -> Term:
    """Return ``λl. cons l₁ (cons l₂ (… nil))`` for closed terms and a native list."""
    tail = App(Var(2), App(Prim("snd"), Var(0)))
    item = lams("p", apps(cons, App(Prim("fst"), Var(0)), tail))
    seen = apps(Prim("case", (_VIEW,)), _ask("border:view", Var(0)), item, lams("_", nil))
    return apps(Prim("fix", (_UNBOUNDED,)), lams("self l", seen), lams("_", nil))


_BOOL: Final = _if(Var(0), church.TRUE, church.FALSE)
# λk. k b₇ … b₀ from the list of the bits: each hands k, applied to it, to the next ones.
_BYTE: Final = _fold(
    lams("b more k", App(Var(1), App(Var(0), App(lams("v", _BOOL), Var(2))))), church.IDENTITY
)
_TEXT: Final = _fold(lams("h t", apps(church.CONS, App(_BYTE, Var(1)), Var(0))), church.NIL)
