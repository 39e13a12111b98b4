"""Rules about core programs: what abstract execution says of their loops and sites."""

from __future__ import annotations

from collections.abc import Iterator

from lambdagent.frontend.lint.rules import Found
from lambdagent.ir.bounds import Bounds
from lambdagent.ir.costs import INFINITY, count_text
from lambdagent.messages import told


def twice_on_a_path(bounds: Bounds) -> Iterator[Found]:
    """L029."""
    for loop in bounds.loops:
        if loop.most > 1 and loop.bound > 1:
            yield Found((), {"bound": loop.bound})


def without_bound(bounds: Bounds) -> Iterator[Found]:
    """L030."""
    for site in bounds.sites.values():
        if site.calls.most == INFINITY:
            least = count_text(site.calls.least, round_up=False)
            reason = "; ".join(told(each) for each in bounds.reasons)
            yield Found((), {"site": f"`{site.name}`", "reason": reason, "least": least})


def never_ends(bounds: Bounds) -> Iterator[Found]:
    """L031."""
    for loop in bounds.loops:
        if loop.least > 0:
            yield Found((), {"bound": loop.bound})
