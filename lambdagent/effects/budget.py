"""What a run has spent of its budget, and the end of it when the budget is used up.

No call of a model is begun once a limit is reached; what an answer takes is known only when it is
there, so the last one may go beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from lambdagent.effects.journal import Told
from lambdagent.effects.protocol import Reply
from lambdagent.errors import BudgetError, finding
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.ir.limits import Budget, dollars
from lambdagent.ir.sites import Site
from lambdagent.messages import phrase


@attrs.define
class Spent:
    """What model calls took so far, as far as their providers told."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0


class Meter:
    """Counts what one run spends, and ends it when its budget is used up.

    Attributes:
        budget: What it may spend.
        spent: What it has spent.
    """

    def __init__(self, budget: Budget) -> None:
        """Start with nothing spent."""
        self.budget = budget
        self.spent = Spent()
        self._begun = 0

    def begin(self, site: Site) -> None:
        """Count that `site` is about to be asked.

        Raises:
            BudgetError: The budget is used up.
        """
        if site.kind != "llm":
            return
        spent, budget = self.spent, self.budget
        for name in ("tokens", "usd"):
            limit, used = getattr(budget, name), getattr(spent, name)
            if limit is not None and used >= limit:
                raise self.exhausted(name)
        if budget.calls is not None and spent.calls + self._begun >= budget.calls:
            raise self.exhausted("calls")
        self._begun += 1

    def end(self, site: Site, answer: Data | Failure) -> None:
        """Count what the call of `site` that was begun took."""
        if site.kind == "llm":
            self._begun -= 1
            self.count(answer)

    def count(self, answer: Data | Failure) -> None:
        """Count an answer of a model, such as one of an earlier process."""
        self.spent.calls += 1
        usage = None if isinstance(answer, Failure) else Reply.from_data(answer).usage
        if usage is not None:
            self.spent.tokens += usage.input + usage.output
            self.spent.usd += usage.usd or 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds that are left of the budget; None if they are unlimited."""
        seconds = self.budget.seconds
        return None if seconds is None else max(seconds - self.spent.seconds, 0.0)

    def exhausted(self, name: str) -> BudgetError:
        """Return the error that `name` is used up."""
        spent, limit = self.spent, getattr(self.budget, name)
        told = phrase(
            "{calls} model calls, {tokens} tokens, {cost}",
            calls=spent.calls,
            tokens=spent.tokens,
            cost=dollars(spent.usd),
        )
        # Every digit of it, be it large or small.
        most = limit if type(limit) is int else f"{limit:.12g}"
        return BudgetError(finding("R013", name=name, limit=most, spent=told))


def meter_of(budget: Budget, told: Told | None = None) -> Meter | None:
    """Return what counts the spending of a run; None where it may spend what it likes.

    Args:
        budget: What it may spend.
        told: What its journal says of earlier processes.
    """
    if budget == Budget():
        return None
    meter = Meter(budget)
    if told is not None:
        kinds = {key: intent.site.partition(":")[0] for key, intent in told.intents.items()}
        for key, recorded in told.answers.items():
            if kinds[key] == "llm":
                meter.count(recorded.answer)
        people = sum(each.took_s for key, each in told.answers.items() if kinds[key] == "confirm")
        meter.spent.seconds = max(told.length_s - people, 0.0)
    return meter


@contextmanager
def within_budget(meter: Meter | None, limit_s: float | None) -> Iterator[float | None]:
    """Yield how many seconds a run may take, and tell the budget's end as such.

    Raises:
        BudgetError: In place of the one that time is up, if the budget gave less.
    """
    left_s = None if meter is None else meter.left_s
    if meter is None or left_s is None or (limit_s is not None and limit_s <= left_s):
        yield limit_s
        return
    try:
        yield left_s
    except BudgetError as error:
        if error.diagnostic.code != "R006":
            raise
        raise meter.exhausted("seconds") from error
