"""The error record of a failed run → the exception that tells it."""

from __future__ import annotations

from typing import Any

from lambdagent.errors import (
    BudgetError,
    EffectError,
    GuardError,
    LambdagentError,
    RouteError,
    RunError,
    StuckError,
    finding,
    plain,
    retold,
)
from lambdagent.ir.data import Data, Record
from lambdagent.machine.text import cut, text_of_data
from lambdagent.messages import recognized

_SHOWN = 200


def error_of(error: Record, *, by_hand: bool = False) -> LambdagentError:
    """Return the exception for the error record of a failed run."""
    kind, message = str(error["kind"]), recognized(str(error["message"]))
    shown = cut(text_of_data(error["data"]), _SHOWN) if error["data"] is not None else ""
    match kind:
        case "ValidationError" if str(error["site"]).startswith("llm:"):
            return GuardError(finding("R018", site=error["site"], message=message, got=shown))
        case "ValidationError":
            return GuardError(finding("R002", message=message, got=shown))
        case "OutputError":
            return GuardError(finding("R017", got=recognized(shown)))
        case "RouteError":
            return RouteError(finding("R003", message=plain(shown)))
        case "MaxTurns":
            return BudgetError(finding("R004", message=message))
        case "Stuck" if by_hand:
            return RunError(finding("R010", message=message))
        case "Stuck":
            return StuckError(finding("M001", message=message))
    return EffectError(_effect_finding(error, message))


def _effect_finding(error: Record, message: str) -> Any:
    data: Data = error["data"]
    if isinstance(data, Record) and {"code", "what", "why", "fix"} <= data.keys():
        return retold(*(str(data[word]) for word in ("code", "what", "why", "fix")))
    return finding("R001", message=message, site=error["site"])
