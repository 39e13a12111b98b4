"""Program → linked program: code that the machine can step, and implementations for its sites.

A node's id is its row in the flat table of `ir.codec`, so code can be named by number in a stored
state. Code is a tuple: opcode, id, operands.

    (VAR, id, index)   (CONST, id, value)   (LAM, id, body)   (APP, id, fun, arg)
    (LABELLED, id, app, kind, name)   (SATURATED, id, constant, operands)
    constant = (CONST, id, None, name, arity, parameters, rule)

See Note [Large data is built once].
"""

# Note [Large data is built once]
#
# Where ``a`` is data, ``⟨a, a⟩`` is data of twice as many parts, and 60 such levels are a graph of
# 60 nodes that no machine could evaluate part by part. So data of more than `_MOST_PARTS` parts is
# built while linking, and is a constant. That saves administrative transitions alone: β δ μ γ ε π,
# traces and journals are as they would be.

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import attrs

from lambdagent.errors import plain
from lambdagent.ir.codec import encode_term
from lambdagent.ir.core import UNIT, Prim, arity
from lambdagent.ir.data import Data
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.walk import free_reach
from lambdagent.machine.border import BORDER, REFUSED, bordered
from lambdagent.machine.host import HOSTS
from lambdagent.machine.rules import FIRE, Misfit
from lambdagent.machine.state import (
    APP,
    CONST,
    LABELLED,
    LAM,
    NIL,
    NIL_VALUE,
    OPAQUE,
    PARTIAL,
    SATURATED,
    SITE,
    VAR,
    Code,
    Value,
)
from lambdagent.machine.store import STORES
from lambdagent.machine.values import inject, sketch

_BUILDERS = {"pair", "cons", "tag"}
_MOST_PARTS = 10_000

T = TypeVar("T")


@attrs.frozen(eq=False)
class LinkedSite:
    """A site and what answers it inside the machine; nothing for the other classes."""

    site: Site
    host: Callable[[Value], Value] | None = None
    store: Callable[[Value | None, Value], tuple[Value, Value]] | None = None
    cell: str = ""


_Sites: TypeAlias = Mapping[str, LinkedSite]


@attrs.frozen(eq=False, repr=False)
class Linked:
    """A program that is ready to run.

    Attributes:
        codes: Code by node id; the last one is the program.
        rows: The rows of `ir.codec` that the ids count.
    """

    program: Program
    codes: tuple[Code, ...]
    rows: tuple[Data, ...]
    sites: _Sites

    @cached_property
    def digest(self) -> str:
        """The digest of the program."""
        return self.program.digest()


# By program: codes, rows and sites hold nothing of one run, so all sessions share them.
_LINKED: WeakKeyDictionary[Program, tuple[tuple[Code, ...], tuple[Data, ...], _Sites]]
_LINKED = WeakKeyDictionary()


def link(program: Program) -> Linked:
    """Return `program` with code for its term and implementations for its sites; done once.

    Raises:
        KeyError: The term mentions a site that the table does not have.
        ValueError: The term is open.
    """
    parts = _LINKED.get(program)
    if parts is None:
        parts = _LINKED[program] = _parts(program)
    return Linked(program, *parts)


def _parts(program: Program) -> tuple[tuple[Code, ...], tuple[Data, ...], _Sites]:
    """Return codes, rows and sites of the linked program."""
    if free_reach(program.term):
        what = "an open term is no program"
        raise ValueError(what)
    term = bordered(program)
    rows = encode_term(term)
    codes: list[Code] = []
    spines: dict[int, tuple[Code, tuple[Code, ...]]] = {}
    data: dict[int, tuple[Value, int]] = {}
    for number, row in enumerate(rows):
        code = _code(number, row, codes, spines)
        known = _data(code, data)
        if known is not None:
            data[number] = known
            code = (CONST, number, known[0]) if known[1] > _MOST_PARTS else code
        codes.append(code)
    sites = {name: _linked_site(site) for name, site in program.sites.items()}
    if term is not program.term:
        sites[REFUSED.name] = LinkedSite(REFUSED)
        for name, host in BORDER.items():
            sites[name] = LinkedSite(Site(name, "border"), host=_total(name, host))
    for code in codes:
        if code[0] == CONST and type(code[2]) is tuple and code[2][0] == SITE:
            sites[code[2][1]]
    return tuple(codes), tuple(rows), sites


def _data(code: Code, known: Mapping[int, tuple[Value, int]]) -> tuple[Value, int] | None:
    """Return the value of a code that is data, and of how many parts it is; None for others."""
    if code[0] == CONST:
        is_data = type(code[2]) is not tuple or code[2][0] in {NIL, OPAQUE}
        return (code[2], 1) if is_data else None
    if code[0] != SATURATED or code[2][3] not in _BUILDERS:
        return None
    parts = [known[operand[1]] for operand in code[3] if operand[1] in known]
    if len(parts) < len(code[3]):
        return None
    rule, params = code[2][6], code[2][5]
    value = rule(params, [value for value, _ in parts], ())[1]
    return value, min(1 + sum(size for _, size in parts), _MOST_PARTS + 1)


def _total(name: str, function: Callable[..., T]) -> Callable[..., T]:
    """Return `function` with arguments that it cannot take made misfits of the machine.

    Lowered programs give host and store sites what they expect; terms written by hand may not.
    """

    def run(*arguments: Value) -> T:
        try:
            return function(*arguments)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"`{site_reference(name)}` applied to {sketch(arguments[-1])}"
            raise Misfit(what) from error

    return run


def _code(
    number: int,
    row: Data,
    codes: list[Code],
    spines: dict[int, tuple[Code, tuple[Code, ...]]],
) -> Code:
    """Return the code of `row`; `spines` knows the constants applied to some operands so far."""
    match row:
        case ("v", index, _):
            return (VAR, number, index)
        case ("l", int(body), _):
            return (LAM, number, codes[body])
        case ("a", int(fun), int(arg)):
            return _application(number, (fun, arg), codes, spines)
        case ("a", int(fun), int(arg), kind, name):
            # A labelled part of a spine is evaluated on its own, or its event would be lost.
            app = _application(number, (fun, arg), codes, spines)
            spines.pop(number, None)
            return (LABELLED, number, app, kind, name)
        case ("u",):
            return (CONST, number, UNIT)
        case ("c", value):
            return (CONST, number, inject(value))
        case ("p", str(name), tuple(params)):
            constant = _constant(number, Prim(name, params))
            if type(constant[2]) is tuple and constant[2][0] == PARTIAL:
                spines[number] = (constant[2][1], ())
            return constant
    what = f"no code for row {plain(row)}"
    raise ValueError(what)


def _application(
    number: int,
    parts: tuple[int, int],
    codes: list[Code],
    spines: dict[int, tuple[Code, tuple[Code, ...]]],
) -> Code:
    """Return the code of an application; a constant with all its operands is one code."""
    fun, arg = parts
    known = spines.get(fun)
    if known is None:
        return (APP, number, codes[fun], codes[arg])
    spec, operands = known[0], (*known[1], codes[arg])
    if len(operands) == spec[4]:
        return (SATURATED, number, spec, operands)
    spines[number] = (spec, operands)
    return (APP, number, codes[fun], codes[arg])


def _constant(number: int, prim: Prim) -> Code:
    """Return the code of a constant.

    The value of a control form is its partial application to nothing, which holds the constant's
    specification; see the head of the module.
    """
    if prim.name == "nil":
        return (CONST, number, NIL_VALUE)
    if prim.name == "site":
        return (CONST, number, (SITE, prim.params[0]))
    rule = FIRE.get(prim.name)
    spec = (CONST, number, None, prim.name, arity(prim), prim.params, rule)
    return (CONST, number, (PARTIAL, spec, ()))


def _linked_site(site: Site) -> LinkedSite:
    if site.site_class == "host":
        return LinkedSite(site, host=_total(site.name, HOSTS[site.kind](site.static)))
    if site.site_class == "store":
        cell = str(site.static["cell"])
        return LinkedSite(site, store=_total(site.name, STORES[site.kind](site.static)), cell=cell)
    return LinkedSite(site)
