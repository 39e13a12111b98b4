"""What argparse reads values of options with."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

from lambdagent.errors import plain
from lambdagent.messages import phrase, say


def whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number from `least` on.

    >>> whole(0)("12")
    12
    """

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            what = say(
                "expected {expected}, got {got}",
                expected=phrase("a whole number from {least}", least=least),
                got=plain(text),
            )
            raise ArgumentTypeError(what)
        return number

    return read
