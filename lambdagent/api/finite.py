"""Python values → values that JSON has. It loads little, so that every command may use it."""

from __future__ import annotations

import math
from typing import Any


def finite(value: Any) -> Any:
    """Return `value` with the numbers that `json` does not write, as texts.

    Those are NaN, the infinities, and integers beyond the decimal limit of Python.

    >>> finite([float("nan"), (float("-inf"), 1.5)])
    ['NaN', ['-Infinity', 1.5]]
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return _name(value)
    if isinstance(value, int):
        return _written(value)
    return value


def _written(number: int) -> int | str:
    try:
        int.__repr__(number)
    except ValueError:
        return hex(number)
    return number


def _name(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"
