"""Values in direct style → values of the stepping machine.

They differ in functions alone: a Python function stands for a closure, a fixpoint, a guard, a site
or a constant with some of its operands. Its name says which, its free variables hold the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any

import attrs

from lambdagent.ir.core import UNIT
from lambdagent.machine.direct import Direct, Scope
from lambdagent.machine.state import (
    CLOSURE,
    CONS,
    FIXPOINT,
    GUARDED,
    PAIR,
    PARTIAL,
    SITE,
    TAGGED,
    Value,
)


def exported(root: Value, direct: Direct, known: Collection[int] = ()) -> Value:
    """Return `root` with functions as the stepping machine has them.

    Args:
        root: A value.
        direct: The program that made it.
        known: Parts, by `id`, that hold no function of it.
    """
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        kind = type(value)
        if kind is FunctionType:
            return _Exporter(direct).value(root)
        if kind is not tuple or id(value) in seen or id(value) in known:
            continue
        seen.add(id(value))
        tag = value[0]
        # Written out: every run walks all that it has remembered.
        if tag <= CONS:  # or PAIR
            stack.append(value[2])
            stack.append(value[1])
        elif tag == TAGGED:
            stack.append(value[3])
    return root


def _items(value: Value) -> tuple[Value, ...]:
    """Return the values that a pair, a list or a tagged value holds."""
    if value[0] in {PAIR, CONS}:
        return tuple(value[1:])
    return (value[3],) if value[0] == TAGGED else ()


@attrs.frozen(eq=False)
class _Loop:
    """The function that a fixpoint in direct style hands to its body: `function` is ``k``."""

    n: int
    function: Any


@attrs.frozen(eq=False)
class _Exporter:
    """Works with an explicit stack; `done` has each value, by `id`, and what it became."""

    direct: Direct
    done: dict[int, tuple[Value, Value]] = attrs.field(factory=dict)

    def value(self, root: Value) -> Value:
        stack: list[tuple[Value, Any, list[Value]]] = [(root, *self._parts(root))]
        while stack:
            value, build, parts = stack[-1]
            waiting = [part for part in parts if id(part) not in self.done]
            if waiting:
                stack.append((waiting[0], *self._parts(waiting[0])))
                continue
            stack.pop()
            self.done[id(value)] = (value, build([self.done[id(part)][1] for part in parts]))
        return self.done[id(root)][1]

    def _parts(self, value: Value) -> tuple[Callable[[list[Value]], Value], list[Value]]:
        """Return what makes the value from its parts, and the parts."""
        if type(value) is tuple:
            items = _items(value)
            head = value[: len(value) - len(items)]
            return lambda done: (*head, *done), list(items)
        if type(value) is _Loop:
            return self._loop(value)
        if type(value) is FunctionType:
            return self._function(value)
        return lambda _: value, []

    def _function(self, function: Any) -> tuple[Callable[[list[Value]], Value], list[Value]]:
        cells = _cells(function)
        name = function.__code__.co_name
        match name:
            case "site":
                site = _cells(cells["ask"])["name"]
                return lambda _: (SITE, site), []
            case "partial":
                spec = cells["spec"]
                return lambda done: (PARTIAL, spec, tuple(done)), list(cells["args"])
            case "fixpoint":
                n = cells["n"]
                return lambda done: (FIXPOINT, n, *done), [cells["body"], cells["exhaustion"]]
            case "guarded":
                n = cells["n"]
                parts = [cells["agent"], cells["predicate"], cells["fallback"]]
                return lambda done: (GUARDED, n, *done), parts
        if name.startswith("fixed"):
            loop = name.removeprefix("fixed")
            return self._parts(_Loop(cells["n"], cells[f"k{loop}"]))
        code, scope = self.direct.functions[name]
        return lambda done: (CLOSURE, code, _env(done)), self._scope(scope, cells)

    def _loop(self, value: _Loop) -> tuple[Callable[[list[Value]], Value], list[Value]]:
        name = value.function.__code__.co_name
        cells = _cells(value.function)
        number = name.removeprefix("k")
        code, scope = self.direct.functions[name]
        parts = [cells[f"e{number}"], *self._scope(scope, _cells(cells[f"g{number}"]))]
        n = value.n
        return lambda done: (FIXPOINT, n, (CLOSURE, code, _env(done[1:])), done[0]), parts

    def _scope(self, scope: Scope, cells: Mapping[str, Value]) -> list[Value]:
        """Return the value of each variable in scope; one that is not used is unit."""
        found: list[Value] = []
        for bound in scope:
            if bound.loop is None:
                found.append(cells.get(bound.name, self.direct.names.get(bound.name, UNIT)))
            elif f"k{bound.loop}" in cells and f"n{bound.loop}" in cells:
                found.append(_Loop(cells[f"n{bound.loop}"], cells[f"k{bound.loop}"]))
            else:
                found.append(UNIT)
        return found


def _env(values: list[Value]) -> Value:
    env: Value = ()
    for value in reversed(values):
        env = (value, env)
    return env


def _cells(function: Any) -> dict[str, Any]:
    """Return the free variables of a Python function."""
    names = function.__code__.co_freevars
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
