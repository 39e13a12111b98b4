"""The evaluator of safe expressions, as used by guards, loops and group chats.

In: the rows that `frontend.expression` makes, which documents them, and the values of the names.
Out: a value, or `EvaluationError`, the only exception. One evaluation takes at most 0.2 s and
50 MB, and gives the same answer wherever it runs: the bounds count work, not time.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from lambdagent.errors import plain, shown
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.machine import expression_values
from lambdagent.machine.expression_functions import FUNCTIONS, method_of
from lambdagent.machine.expression_values import (
    Meter,
    binary,
    contains,
    fail,
    iterate,
    key,
    kind,
    text,
)

EvaluationError = expression_values.EvaluationError

_MAX_DEPTH = 100
_PLAIN = (type(None), bool, int, float, str, tuple, Record)

Scope: TypeAlias = Mapping[str, Any]


def evaluate(expr: Data, names: Mapping[str, object]) -> object:
    """Return the value of `expr`.

    Args:
        expr: Rows of `frontend.expression`; rows of any other form raise.
        names: Their values must be JSON data. Lists appear as tuples, dicts as mappings.

    Raises:
        EvaluationError: For every failure: a wrong type, a missing key, a bound that was reached.
    """
    try:
        scope = {n: v if isinstance(v, _PLAIN) else freeze(v) for n, v in names.items()}
        return _Run().value(expr, scope)
    except RecursionError as error:
        reason = "the expression or a value nests too deep"
        raise EvaluationError(reason) from error
    except (
        *(ArithmeticError, AttributeError, LookupError, MemoryError),
        *(RuntimeError, TypeError, ValueError),
    ) as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise EvaluationError(reason) from error


def check(expr: Data, names: Mapping[str, object]) -> tuple[bool, str | None]:
    """Return whether `expr` holds; an exception means no, and is given as the reason."""
    try:
        return bool(evaluate(expr, names)), None
    except EvaluationError as error:
        return False, error.reason


@attrs.frozen(eq=False)
class _Run:
    """One evaluation. `depth` has an item for each row under way, at most `_MAX_DEPTH`."""

    meter: Meter = attrs.field(factory=Meter)
    depth: list[None] = attrs.field(factory=list)

    def value(self, row: Any, scope: Scope) -> Any:
        """Return the value of one row."""
        self.meter.pay(1)
        self.depth.append(None)
        if len(self.depth) > _MAX_DEPTH:
            fail("the expression nests too deep")
        result = _FORMS[row[0]](self, row, scope)
        # Not in a `finally`: no form catches, so after an exception the run is over.
        self.depth.pop()
        return result

    def values(self, rows: Any, scope: Scope) -> tuple[Any, ...]:
        return tuple(self.value(row, scope) for row in rows)

    def each(self, element: Any, clauses: Any, scope: Scope) -> Iterator[Any]:
        """Yield the value of `element` for every turn of a comprehension."""
        inner = dict(scope)
        for _ in self.turns(clauses, inner):
            yield self.value(element, inner)

    def turns(self, clauses: Any, scope: dict[str, Any]) -> Iterator[None]:
        """Bind the targets in `scope` for each turn in which all conditions hold."""
        if not clauses:
            yield None
            return
        (targets, whole, iterable, conditions), rest = clauses[0], clauses[1:]
        for item in iterate(self.value(iterable, scope)):
            self.meter.pay(1)
            self.bind(targets, item, scope, whole=whole)
            if all(self.value(condition, scope) for condition in conditions):
                yield from self.turns(rest, scope)

    def bind(self, targets: Any, item: Any, scope: dict[str, Any], *, whole: bool) -> None:
        if whole:
            scope[targets[0]] = item
            return
        if not isinstance(item, str | tuple) or len(item) != len(targets):
            fail(f"{kind(item)} cannot be unpacked into {len(targets)} names")
        scope.update(zip(targets, item, strict=True))


def _const(_run: _Run, row: Any, _scope: Scope) -> object:
    value = row[1]
    return value if isinstance(value, _PLAIN) else fail("a literal is no data")


def _name(_run: _Run, row: Any, scope: Scope) -> object:
    if row[1] not in scope:
        fail(f"the name `{row[1]}` has no value")
    return scope[row[1]]


def _tuple(run: _Run, row: Any, scope: Scope) -> object:
    return run.values(row[1], scope)


def _set(run: _Run, row: Any, scope: Scope) -> object:
    return dict.fromkeys(key(run.meter, v) for v in run.values(row[1], scope)).keys()


def _dict(run: _Run, row: Any, scope: Scope) -> object:
    names = [key(run.meter, name) for name in run.values(row[1], scope)]
    return dict(zip(names, run.values(row[2], scope), strict=True))


def _text(run: _Run, row: Any, scope: Scope) -> object:
    parts = tuple(text(run.meter, value) for value in run.values(row[1], scope))
    return method_of("", "join")(run.meter, "", parts)


def _not(run: _Run, row: Any, scope: Scope) -> object:
    return not run.value(row[1], scope)


def _neg(run: _Run, row: Any, scope: Scope) -> object:
    return binary(run.meter, "-", 0, run.value(row[1], scope))


def _pos(run: _Run, row: Any, scope: Scope) -> object:
    return binary(run.meter, "+", 0, run.value(row[1], scope))


def _and(run: _Run, row: Any, scope: Scope) -> object:
    result: object = True
    for part in row[1]:
        result = run.value(part, scope)
        if not result:
            break
    return result


def _or(run: _Run, row: Any, scope: Scope) -> object:
    result: object = False
    for part in row[1]:
        result = run.value(part, scope)
        if result:
            break
    return result


def _binary(run: _Run, row: Any, scope: Scope) -> object:
    return binary(run.meter, row[1], run.value(row[2], scope), run.value(row[3], scope))


_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
}


def _compare(run: _Run, row: Any, scope: Scope) -> object:
    left = run.value(row[1], scope)
    for op, part in row[2]:
        right = run.value(part, scope)
        if op in {"in", "not in"}:
            holds = contains(run.meter, right, left) is (op == "in")
        else:
            run.meter.pay_walk(left, right)
            holds = _TESTS[op](left, right)
        if not holds:
            return False
        left = right
    return True


def _if(run: _Run, row: Any, scope: Scope) -> object:
    return run.value(row[2] if run.value(row[1], scope) else row[3], scope)


def _index(run: _Run, row: Any, scope: Scope) -> object:
    subject, index = run.value(row[1], scope), run.value(row[2], scope)
    if isinstance(subject, Mapping):
        if key(run.meter, index) not in subject:
            fail(f"there is no key {plain(index):.80}")
        return subject[index]
    if not isinstance(subject, str | tuple) or not isinstance(index, int):
        fail(f"{kind(subject)} has no item at {kind(index)}")
    if not -len(subject) <= index < len(subject):
        fail(f"there is no item {shown(index)}: the length is {len(subject)}")
    return subject[index]


def _slice(run: _Run, row: Any, scope: Scope) -> object:
    subject, low, high, step = run.values(row[1:], scope)
    if not isinstance(subject, str | tuple):
        fail(f"{kind(subject)} cannot be sliced")
    run.meter.pay(len(subject) >> (6 if isinstance(subject, str) else 3))
    return subject[low:high:step]


def _call(run: _Run, row: Any, scope: Scope) -> object:
    _, name, args, keywords = row
    if name in {"any", "all"} and len(args) == 1 and args[0][0] == "lazy":
        turns = run.each(args[0][1], args[0][2], scope)
        return any(turns) if name == "any" else all(turns)
    more = {keyword: run.value(part, scope) for keyword, part in keywords}
    return FUNCTIONS[name](run.meter, *run.values(args, scope), **more)


def _method(run: _Run, row: Any, scope: Scope) -> object:
    _, name, subject_row, args, keywords = row
    subject = run.value(subject_row, scope)
    method = method_of(subject, name)
    more = {keyword: run.value(part, scope) for keyword, part in keywords}
    return method(run.meter, subject, *run.values(args, scope), **more)


def _tuples(run: _Run, row: Any, scope: Scope) -> object:
    return tuple(run.each(row[1], row[2], scope))


def _sets(run: _Run, row: Any, scope: Scope) -> object:
    found = run.each(row[1], row[2], scope)
    return dict.fromkeys(key(run.meter, value) for value in found).keys()


def _dicts(run: _Run, row: Any, scope: Scope) -> object:
    pairs = run.each(("tuple", (row[1], row[2])), row[3], scope)
    return {key(run.meter, name): value for name, value in pairs}


_FORMS: Mapping[str, Callable[[_Run, Any, Scope], object]] = {
    "and": _and,
    "binary": _binary,
    "call": _call,
    "compare": _compare,
    "const": _const,
    "dict": _dict,
    "dicts": _dicts,
    "if": _if,
    "index": _index,
    "lazy": _tuples,
    "method": _method,
    "name": _name,
    "neg": _neg,
    "not": _not,
    "or": _or,
    "pos": _pos,
    "set": _set,
    "sets": _sets,
    "slice": _slice,
    "text": _text,
    "tuple": _tuple,
    "tuples": _tuples,
}
