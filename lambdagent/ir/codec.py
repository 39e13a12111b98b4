"""Core terms ⇄ flat tables of rows.

A row is a tuple of JSON values; children stand before their parents and are named by row number,
the last row is the root. Equal nodes share a row, so the size is linear in distinct nodes.

    ("v", index, name)   ("l", body, name)   ("a", fun, arg[, kind, name])   ("c", value)   ("u",)
    ("p", name, params)
"""

from collections.abc import Sequence

from lambdagent.ir.core import (
    UNIT,
    App,
    Label,
    Lam,
    Lit,
    MalformedPrimError,
    Prim,
    Term,
    Unit,
    Var,
    arity,
)
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.walk import nodes
from lambdagent.messages import phrase

Row = tuple[Data, ...]


class MalformedRowsError(ValueError):
    """Rows that are no term."""


def encode_term(root: Term, *, names: bool = True) -> list[Data]:
    """Return the rows of `root`.

    Args:
        root: Any core term.
        names: Whether hints for bound variables are kept. Nodes that differ in hints alone share
            a row, which keeps the hint of the first: so α-equal terms are numbered alike.
    """
    table = RowTable(names=names)
    table.add(root)
    return table.rows


class RowTable:
    """Rows that grow as terms are added; equal nodes get the same number."""

    def __init__(self, *, names: bool = True) -> None:
        """Start an empty table."""
        self.rows: list[Data] = []
        self._names = names
        self._number_of_row: dict[object, int] = {}
        self._number_of_node: dict[int, int] = {}
        self._kept: list[Term] = []

    def add(self, root: Term) -> int:
        """Return the row number of `root`, adding what is new."""
        numbers = self._number_of_node
        for term in nodes(root):
            if id(term) in numbers:
                continue
            row = self._row(term)
            key = typed(row[:2] if row[0] == "v" or row[0] == "l" else row)
            if key not in self._number_of_row:
                self._number_of_row[key] = len(self.rows)
                self.rows.append(row)
            numbers[id(term)] = self._number_of_row[key]
            self._kept.append(term)
        return numbers[id(root)]

    def _row(self, term: Term) -> Row:
        numbers = self._number_of_node
        match term:
            case Var(index, name):
                return ("v", index, name if self._names else "")
            case Lam(body, name):
                return ("l", numbers[id(body)], name if self._names else "")
            case App(fun, arg, label):
                marks = () if label is None else (label.kind, label.name)
                return ("a", numbers[id(fun)], numbers[id(arg)], *marks)
            case Lit(value):
                return ("u",) if isinstance(value, Unit) else ("c", value)
            case Prim(name, params):
                return ("p", name, params)


def typed(value: object, depth: int = 4) -> object:
    """Return a key under which 1, 1.0 and True, 0.0 and -0.0, or objects in other order differ."""
    if type(value) is int or type(value) is str:
        return value
    if isinstance(value, tuple | Record) and depth == 0:  # further in, comparing would recurse
        return (type(value), data_text(value))
    if isinstance(value, tuple):
        return (tuple, *(typed(item, depth - 1) for item in value))
    if isinstance(value, Record):
        return (Record, *((key, typed(item, depth - 1)) for key, item in value.items()))
    if isinstance(value, float):
        return (float, repr(value))
    return (type(value), value)


def decode_term(rows: Sequence[Data]) -> Term:
    """Return the term whose rows these are.

    Raises:
        MalformedRowsError: The rows are no term: an unknown row, or one that names a later row.
    """
    built = decode_nodes(rows)
    if not built:
        what = phrase("no rows")
        raise MalformedRowsError(what)
    return built[-1]


def decode_nodes(rows: Sequence[Data]) -> list[Term]:
    """Return the node of every row; see `decode_term`."""
    built: list[Term] = []
    for row in rows:
        built.append(_node(row, built))
    return built


def _node(row: Data, built: list[Term]) -> Term:
    match row:
        case ("v", index, str(name)) if type(index) is int and index >= 0:
            return Var(index, name)
        case ("l", body, str(name)):
            return Lam(_at(built, body), name)
        case ("a", fun, arg):
            return App(_at(built, fun), _at(built, arg))
        case ("a", fun, arg, str(kind), str(name)):
            return App(_at(built, fun), _at(built, arg), Label(kind, name))
        case ("u",):
            return Lit(UNIT)
        case ("c", value):
            return Lit(value)
        case ("p", str(name), tuple(params)):
            prim = Prim(name, params)
            try:
                arity(prim)
            except MalformedPrimError as error:
                raise MalformedRowsError(str(error)) from None
            return prim
    what = phrase("row {row} is no node", row=len(built))
    raise MalformedRowsError(what)


def _at(built: list[Term], number: Data) -> Term:
    if type(number) is int and 0 <= number < len(built):
        return built[number]
    what = phrase(
        "row {row} names row {other}, which does not stand before it",
        row=len(built),
        other=data_text(number),
    )
    raise MalformedRowsError(what)
