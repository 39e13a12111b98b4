"""Kinds of values that several blocks want."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import Integer, ListOf, Number, Text

TEXTS: Final = ListOf(Text())
AT_LEAST_1: Final = Integer(least=1)
SECONDS: Final = Number(open=True)
PORT: Final = Integer(most=65535)

VALIDATOR_NAMES: Final = frozenset({"x"})
