"""What a run has spent of its budget, and the end of it when the budget is used up.

No call of a model is begun once a limit is reached; what an answer takes is known only when it is
there, so the last one may go beyond. Nor is one begun once an answer does not say what it took.
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
from lambdagent.ir.program import Program
from lambdagent.ir.services import SCRIPTED
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
        self._untold: dict[str, str] = {}  # which model did not tell what it took, by limit

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
            if limit is None:
                continue
            if used >= limit:
                raise self.exhausted(name)
            if name in self._untold:
                raise BudgetError(finding("R016", name=name, model=self._untold[name]))
        if budget.calls is not None and spent.calls + self._begun >= budget.calls:
            raise self.exhausted("calls")
        self._begun += 1

    def end(self, site: Site, answer: Data | Failure) -> None:
        """Count what the call of `site` that was begun took."""
        if site.kind == "llm":
            self._begun -= 1
            self.count(site, answer)

    def count(self, site: Site, answer: Data | Failure) -> None:
        """Count an answer of the model at `site`, such as one of an earlier process."""
        self.spent.calls += 1
        if isinstance(answer, Failure):
            return
        usage, model = Reply.from_data(answer).usage, site.model
        if usage is not None:
            self.spent.tokens += usage.input + usage.output
            self.spent.usd += usage.usd or 0.0
        if model is not None and model.provider == SCRIPTED and site.binding is None:
            return  # nobody is paid for what it does not tell
        name = site.name if model is None else model.name or model.provider
        if usage is None:
            self._untold.setdefault("tokens", name)
        if usage is None or usage.usd is None:
            self._untold.setdefault("usd", name)

    @property
    def left_s(self) -> float | None:
        """Seconds that are left of the budget; None if they are unlimited."""
        seconds = self.budget.seconds
        return None if seconds is None else max(seconds - self.spent.seconds, 0.0)

    def exhausted(self, name: str) -> BudgetError:
        """Return the error that `name` is used up."""
        limit = getattr(self.budget, name)
        # Every digit of it, be it large or small.
        most = limit if type(limit) is int else f"{limit:.12g}"
        return BudgetError(finding("R013", name=name, limit=most, spent=self._told()))

    def _told(self) -> str:
        """Return what was spent, as far as every answer told it."""
        spent = self.spent
        calls = (
            phrase("1 model call")
            if spent.calls == 1
            else phrase("{count} model calls", count=spent.calls)
        )
        if "tokens" in self._untold:
            return calls
        tokens, cost = spent.tokens, dollars(spent.usd)
        if "usd" in self._untold:
            return phrase("{calls}, {tokens} tokens", calls=calls, tokens=tokens)
        return phrase("{calls}, {tokens} tokens, {cost}", calls=calls, tokens=tokens, cost=cost)


def meter_of(program: Program, told: Told | None = None) -> Meter | None:
    """Return what counts the spending of a run; None where it may spend what it likes.

    Args:
        program: What is run.
        told: What its journal says of earlier processes.
    """
    budget = program.limits.budget
    if budget == Budget():
        return None
    meter = Meter(budget)
    if told is not None:
        people = 0.0
        for key, recorded in told.answers.items():
            name = told.intents[key].site
            kind = name.partition(":")[0]
            if kind == "llm":
                site = program.sites.get(name)
                if site is not None:  # else it will be told that this is another program's run
                    meter.count(site, recorded.answer)
            elif kind == "confirm":
                people += recorded.took_s
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
