"""Names of variables while a term is printed: a binder gets one that no binder around it has."""

# Note [How names stay fresh]
#
# A binder keeps its name unless an enclosing binder has it; then it becomes x₁, x₂, … (``x_1`` in
# ASCII). An abstraction without free variables cannot capture anything, so its names start afresh:
# every occurrence of an agent prints the same. Printing what was read changes nothing, because
# printed names never clash.

import re
from collections.abc import Collection

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NUMBERED = re.compile(r"(?P<stem>.*?)_?(?P<number>[0-9]{1,9}|[₀-₉]{1,9})", re.DOTALL)
_SUFFIX = re.compile(r"[₀-₉]+$")
_ASCII_SUFFIX = re.compile(r"_[0-9]+$")


class Scope:
    """The names of the binders around, the innermost last."""

    def __init__(self, reserved: Collection[str]) -> None:
        self.names: list[str] = []
        self.reserved = reserved
        self.taken: set[str] = set()
        self.numbers: dict[str, int] = {}  # by stem: the last number given out

    def bind(self, name: str) -> None:
        """Enter a binder."""
        self.names.append(name)
        self.taken.add(name)

    def unbind(self, count: int) -> None:
        """Leave the innermost `count` binders."""
        for _ in range(count):
            name = self.names.pop()
            self.taken.discard(name)
            numbered = _NUMBERED.fullmatch(name)
            if numbered:
                self.numbers[numbered["stem"]] = int(numbered["number"].translate(_DIGITS)) - 1

    def is_free(self, name: str) -> bool:
        """Whether no binder around has `name`, and it is not reserved."""
        return name not in self.taken and name not in self.reserved

    def fresh(self, wanted: str, *, ascii: bool) -> str:  # noqa: A002
        """Return `wanted`, with a number if a binder around has it."""
        if self.is_free(wanted):
            return wanted
        suffix = _ASCII_SUFFIX if ascii else _SUFFIX
        stem = suffix.sub("", wanted) or "x"
        number = self.numbers.get(stem, 0)
        name = stem
        while not self.is_free(name):
            number += 1
            name = f"{stem}_{number}" if ascii else stem + str(number).translate(_SUBSCRIPTS)
        self.numbers[stem] = number
        return name


def ascii_numbered(name: str) -> str:
    """Return `name` with its number in ASCII."""
    return _SUFFIX.sub(lambda digits: "_" + digits[0].translate(_DIGITS), name)
