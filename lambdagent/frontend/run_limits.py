"""`budget` and `runtime.rateLimits` → limits of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from lambdagent.frontend.report import BAD, nearest
from lambdagent.ir.limits import Budget, Limits, RunLimits
from lambdagent.messages import phrase


def run_limits(data: Any) -> RunLimits | None:
    """Return the limits that the fields `data` of a file set; None if they set none."""
    rates = _rates(data)
    if "budget" not in data and not rates:
        return None
    pairs = {
        name: Limits(row.get("requestsPerMinute"), row.get("tokensPerMinute"))
        for name, row in rates.items()
    }
    return RunLimits(Budget(**data.get("budget", {})), pairs)


def check_rates(data: Any, used: Collection[str], report: Callable[..., None]) -> None:
    """Report each rate limit of a provider that is not among `used`: nothing would heed it."""
    for name in _rates(data):
        if name not in used:
            meant = nearest(name, used)
            hint = phrase("remove it, or name a provider that the file uses")
            if meant:
                hint = phrase("write `{meant}`", meant=meant)
            expected = phrase(
                "a provider of this file: {used}", used=", ".join(sorted(used)) or "–"
            )
            report(
                "S104",
                ("runtime", "rateLimits", name),
                expected=expected,
                actual=name,
                hint=hint,
                instead=meant,
            )


def _rates(data: Any) -> Any:
    runtime = data.get("runtime")
    rates = {} if runtime is None or runtime is BAD else runtime.get("rateLimits", {})
    return {} if rates is BAD else rates
