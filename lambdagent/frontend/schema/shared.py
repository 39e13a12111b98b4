"""Kinds of values, and fields, that several blocks have."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import Expression, Field, Integer, ListOf, Model, Number, Text

TEXTS: Final = ListOf(Text())
AT_LEAST_1: Final = Integer(least=1)
SECONDS: Final = Number(open=True)
PORT: Final = Integer(most=65535)

VALIDATOR_NAMES: Final = frozenset({"x"})

VALIDATOR: Final = Field(
    "validator",
    Expression(VALIDATOR_NAMES),
    "Holds for a good answer `x`.",
    "对合格的输出 `x` 成立的表达式。",
    required=True,
    to="`Guard.validator`",
)

OTHER_MODEL: Final = Field(
    "model",
    Model(),
    "Settings that differ from the agent's `model`.",
    "与 Agent 的 `model` 不同的设置。",
    to="`Lam.model`",
)
