"""A recorded run, looked at state by state; nobody is asked anything.

What may take long is a walk: a generator of the numbers that it is at, which returns where it led,
or None where there is nothing to go to. Until it has ended nothing changes, so a walk can be given
up at any time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Mapping
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from lambdagent.api.history import History
from lambdagent.api.recording import Recording
from lambdagent.ir.core import Term
from lambdagent.machine.state import Fail, Halt, Kind, Kont, Machine, Path, Thread
from lambdagent.trace.finding import Finder
from lambdagent.trace.macro import cost_of, numbered, tokens_of
from lambdagent.trace.page import Cost, Frames, Page
from lambdagent.trace.rulebook import Rule
from lambdagent.trace.sight import Sight, depth, outwards, path_text, within
from lambdagent.trace.transition import Move, Transition, removes, transition_of

Walk: TypeAlias = Generator[int, None, int | None]

# Transitions that a walk takes before it says where it is.
_SLICE = 10_000
_LOOKED_AT = 10
# Transitions that a search looks through forwards, on its way back.
_SPAN = 500
# Frames that are counted; the rest is told as "more".
_COUNTED = 100_000
_START = Rule("start", "", "⟨t v, (), ()⟩", "The agent is about to get its input.")


class Reach(NamedTuple):
    """How much of a state is wanted.

    Attributes:
        rows: Most frames.
        skipped: Frames further in that are not wanted.
        with_tree: Whether the term is wanted as a tree.
    """

    rows: int = 40
    skipped: int = 0
    with_tree: bool = False


_USUAL = Reach()


class Stepper:
    """A place in a run.

    Attributes:
        history: The states, as far as they have been gone through.
        sight: Prints what is there.
        number: How many transitions led to the state that is looked at.
    """

    def __init__(self, recording: Recording, known: Mapping[str, Term]) -> None:
        """Be at the first state of `recording`; terms of `known` are told by name."""
        self.history: History = recording.opened(whole=False)
        self._told = recording.told
        self._known = known
        self.sight = Sight(recording.linked, known)
        self._costs = [Cost()]
        self._steps: Mapping[tuple[Path, str], int] = {}
        self.number = self.history.first
        self.state: Machine = self.history.state(self.number)
        self._made: Transition | None = None

    @property
    def path(self) -> Path:
        """The thread that moved last."""
        return () if self._made is None else self._made.path

    @property
    def thread(self) -> Thread:
        """Where that thread stands."""
        return self.state.threads[self.path]

    def explore(self) -> None:
        """Go through a further piece of the run; nothing changes but what is known of it."""
        self.ensure(self.history.length + _SLICE)

    def ensure(self, number: int) -> None:
        """See to it that the state `number` is known, if there is one."""
        if self.history.length < number and not self.history.is_whole:
            self.history.grow(max(number, self.history.length + _SLICE))

    def move_to(self, number: int) -> None:
        """Look at the state `number`, which is known.

        Raises:
            IndexError: It is not.
        """
        history = self.history
        if number == history.first:
            self.state, self._made = history.state(number), None
        else:
            before = self.state if number == self.number + 1 else history.state(number - 1)
            move = history.move(number, before)
            self.state, self._made = move.after, transition_of(self.sight.readback, move)
        self.number = number

    # --- walks -----------------------------------------------------------------------------------

    def to(self, number: int) -> Walk:
        """Go to the state `number`, or to the nearest one that there is."""
        yield from self._known_to(number)
        return min(max(number, self.history.first), self.history.length)

    def to_end(self) -> Walk:
        """Go to the last state."""
        while not self.history.is_whole:
            yield from self._known_to(self.history.length + 1)
        return self.history.length

    def next_reduction(self, kind: Kind) -> Walk:
        """Go to the next reduction of a kind."""
        count = self.state.counters[kind]
        while not self.history.is_whole and self.history.last.counters[kind] <= count:
            yield from self._known_to(self.history.length + 1)
        if self.history.last.counters[kind] <= count:
            return None
        return self.history.reached(lambda machine: machine.counters[kind] > count)

    def last_reduction(self, kind: Kind) -> Walk:
        """Go back to the last reduction of a kind."""
        yield from ()
        history = self.history
        if self.number == history.first:
            return None
        count = history.state(self.number - 1).counters[kind]
        if count == history.state(history.first).counters[kind]:
            return None
        return history.reached(lambda machine: machine.counters[kind] >= count)

    def finish(self) -> Walk:
        """Go to where the innermost frame has got its value, or is given up."""
        path = self.path
        kont = outwards(self.thread.kont, 0)

        def is_done(move: Move) -> bool:
            thread = move.after.threads.get(path)
            if thread is None or not kont:
                return thread is None or isinstance(thread.state, Halt | Fail)
            return move.path == path and removes(move, kont)

        return (yield from self._forward(is_done))

    def search(self, text: str, *, back: bool = False) -> Walk:
        """Go to the next transition in which `text` occurs, or back to the last one.

        It may be a rule, a kind, a site, or part of the text of the redex or of its result.
        """
        wanted = Finder(self.sight, text, self._known).shown_by
        if not back:
            return (yield from self._forward(wanted))
        end = self.number - 1
        while end > self.history.first:
            start = max(end - _SPAN, self.history.first)
            machine, found = self.history.state(start), None
            for number in range(start + 1, end + 1):
                move = self.history.move(number, machine)
                found = number if wanted(move) else found
                machine = move.after
                if number % _LOOKED_AT == 0:
                    yield number
            if found is not None:
                return found
            end = start
        return None

    def _forward(self, wanted: Callable[[Move], bool]) -> Walk:
        number, machine = self.number, self.state
        while True:
            number += 1
            yield from self._known_to(number)
            if number > self.history.length:
                return None
            move = self.history.move(number, machine)
            if wanted(move):
                return number
            machine = move.after
            if number % _LOOKED_AT == 0:
                yield number

    def _known_to(self, number: int) -> Generator[int, None, None]:
        history = self.history
        while history.length < number and not history.is_whole:
            history.grow(history.length + _SLICE)
            yield history.length

    # --- what is shown ---------------------------------------------------------------------------

    def page(self, reach: Reach = _USUAL) -> Page:
        """Return what there is to see here."""
        history, sight, made, thread = self.history, self.sight, self._made, self.thread
        kont = thread.kont
        focus = sight.readback.focus(thread, {}) if made is None else made.result
        around = kont if made is None else made.around
        rule = _START if made is None else made.rule
        return Page(
            number=self.number,
            length=history.length,
            is_whole=history.is_whole,
            is_cut=history.is_cut,
            rule=rule,
            thread=path_text(self.path) if len(self.state.threads) > 1 or self.path else "",
            within=self._within(),
            site="" if made is None else made.site,
            before=None if made is None else sight.before(made),
            after=sight.standing(thread) if made is None else sight.after(made),
            environment=sight.environment(thread),
            frames=self._frames(kont, reach),
            store=sight.store(thread),
            threads=sight.threads(self.state, self.path),
            counters=dict(zip("βδμγεπ", self.state.counters, strict=True)),
            cost=self._cost(),
            tree=sight.tree(focus, around) if reach.with_tree else (),
        )

    def _frames(self, kont: Kont, reach: Reach) -> Frames:
        counted = depth(kont, _COUNTED)
        skipped = max(min(reach.skipped, counted - 1), 0)
        texts = self.sight.frames(outwards(kont, skipped), reach.rows)
        return Frames(texts, skipped, counted, counted == _COUNTED)

    def _within(self) -> str:
        """Return which step of the agent goes on, and its number once the run is known."""
        found = within(self.thread, _COUNTED)
        if found is None:
            return ""
        kind, name, began = found
        if self.history.is_whole and not self._steps:
            self._steps = numbered(self.history.events)
        number = self._steps.get((began, name))
        return f"{kind} {name}" if number is None else f"step {number}: {kind} {name}"

    def _cost(self) -> Cost:
        """Return what the answers up to here took."""
        answered = self.history.answered
        for _, key in answered[len(self._costs) - 1 :]:
            asked = self._told.intents.get(key)
            kind = "" if asked is None else asked.site.partition(":")[0]
            recorded = self._told.answers[key]
            read, written = tokens_of(recorded.answer) or (0, 0)
            cost = self._costs[-1]
            self._costs.append(
                Cost(
                    cost.model_calls + (kind == "llm"),
                    cost.tool_calls + (kind == "tool"),
                    cost.read + read,
                    cost.written + written,
                    max(cost.elapsed_s, recorded.at_s + recorded.took_s),
                    cost.usd + (cost_of(recorded.answer) or 0.0),
                )
            )
        return self._costs[bisect_right(answered, self.number, key=itemgetter(0))]
