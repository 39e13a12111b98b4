"""The core language: `Var Lam App Lit Prim`, and no sixth shape.

Variables are de Bruijn indices; names are hints for people and have no meaning. A `Prim` is a
named constant with static parameters and an arity: a control form (``fix[3]``, ``case[L]``,
``par[2]``) or an effect site (``site[llm:writer]``). Lazy operands stand under a lambda whose
variable is unused.

Source: semantics.md §2.

# Note [Nodes are not frozen at run time]

Programs are made of nodes by the ten thousand. A frozen attrs class sets its fields with
`object.__setattr__`, which takes three times as long as an assignment, and that was a fifth of the
time in which a chain of 500 stages is lowered (bench compile). So nodes are plain slotted classes
whose fields are `Final`: mypy refuses to assign to one, and nobody does.
"""

from __future__ import annotations

import enum
from math import inf
from typing import Final, TypeAlias

import attrs

from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.messages import phrase


class Unit(enum.Enum):
    """The type of ``()``."""

    UNIT = "()"


UNIT = Unit.UNIT


@attrs.define(unsafe_hash=True)
class Label:
    """Marks a macro trace event; it has no meaning for the result."""

    kind: Final[str]
    name: Final[str]


@attrs.define(eq=False, repr=False)
class Var:
    """The variable bound by the `index`-th lambda around it, counted from 0 outwards."""

    index: Final[int]
    name: Final[str] = ""


@attrs.define(eq=False, repr=False)
class Lam:
    """``λx. body``; `name` is a hint for `x`."""

    body: Final[Term]
    name: Final[str] = "x"


@attrs.define(eq=False, repr=False)
class App:
    """`fun` applied to `arg`; both are evaluated, `fun` first."""

    fun: Final[Term]
    arg: Final[Term]
    label: Final[Label | None] = None


@attrs.define(eq=False, repr=False)
class Lit:
    """A constant: ``()``, a JSON scalar, or opaque JSON that the program passes along."""

    value: Final[Data | Unit]


@attrs.define(eq=False, repr=False)
class Prim:
    """The constant ``name[params]``; it fires when applied to as many arguments as its arity."""

    name: Final[str]
    params: Final[tuple[Data, ...]] = ()


Term: TypeAlias = Var | Lam | App | Lit | Prim

# Arity by name; None where the parameters decide.
ARITIES: dict[str, int | None] = {
    "pair": 2,
    "fst": 1,
    "snd": 1,
    "nil": 0,
    "cons": 2,
    "tag": 1,
    "if": 3,
    "case": None,
    "fix": 2,
    "guard": 3,
    "par": None,
    "pmap": 2,
    "site": 1,
    "catch": 2,
    "succ": 1,
}

_INDEXED = {"fix", "guard", "par", "site", "case", "tag"}


class MalformedPrimError(ValueError):
    """A `Prim` whose name or parameters the calculus does not know."""


def arity(prim: Prim) -> int:
    """Return how many arguments `prim` takes before it fires.

    Raises:
        MalformedPrimError: The name or the parameters are not of the calculus.
    """
    name, params = prim.name, prim.params
    if name not in ARITIES or not _params_fit(name, params):
        what = phrase("no primitive `{name}{params}`", name=name, params=data_text(params))
        raise MalformedPrimError(what)
    fixed = ARITIES[name]
    if fixed is not None:
        return fixed
    first = params[0]
    if isinstance(first, tuple):
        return 1 + len(first)
    return first if isinstance(first, int) else 0


def takes(prim: Prim) -> float:
    """Return the arity of `prim`; infinity if the calculus does not know it: it never fires."""
    try:
        return arity(prim)
    except MalformedPrimError:
        return inf


def _params_fit(name: str, params: tuple[Data, ...]) -> bool:
    if not params:
        return name not in _INDEXED
    if any(isinstance(param, bool) for param in params):
        return False
    match name, params:
        case (("fix" | "guard"), (int(n),)):
            return n >= 0
        case "par", (int(n),):
            return n >= 1
        case "pmap", (int(n),):
            return n >= 1
        case "pmap", (int(n), int(m)):
            return n >= 1 and m >= 1
        case "site", (str(),):
            return True
        case "case", (tuple(labels),):
            return _are_labels(labels)
        case "tag", (tuple(labels), int(i)):
            return _are_labels(labels) and 0 <= i < len(labels)
    return False


def _are_labels(labels: tuple[Data, ...]) -> bool:
    return (
        len(labels) > 0
        and all(isinstance(label, str) for label in labels)
        and len(set(labels)) == len(labels)
    )
