"""Kinds of values, and fields, that several blocks have."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Anything,
    Expression,
    Field,
    Integer,
    ListOf,
    MapOf,
    Model,
    Number,
    Text,
)

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

OUTPUT_SCHEMA: Final = Field(
    "outputSchema",
    MapOf(Anything(), "KEYWORD"),
    "The JSON Schema that the answer must fit; it is then read as JSON. Providers that can are"
    " held to it, others are told of it. An answer that does not fit is sent back to the model"
    " once, with the reason, which is a call of its own.",
    "回答必须符合的 JSON Schema；回答随之按 JSON 解析。提供方支持时由其保证，否则写入提示词。"
    "不符合的回答连同原因发回模型修正一次，这计为另一次调用。",
    to="`Lam.output_schema`",
)
