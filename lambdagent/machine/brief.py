"""States read back for the eye: no more than some levels of each part, and short texts.

The cost of a look does not depend on how large values, programs and stores are.
"""

from __future__ import annotations

from typing import Any

import attrs

from lambdagent.ir.codec import decode_nodes
from lambdagent.ir.core import App, Lam, Lit, Prim, Term
from lambdagent.ir.data import Data, Record
from lambdagent.machine.link import Linked
from lambdagent.machine.readback import Readback, unlabelled
from lambdagent.machine.state import Value

# Stands for what is left out; printers write it as `MARK`.
ELIDED = Prim("site", ("host:…",))
MARK = "…"
_DEEPEST = 9
_LEVELS = 3
_PARTS = 6
_TEXT = 60


@attrs.frozen(eq=False)
class BriefReadback(Readback):
    """Reads states back to small terms, in which `ELIDED` stands for what is left out.

    Attributes:
        shown: Upper levels of nodes that were asked about, by id.
    """

    shown: dict[int, Term] = attrs.field(factory=dict, repr=False)

    @classmethod
    def of(cls, linked: Linked) -> BriefReadback:
        """Return what reads the states of `linked`."""
        return cls(decode_nodes([unlabelled(row) for row in linked.rows]))

    def node(self, number: int) -> Term:
        """Return the node `number`, its upper levels."""
        known = self.shown.get(number)
        if known is None:
            known = self.shown[number] = brief_term(self.nodes[number])
        return known

    def term(self, root: Value) -> Term:
        """Return the closed term of a value, its upper levels."""
        return self._shallow(root, _LEVELS)

    def _shallow(self, value: Value, levels: int) -> Term:
        parts = self._parts(value)
        if parts and not levels:
            return ELIDED
        return self._built(value, [self._shallow(part, levels - 1) for part in parts])

    def _built(self, value: Value, parts: list[Term]) -> Term:
        return Lit(brief_data(value)) if type(value) is not tuple else super()._built(value, parts)


def brief_term(root: Term, levels: int = _DEEPEST) -> Term:
    """Return the upper `levels` of a term; a chain of arguments is one level."""
    if not levels:
        return root if type(root) is not App and type(root) is not Lam else ELIDED
    match root:
        case Lam(body, name):
            return Lam(brief_term(body, levels - 1), name)
        case App():
            arguments: list[Term] = []
            head: Term = root
            while type(head) is App:
                arguments.append(head.arg)
                head = head.fun
            # A function that is applied reads as `let`, and its body is what is left out.
            built = brief_term(head, max(levels - 1, 1))
            arguments.reverse()
            if len(arguments) > _PARTS:
                arguments[_PARTS:-1] = [ELIDED]
            for argument in arguments:
                built = App(built, brief_term(argument, levels - 1))
            return built
        case Lit(value):
            return Lit(brief_data(value))
    return root


def brief_data(data: Any, levels: int = _LEVELS) -> Any:
    """Return a piece of `data` of the same kind: its upper levels, the first of its parts."""
    if isinstance(data, str):
        return data if len(data) <= _TEXT else f"{data[: _TEXT - 1]}{MARK}"
    if isinstance(data, tuple):
        if not levels:
            return (MARK,) if data else data
        some = tuple(brief_data(part, levels - 1) for part in data[:_PARTS])
        return some if len(data) <= _PARTS else (*some, MARK)
    if isinstance(data, Record):
        if not levels:
            return Record({MARK: None}) if data else data
        keys = list(data)[:_PARTS]
        some_items: dict[str, Data] = {
            brief_data(key): brief_data(data[key], levels - 1) for key in keys
        }
        return Record(some_items | ({MARK: None} if len(data) > _PARTS else {}))
    if isinstance(data, int) and not isinstance(data, bool) and data.bit_length() > 4 * _TEXT:
        return f"{hex(data)[: _TEXT - 1]}{MARK}"
    return data
