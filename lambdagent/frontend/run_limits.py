"""`budget`, `runtime.rateLimits` and `runtime.prices` → limits of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from lambdagent.frontend.report import BAD, nearest
from lambdagent.ir.known_models import Price
from lambdagent.ir.limits import Budget, Limits, RunLimits
from lambdagent.messages import phrase


def run_limits(data: Any) -> RunLimits | None:
    """Return the limits that the fields `data` of a file set; None if they set none."""
    rates, prices = _table(data, "rateLimits"), _table(data, "prices")
    if "budget" not in data and not rates and not prices:
        return None
    return RunLimits(
        Budget(**data.get("budget", {})),
        {
            name: Limits(row.get("requestsPerMinute"), row.get("tokensPerMinute"))
            for name, row in rates.items()
        },
        {
            name: Price(row["input"], row["output"], row.get("cached"))
            for name, row in prices.items()
        },
    )


def check_run_limits(
    data: Any, providers: Collection[str], models: Collection[str], report: Callable[..., None]
) -> None:
    """Report what nothing would heed.

    Args:
        data: The fields of the file.
        providers: Those that are asked over the network.
        models: The names of all models of the file.
        report: Called with code, path and words of each finding.
    """
    for name in _table(data, "rateLimits"):
        if name not in providers:
            used = _names(providers)
            expected = (
                phrase("a provider of this file: {used}", used=used)
                if used
                else phrase("a provider that the file asks over the network, and it asks none")
            )
            hint = phrase("remove it, or name a provider that the file uses")
            _report(report, ("runtime", "rateLimits", name), providers, expected, hint)
    for name in _table(data, "prices"):
        if name not in models:
            used = _names(models)
            expected = (
                phrase("a model of this file: {used}", used=used)
                if used
                else phrase("a model that the file names, and it names none")
            )
            hint = phrase("remove it, or name a model that the file uses")
            _report(report, ("runtime", "prices", name), models, expected, hint)


def _report(
    report: Callable[..., None],
    path: tuple[str, str, str],
    used: Collection[str],
    expected: str,
    hint: str,
) -> None:
    meant = nearest(path[-1], used)
    if meant:
        hint = phrase("write `{meant}`", meant=meant)
    report("S104", path, expected=expected, actual=path[-1], hint=hint, instead=meant)


def _names(used: Collection[str]) -> str:
    return ", ".join(sorted(filter(None, used)))


def _table(data: Any, field: str) -> Any:
    runtime = data.get("runtime")
    rows = {} if runtime is None or runtime is BAD else runtime.get(field, {})
    return {} if rows is BAD else rows
