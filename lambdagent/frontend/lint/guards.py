"""Rules about expressions that are the same for every answer.

An expression is decided if it holds no variable, or if an answer stands in it only as ``len(x)``
or, for texts, ``x``, each as a condition or compared with numbers. Then it is a function of the
length alone, constant between the numbers of the text: trying these and their neighbours decides
it. ``and``, ``or`` and ``not`` are decided by what of their parts is. Nothing else is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.lint.rules import File, Found, Holds
from lambdagent.frontend.lint.spots import Spot
from lambdagent.frontend.schema import VALIDATOR_NAMES
from lambdagent.ir.labels import EARLY_STOP_NAMES
from lambdagent.messages import phrase

_EXIT_NAMES = frozenset(EARLY_STOP_NAMES)
_LENGTH = ("call", "len", (("name", "x"),), ())
_ANSWER = ("name", "x")
# Longer answers are not made to try them; of more numbers nothing is said.
_LONGEST, _MOST_NUMBERS = 100_000, 20


def guard_in_vain(spot: Spot, file: File) -> Iterator[Found]:
    """L017."""
    if _verdict(spot, file) is False:
        yield Found(("guard", "validator"), {"expression": spot.at("guard", "validator")})


def guard_without_need(spot: Spot, file: File) -> Iterator[Found]:
    """L018."""
    if _verdict(spot, file) is True:
        yield Found(("guard", "validator"), {"expression": spot.at("guard", "validator")})


def constant_exit(spot: Spot, file: File) -> Iterator[Found]:
    """L019."""
    text = spot.at("react", "earlyStop")
    if text is None:
        return
    value = _known_exit(text, file.holds)
    if value is None:
        return
    effect = (
        phrase("the loop ends after one round of tools") if value else phrase("it changes nothing")
    )
    words = {"expression": text, "value": "true" if value else "false", "effect": effect}
    yield Found(("react", "earlyStop"), words)


@lru_cache(maxsize=512)
def _known_exit(text: str, holds: Holds) -> bool | None:
    """Return what an exit test comes to; None if that depends on the round."""
    rows = parse_expression(text, _EXIT_NAMES)
    return None if _has_names(rows) else holds(rows, {})


def _verdict(spot: Spot, file: File) -> bool | None:
    text = spot.at("guard", "validator")
    if text is None:
        return None
    is_text = spot.at("outputSchema") is None and (
        spot.kind == "simple"
        or (spot.kind == "step" and spot.at("outputParser") in {None, "text"})
    )
    return _known_verdict(text, file.holds, is_text)


# Two rules ask about each guard.
@lru_cache(maxsize=512)
def _known_verdict(text: str, holds: Holds, is_text: bool) -> bool | None:  # noqa: FBT001 - a key
    return verdict(parse_expression(text, VALIDATOR_NAMES), holds, is_text=is_text)


def verdict(rows: Any, holds: Holds, *, is_text: bool) -> bool | None:
    """Return what `rows` come to for every answer; None if that differs or is not known.

    Args:
        rows: A validator.
        holds: Evaluates it.
        is_text: Whether answers are texts; else they may be anything.
    """
    if not _has_names(rows):
        return holds(rows, {"x": ""})
    whole = _by_length(rows, holds, is_text=is_text)
    if whole is not None:
        return whole
    match rows:
        case ("and" | "or" as word, parts):
            return _joined(word, [verdict(part, holds, is_text=is_text) for part in parts])
        case ("not", part) if verdict(part, holds, is_text=is_text):
            return False
    return None


def _joined(word: str, found: list[bool | None]) -> bool | None:
    """Return what parts that come to `found` do together.

    A part that is false may be one that fails, and what fails in one part is false as a whole.
    """
    if word == "and":
        return False if False in found else True if all(found) else None
    return True if found[0] else None if any(each is not False for each in found) else False


def _by_length(rows: Any, holds: Holds, *, is_text: bool) -> bool | None:
    """Return what `rows` come to for every answer if that depends on its length alone."""
    numbers: list[float] = []
    if not _depends_on_length(rows, numbers, is_text=is_text) or len(numbers) > _MOST_NUMBERS:
        return None
    lengths = {0, 1}
    for number in numbers:
        if not 0 <= number < _LONGEST:
            number = min(max(number, 0), _LONGEST)  # noqa: PLW2901
            if number == _LONGEST:
                return None
        lengths |= {max(0, math.floor(number) + step) for step in (-1, 0, 1, 2)}
    found = {holds(rows, {"x": "a" * length}) for length in lengths}
    value = found.pop()
    return None if found or (value and not is_text) else value


def _has_names(rows: Any) -> bool:
    if isinstance(rows, tuple):
        return rows[:1] == ("name",) or any(_has_names(each) for each in rows)
    return False


def _depends_on_length(row: Any, numbers: list[float], *, is_text: bool) -> bool:
    """Whether `row`, as a condition, is a function of ``len(x)``; its numbers are added."""
    match row:
        case ("not", part):
            return _depends_on_length(part, numbers, is_text=is_text)
        case ("and" | "or", parts):
            return all(_depends_on_length(part, numbers, is_text=is_text) for part in parts)
        case ("compare", first, rest):
            operands = [first, *(operand for _, operand in rest)]
            return all(
                _is_number(each, numbers) or each == _LENGTH or (each == _ANSWER and is_text)
                for each in operands
            ) and not {_ANSWER, _LENGTH} <= set(operands)
    return row == _LENGTH or (row == _ANSWER and is_text) or not _has_names(row)


def _is_number(row: Any, numbers: list[float]) -> bool:
    match row:
        case ("neg", ("const", int() | float() as value)):
            numbers.append(-value)
        case ("const", int() | float() as value):
            numbers.append(value)
        case _:
            return False
    return True
