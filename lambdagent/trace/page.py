"""One step of a run as data: what a screen of `trace --slow` and its text form show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import attrs

from lambdagent.trace.rulebook import Rule
from lambdagent.trace.sight import Binding, Parts
from lambdagent.trace.tree import Branch


class Cost(NamedTuple):
    """What was spent so far.

    Attributes:
        read: Tokens that models read, as far as they were counted.
        written: Tokens that they wrote.
        elapsed_s: Seconds from the start of the run to the last answer.
        usd: US dollars that models cost, as far as that is known.
    """

    model_calls: int = 0
    tool_calls: int = 0
    read: int = 0
    written: int = 0
    elapsed_s: float = 0.0
    usd: float = 0.0


class Frames(NamedTuple):
    """A piece of a continuation, the innermost frame first.

    Attributes:
        texts: The frames that are shown.
        skipped: How many are further in.
        depth: How many there are in all, as far as they were counted.
        is_deeper: There are more than were counted.
    """

    texts: Sequence[str]
    skipped: int
    depth: int
    is_deeper: bool = False


@attrs.frozen
class Page:
    """The state after `number` transitions, and what the last of them did.

    Attributes:
        number: How many transitions led here.
        length: How many there are in all, as far as is known.
        is_whole: Whether that is known.
        is_cut: There are more, which are not gone through.
        rule: What was done; ``start`` where nothing has happened yet.
        thread: Who moved; empty where there is one thread.
        within: The step of the agent that this belongs to; empty outside of them.
        site: Who is asked, or who answers.
        before: The term before it, around its redex; None at the start.
        after: The term now, around what the redex became.
        environment: The variables that the control can see.
        frames: What waits for its value.
        store: The cells.
        threads: Where the other threads stand.
        counters: Reductions so far, by kind.
        tree: The term now as a tree; empty unless it was asked for.
    """

    number: int
    length: int
    is_whole: bool
    is_cut: bool
    rule: Rule
    thread: str
    within: str
    site: str
    before: Parts | None
    after: Parts
    environment: Sequence[Binding]
    frames: Frames
    store: Sequence[Binding]
    threads: Sequence[Binding]
    counters: Mapping[str, int]
    cost: Cost
    tree: Sequence[Branch] = ()
