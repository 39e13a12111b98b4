"""What runs may spend, and how often providers may be asked: no part of a program's meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from lambdagent.ir.data import Data, Record


@attrs.frozen
class Budget:
    """What a run may spend; None leaves it unlimited.

    Attributes:
        tokens: Model tokens, read and written.
        usd: US dollars.
        calls: Model calls.
        seconds: Seconds of running; the time of people does not count.
    """

    tokens: int | None = None
    usd: float | None = None
    calls: int | None = None
    seconds: float | None = None


@attrs.frozen
class Limits:
    """What a provider allows in a minute; None leaves it unlimited."""

    requests: int | None = None
    tokens: int | None = None


@attrs.frozen
class RunLimits:
    """All limits of the runs of a program.

    Attributes:
        rates: By provider.
    """

    budget: Budget = attrs.field(factory=Budget)
    rates: Mapping[str, Limits] = attrs.field(factory=dict)

    def to_data(self) -> Record:
        """Return them as data; `from_data` is the inverse."""
        rates = {name: _row(limits) for name, limits in self.rates.items()}
        return Record(budget=_row(self.budget), rates=Record(rates))

    @classmethod
    def from_data(cls, data: Data) -> RunLimits:
        """Return the limits that `to_data` wrote.

        Raises:
            ValueError: `data` is no such limits.
        """
        match data:
            case {"budget": Record() as budget, "rates": Record() as rates}:
                pairs = {name: Limits(**_numbers(row, Limits)) for name, row in rates.items()}
                return cls(Budget(**_numbers(budget, Budget)), pairs)
        what = "no limits of runs"
        raise ValueError(what)


def _row(limits: Budget | Limits) -> Record:
    return Record({k: v for k, v in attrs.asdict(limits).items() if v is not None})


def _numbers(row: Data, wanted: type[Budget | Limits]) -> dict[str, Any]:
    """Return `row` if it is what `_row` writes for `wanted`.

    Raises:
        ValueError: It is not.
    """
    known = set(attrs.fields_dict(wanted))
    if not isinstance(row, Record) or not row.keys() <= known:
        what = "no limits"
        raise ValueError(what)
    whole = known - {"usd", "seconds"}
    for name, number in row.items():
        fits = type(number) is int or (type(number) is float and name not in whole)
        if not fits or not number >= 0:  # type: ignore[operator]
            what = f"`{name}` is no number from 0"
            raise ValueError(what)
    return dict(row)
