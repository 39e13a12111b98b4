"""The values and operators of safe expressions, and the meter that bounds all work on them.

In: plain values, and a `Meter` that says how much work is left. Out: plain values, or
`EvaluationError`. Every operation pays before it works. Values are None, numbers, texts, tuples,
mappings, and views of dict keys, which serve as sets that keep their order.
"""

from collections.abc import Callable, Iterable, KeysView, Mapping
from typing import Any, NoReturn

import attrs

LIMIT_STEPS = 100_000
"""All the work of one evaluation; a step takes about a microsecond."""

LIMIT_CHARACTERS = 1_000_000
LIMIT_ITEMS = 100_000
LIMIT_BITS = 4096


_SCALARS = frozenset({bool, int, float, type(None)})


class EvaluationError(Exception):
    """The expression has no value; `reason` says why in one sentence."""

    @property
    def reason(self) -> str:
        """Return the sentence."""
        return str(self)


@attrs.frozen(eq=False)
class Meter:
    """The work that one evaluation may still do, in a list of one number."""

    _left: list[int] = attrs.field(factory=lambda: [LIMIT_STEPS])
    _patterns: set[tuple[str, int]] = attrs.field(factory=set)

    @property
    def left(self) -> int:
        """Return the steps that are left."""
        return self._left[0]

    def pay(self, steps: int) -> None:
        """Take `steps` off what is left."""
        self._left[0] -= steps
        if self._left[0] < 0:
            fail("the expression takes too long")

    def pay_pattern(self, pattern: str, flags: int, steps: int) -> None:
        """Pay for compiling a pattern, once per evaluation."""
        if (pattern, flags) not in self._patterns:
            self._patterns.add((pattern, flags))
            self.pay(steps)

    def pay_walk(self, *values: object) -> int:
        """Pay for looking at everything in `values`, and return how much that is.

        A value can be exponentially larger than its memory: parts may be shared.
        """
        total, stack = 0, [*values]
        while stack and total >> 2 <= self.left:
            value = stack.pop()
            total += 1
            if type(value) in _SCALARS:
                continue
            if isinstance(value, str):
                total += len(value) >> 10
            elif isinstance(value, tuple | Mapping | KeysView):
                total += 2 + len(value)
                # Looked at before it is copied: the parts may be many times what is left.
                if total >> 2 <= self.left:
                    stack.extend(value.values() if isinstance(value, Mapping) else value)
        self.pay(1 + (total >> 2))
        return total


def fail(reason: str) -> NoReturn:
    """Raise `EvaluationError`."""
    raise EvaluationError(reason)


def kind(value: object) -> str:
    """Return what a user calls the type of `value`."""
    match value:
        case None:
            return "None"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "a dict"
        case KeysView():
            return "a set"
    return "a list"


def key(meter: Meter, value: object) -> Any:
    """Return `value` if it may be a key or a set's item.

    Large numbers and tuples may not: their hashes can be made equal, and sets of them slow.
    """
    meter.pay(1)
    if isinstance(value, str):
        meter.pay(len(value) >> 10)
    elif isinstance(value, int) and abs(value) >= 1 << 60:
        fail("a number of this size cannot be a key")
    elif value is not None and not isinstance(value, int | float):
        fail(f"{kind(value)} cannot be a key or be in a set")
    return value


def iterate(value: object) -> Iterable[Any]:
    """Return what a `for` runs over."""
    if not isinstance(value, str | tuple | Mapping | KeysView):
        fail(f"{kind(value)} has no items")
    return value


def items(meter: Meter, value: object) -> tuple[Any, ...]:
    """Return the items of `value`, paid for."""
    found = iterate(value)
    count = size(value)
    check_items(count)
    meter.pay(count >> 3)
    return tuple(found)


def size(value: object) -> int:
    """Return the length of `value`."""
    if not isinstance(value, str | tuple | Mapping | KeysView):
        fail(f"{kind(value)} has no length")
    return len(value)


def text(meter: Meter, value: object) -> str:
    """Return ``str(value)``, in which lists and dicts look as Python writes them."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        check_bits(value)
    if value is None or isinstance(value, int | float):
        return str(value)
    meter.pay_walk(value)
    count = _written(value)
    check_characters(count)
    meter.pay(count >> 5)
    return str(_python(value))


def _written(value: object) -> int:
    """Return about how many characters a written value has; the walk was paid for."""
    total, stack = 0, [value]
    while stack and total <= LIMIT_CHARACTERS:
        part = stack.pop()
        total += 30
        if isinstance(part, str):
            total += len(part)
        elif isinstance(part, int):
            total += part.bit_length() // 3
        elif isinstance(part, Mapping):
            stack.extend(part)
            stack.extend(part.values())
        elif isinstance(part, tuple | KeysView):
            stack.extend(part)
    return total


def _python(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _python(part) for name, part in value.items()}
    if isinstance(value, tuple | KeysView):
        return [_python(part) for part in value]
    return value


def check_characters(count: int) -> None:
    """Refuse a text of `count` characters if that is too many."""
    if count > LIMIT_CHARACTERS:
        fail(f"a text would have more than {LIMIT_CHARACTERS} characters")


def check_items(count: int) -> None:
    """Refuse a list of `count` items if that is too many."""
    if count > LIMIT_ITEMS:
        fail(f"a list would have more than {LIMIT_ITEMS} items")


def check_bits(value: object) -> None:
    """Refuse a whole number that is too large."""
    if isinstance(value, int) and value.bit_length() > LIMIT_BITS:
        fail(f"a number would have more than {LIMIT_BITS} bits")


# --- operators -----------------------------------------------------------------------------------


def binary(meter: Meter, op: str, left: Any, right: Any) -> object:
    """Return ``left op right`` for an arithmetic operator."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return arithmetic(op, left, right)
    if op == "*" and isinstance(left, int):
        left, right = right, left
    if isinstance(left, str | tuple):
        if op == "*" and isinstance(right, int):
            return _repeat(meter, left, right)
        if op == "+" and type(left) is type(right):
            return _join_two(meter, left, right)
    if op == "%" and isinstance(left, str):
        fail("`%` cannot format a text here")
    return fail(f"`{op}` does not work with {kind(left)} and {kind(right)}")


def arithmetic(op: str, left: float, right: float) -> float:
    """Return ``left op right`` for numbers."""
    check_bits(left)
    check_bits(right)
    if op == "**":
        return _power(left, right)
    result = _ARITHMETIC[op](left, right)
    check_bits(result)
    return result


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    # 4,096 bits times 4,096 bits are cheap, so this may be checked afterwards.
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


def _power(left: float, right: float) -> float:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > LIMIT_BITS:
        fail(f"a number would have more than {LIMIT_BITS} bits")
    result: object = left**right
    if not isinstance(result, int | float):
        fail("a root of a negative number is no number here")
    return result


def _repeat(meter: Meter, value: Any, times: int) -> object:
    count = len(value) * max(times, 0)
    if isinstance(value, str):
        check_characters(count)
        meter.pay(count >> 6)
    else:
        check_items(count)
        meter.pay(count >> 3)
    return value * times


def _join_two(meter: Meter, left: Any, right: Any) -> object:
    count = len(left) + len(right)
    if isinstance(left, str):
        check_characters(count)
        meter.pay(count >> 6)
    else:
        check_items(count)
        meter.pay(count >> 3)
    return left + right


def contains(meter: Meter, container: Any, value: Any) -> bool:
    """Return ``value in container``."""
    match container:
        case str():
            if not isinstance(value, str):
                fail(f"{kind(value)} cannot be in a text")
            meter.pay(search_steps(len(container), len(value)))
        case Mapping() | KeysView():
            key(meter, value)
        case tuple():
            meter.pay_walk(container, value)
        case _:
            fail(f"nothing can be in {kind(container)}")
    return value in container


def search_steps(length: int, wanted: int) -> int:
    """Return the steps of finding a text of `wanted` characters among `length`.

    CPython is linear only on texts long enough for its two-way search.
    """
    naive = length < 2500 or wanted < 6 or (wanted < 100 and length < 30_000)
    return 1 + length * (min(wanted, length) + 1 if naive else 10) // 1000
