"""Which transitions show a text: in the rule, the site, the redex or what it becomes."""

# Note [Looking before printing]
#
# To print a transition takes a millisecond, and a search may look at a million of them. Letters
# side by side can only be shown where they stand at some node of the program, or in some value,
# if they are none of the notation. So a search looks there first for the longest such piece of
# its text, in the places that `machine.brief` shows, and a bit beyond; nodes and values are looked
# at once. That takes a fiftieth of the time.

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from lambdagent.ir.core import ARITIES, Lam, Lit, Prim, Term, Unit, Var
from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.ir.walk import nodes
from lambdagent.machine.brief import brief_data
from lambdagent.machine.state import (
    AWAIT_OPERAND,
    SHAPES,
    Env,
    Eval,
    Fail,
    Halt,
    Kind,
    Kont,
    Return,
    Suspend,
    Thread,
    Value,
)
from lambdagent.trace.listing import kind_name
from lambdagent.trace.rulebook import RULES
from lambdagent.trace.sight import Sight
from lambdagent.trace.transition import Move, Transition, common, transition_of

# Words of the notation, which stand in texts of terms but at no node.
_NOTATION = (
    "let in if then else case of perform church json unit true false null infinity nan cond"
)
_KINDS = (*(kind.name.lower() for kind in Kind), "administrative")
_RUN = re.compile(r"[^\W\d_λ₀-₉]{2,}")  # what is numbered got its number from the printer
# Levels of a value that are looked at: more than are shown.
_LEVELS = 5
_REMEMBERED = 50_000


class Finder:
    """Looks for one text; capitals do not count."""

    def __init__(self, sight: Sight, text: str, known: Collection[str]) -> None:
        """Look for `text` as `sight` shows it, in which the names `known` may stand for terms."""
        self._sight = sight
        self._readback = sight.readback
        self._needle = text.casefold()
        rules = (f"{name} {rule.kind}" for name, rule in RULES.items())
        others = [
            *_NOTATION.split(),
            *ARITIES,
            *(name.casefold() for name in known),
            *rules,
            *_KINDS,
        ]
        runs = _RUN.findall(self._needle)
        telling = [run for run in runs if not any(run in word for word in others)]
        # The letters that are looked for first. See Note [Looking before printing].
        self._probe = max(telling, key=len, default="")
        self._seen_nodes: dict[int, bool] = {}
        self._seen_values: dict[int, tuple[Value, bool]] = {}

    def shown_by(self, move: Move) -> bool:
        """Whether the text occurs in what is shown of `move`."""
        return self.may_show(move) and self.shows(transition_of(self._readback, move))

    def shows(self, made: Transition) -> bool:
        """Whether the text occurs in what is shown of a transition."""
        names = f"{made.rule.name} {made.rule.kind} {kind_name(made)} {made.site.casefold()}"
        if self._needle in names:
            return True
        return any(
            self._needle in self._sight.term(term).casefold() for term in (made.redex, made.result)
        )

    def may_show(self, move: Move) -> bool:
        """Whether the text occurs in what a transition is about; True where that is not known."""
        before, after = move.before.threads[move.path], move.after.threads.get(move.path)
        if not self._probe or after is None:
            return True
        base = common(before.kont, after.kont)
        return self._in_thread(before, base) or self._in_thread(after, base)

    def _in_thread(self, thread: Thread, base: Kont) -> bool:
        match thread.state:
            case Eval(control, env):
                found = self._in_env(control[1], env)
            case Return(value) | Halt(value):
                found = self._in_value(value, _LEVELS)
            case Suspend(site, argument):
                found = self._probe in site.casefold() or self._in_value(argument, _LEVELS)
            case Fail(error):
                found = self._in_data(error)
            case _:  # the branches that it waits for
                return True
        kont = thread.kont
        while not found and kont is not base:
            found = self._in_frame(kont)
            kont = kont[1]
        return found

    def _in_frame(self, frame: Kont) -> bool:
        if frame[0] != AWAIT_OPERAND:
            return self._in_parts(frame, _LEVELS)
        _, _, (_, _, constant, operands), args, env = frame
        return (
            self._in_node(constant[1])
            or any(self._in_env(operand[1], env) for operand in operands)
            or self._in_values(args, _LEVELS)
        )

    def _in_parts(self, compound: Any, levels: int) -> bool:
        """Whether the text occurs in a part of a value or frame."""
        env: Env = ()
        for shape, part in zip(SHAPES[compound[0]], compound[1:], strict=True):
            if shape == "env":
                env = part
            found = (
                (shape == "value" and self._in_value(part, levels - 1))
                or (shape == "args" and self._in_values(part, levels - 1))
                or (shape == "data" and self._in_data(part))
            )
            if found:
                return True
        return any(
            self._in_env(part[1], env)
            for shape, part in zip(SHAPES[compound[0]], compound[1:], strict=True)
            if shape == "code"
        )

    def _in_values(self, values: Iterable[Value], levels: int) -> bool:
        return any(self._in_value(value, levels) for value in values)

    def _in_value(self, value: Value, levels: int) -> bool:
        if not levels:
            return False
        if type(value) is not tuple:
            return self._in_data(value)
        seen = self._seen_values.get(id(value))
        if seen is not None:
            return seen[1]
        found = self._in_parts(value, levels)
        if levels == _LEVELS:  # else it was not looked at deeply enough for all places
            if len(self._seen_values) > _REMEMBERED:
                self._seen_values.clear()
            self._seen_values[id(value)] = value, found
        return found

    def _in_env(self, number: int, env: Env) -> bool:
        """Whether the text occurs in a node or in the values of its variables."""
        if self._in_node(number):
            return True
        for index in self._readback.free_of(self._readback.node(number)):
            cell = env
            for _ in range(index):
                cell = cell[1]
            if self._in_value(cell[0], _LEVELS):
                return True
        return False

    def _in_node(self, number: int) -> bool:
        found = self._seen_nodes.get(number)
        if found is None:
            words = map(_word, nodes(self._readback.node(number)))
            found = self._seen_nodes[number] = any(self._probe in word for word in words)
        return found

    def _in_data(self, data: Data) -> bool:
        return not isinstance(data, Unit) and self._probe in data_text(brief_data(data)).casefold()


def _word(node: Term) -> str:
    """Return what is written for a node itself, in small letters."""
    match node:
        case Var(_, name) | Lam(_, name):
            return name.casefold()
        case Prim(name, params):
            return f"{name} {data_text(params)}".casefold()
        case Lit(value) if not isinstance(value, Unit):
            return data_text(value).casefold()
    return ""
