"""What runs may spend, and how often providers may be asked: no part of a program's meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from lambdagent.ir.data import Data, Record
from lambdagent.ir.known_models import Price


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
    """All limits of the runs of a program, and what their budget is counted with.

    Attributes:
        rates: By provider.
        prices: By model; they count more than those that are known.
    """

    budget: Budget = attrs.field(factory=Budget)
    rates: Mapping[str, Limits] = attrs.field(factory=dict)
    prices: Mapping[str, Price] = attrs.field(factory=dict)

    def to_data(self) -> Record:
        """Return them as data; `from_data` is the inverse."""
        rates = {name: _row(limits) for name, limits in self.rates.items()}
        prices = {name: _row(price) for name, price in self.prices.items()}
        row = Record(budget=_row(self.budget), rates=Record(rates))
        return Record(row, prices=Record(prices)) if prices else row

    @classmethod
    def from_data(cls, data: Data) -> RunLimits:
        """Return the limits that `to_data` wrote.

        Raises:
            ValueError: `data` is no such limits.
        """
        row = data if isinstance(data, Record) else Record()
        match Record({"prices": Record(), **row}):
            case {"budget": Record() as b, "rates": Record() as rates, "prices": Record() as told}:
                return cls(
                    Budget(**_numbers(b, Budget)),
                    {name: Limits(**_numbers(each, Limits)) for name, each in rates.items()},
                    {name: _price(each) for name, each in told.items()},
                )
        what = "no limits of runs"
        raise ValueError(what)


def _price(row: Data) -> Price:
    """Return the price that `_row` wrote.

    Raises:
        ValueError: It is none.
    """
    numbers = _numbers(row, Price)
    if not {"input", "output"} <= numbers.keys():
        what = "no price"
        raise ValueError(what)
    return Price(**numbers)


def _row(limits: Budget | Limits | Price) -> Record:
    return Record({k: v for k, v in attrs.asdict(limits).items() if v is not None})


def _numbers(row: Data, wanted: type[Budget | Limits | Price]) -> dict[str, Any]:
    """Return `row` if it is what `_row` writes for `wanted`.

    Raises:
        ValueError: It is not.
    """
    known = set(attrs.fields_dict(wanted)) - {"above", "from_tokens"}
    if not isinstance(row, Record) or not row.keys() <= known:
        what = "no limits"
        raise ValueError(what)
    whole = known - {"usd", "seconds", "input", "output", "cached"}
    for name, number in row.items():
        fits = type(number) is int or (type(number) is float and name not in whole)
        if not fits or not number >= 0:  # type: ignore[operator]
            what = f"`{name}` is no number from 0"
            raise ValueError(what)
    return dict(row)


def usd_of(value: object) -> float | None:
    """Return `value` as a sum of US dollars; None if it is none.

    >>> usd_of(1), usd_of(0.5), usd_of("1"), usd_of(True), usd_of(10**400)
    (1.0, 0.5, None, None, None)
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def dollars(usd: float) -> str:
    """Return a sum of money, small ones with more digits.

    >>> dollars(1234.5), dollars(0.0123), dollars(0.00000123), dollars(0)
    ('$1,234.50', '$0.0123', '$0.000001', '$0.00')
    """
    digits = 2 if usd >= 1 or not usd else 4 if usd >= 0.001 else 6
    return f"${usd:,.{digits}f}"
