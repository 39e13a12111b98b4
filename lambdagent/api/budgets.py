"""What is to be said of a program's budget before a run of it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lambdagent.effects.llm import has_price
from lambdagent.errors import Diagnostic, EffectError, finding
from lambdagent.ir.bounds import bounds
from lambdagent.ir.costs import Count, count_text
from lambdagent.ir.program import Program
from lambdagent.messages import phrase


def check_prices(program: Program, environment: Mapping[str, str]) -> None:
    """Check that the dollars of a budget can be counted.

    A provider object of the caller's may tell what it costs; it is believed to.

    Raises:
        EffectError: The price of a model is not known (R015).
    """
    if program.limits.budget.usd is None:
        return
    told = program.limits.prices
    for site in program.sites.values():
        model = site.model if site.kind == "llm" and site.binding is None else None
        if model is None or model.name in told:
            continue
        if not has_price(model, environment):
            raise EffectError(finding("R015", model=model.name or model.provider))


def doubtful_budget(program: Program) -> Iterator[Diagnostic]:
    """Yield what the program may need more of than its budget has, by its static bounds (R014)."""
    budget = program.limits.budget
    if budget.calls is None and budget.tokens is None:
        return
    found = bounds(program)
    calls = found.model_calls.most
    if budget.calls is not None and _exceeds(calls, budget.calls):
        most = phrase("{count} model calls", count=count_text(calls))
        yield finding("R014", name="calls", most=most, limit=budget.calls)
    written = found.output_tokens
    if budget.tokens is not None and _exceeds(written, budget.tokens):
        most = phrase("{count} tokens in answers alone", count=_text(written))
        yield finding("R014", name="tokens", most=most, limit=budget.tokens)


def _exceeds(most: Count | None, limit: int) -> bool:
    return most is None or most > limit


def _text(most: Count | None) -> str:
    return phrase("any number of") if most is None else count_text(most)
