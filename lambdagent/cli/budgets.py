"""``--budget NAME=N``: what a run may spend, instead of what its file or its directory says."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable

import attrs

from lambdagent.cli.arguments import whole
from lambdagent.errors import plain
from lambdagent.ir.limits import Budget
from lambdagent.messages import phrase, say

FORM = "NAME=N"
_WHOLE = {"tokens", "calls"}
_whole = whole(1)
_NAMES = tuple(attrs.fields_dict(Budget))


def limit(text: str) -> tuple[str, int | float]:
    """Return name and number of a limit, for argparse.

    >>> limit("calls=10"), limit("usd=0.5")
    (('calls', 10), ('usd', 0.5))
    """
    name, _, number = text.partition("=")
    if name not in _NAMES:
        expected = phrase("{form}, NAME being one of {names}", form=FORM, names=", ".join(_NAMES))
        raise ArgumentTypeError(
            say("expected {expected}, got {got}", expected=expected, got=plain(text))
        )
    return name, _whole(number) if name in _WHOLE else _above_0(number)


def _above_0(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 < value < float("inf"):
        expected = phrase("a number above 0")
        raise ArgumentTypeError(
            say("expected {expected}, got {got}", expected=expected, got=plain(text))
        )
    return value


def changed(budget: Budget, limits: Iterable[tuple[str, int | float]]) -> Budget:
    """Return `budget` with `limits` in place of its own."""
    return attrs.evolve(budget, **dict(limits))  # type: ignore[arg-type]  # as `limit` reads them
