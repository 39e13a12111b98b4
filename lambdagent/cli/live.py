"""The line at the bottom of a terminal that says what a run is at: `run --verbose`.

Loaded only there: `rich` takes longer to load than an agent to compile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TextIO, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from lambdagent.cli.output import Output
from lambdagent.effects.listeners import Listener
from lambdagent.effects.run_events import LlmCalled, ToolCompleted, ToolDispatched, TurnStarted
from lambdagent.ir.bounds import bounds
from lambdagent.ir.costs import INFINITY, count_text
from lambdagent.ir.limits import dollars
from lambdagent.ir.program import Program
from lambdagent.machine.text import cut

P = ParamSpec("P")
T = TypeVar("T")

_PER_SECOND = 8
_LONGEST_NAME = 30


class LiveLine(Listener):
    """Shows the step that is under way, the time, tokens, and model calls against their bound.

    Lines of `out` go above it. As a context manager it is there from entry to exit.
    """

    def __init__(self, out: Output, screen: TextIO, program: Program) -> None:
        """Be about to show a run of `program` on `screen`, the terminal of `out`."""
        self._out = out
        most = bounds(program).model_calls.most
        self._most = f" of at most {count_text(most)}" if most < INFINITY else ""
        self._began_s = time.monotonic()
        self._calls = self._tokens = 0
        self._usd = 0.0
        self._under_way: dict[object, str] = {}
        self._live = Live(
            console=Console(file=screen, highlight=False, markup=False, emoji=False),
            get_renderable=self._line,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveLine:
        """Show the line."""
        self._out.above = self._print
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        self._out.above = None

    def aside(self, ask: Callable[P, T]) -> Callable[P, T]:
        """Return `ask` such that the line is away while it talks to a person."""

        @wraps(ask)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            self._live.stop()
            try:
                return ask(*args, **kwargs)
            finally:
                self._live.start()

        return asked

    def on_turn_started(self, event: TurnStarted) -> None:
        """Show who thinks."""
        self._calls += 1
        turn = f", turn {event.turn_number}" if event.turn_number > 1 else ""
        self._under_way[event.branch] = f"{cut(event.agent, _LONGEST_NAME)}{turn}"

    def on_llm_called(self, event: LlmCalled) -> None:
        """Count the tokens."""
        self._under_way.pop(event.branch, None)
        self._tokens += (event.prompt_tokens or 0) + (event.completion_tokens or 0)
        self._usd += event.cost_usd or 0.0

    def on_tool_dispatched(self, event: ToolDispatched) -> None:
        """Show what is called."""
        self._under_way[event.branch] = f"Tool:{cut(event.tool_name, _LONGEST_NAME)}"

    def on_tool_completed(self, event: ToolCompleted) -> None:
        """Show it no more."""
        self._under_way.pop(event.branch, None)

    def _print(self, line: str) -> None:
        self._live.console.print(Text(line), soft_wrap=True)

    def _line(self) -> Text:
        steps = list(self._under_way.values())
        more = f" and {len(steps) - 1} more" if len(steps) > 1 else ""
        step = f"{steps[0]}{more}" if steps else "-"
        parts = [
            step,
            f"{time.monotonic() - self._began_s:.1f}s",
            f"model call {self._calls}{self._most}",
        ]
        if self._tokens:
            parts.append(f"{self._tokens:,} tokens")
        if self._usd:
            parts.append(dollars(self._usd))
        line = self._out.on_screen(" | ".join(parts))
        return Text(line, no_wrap=True, overflow="ellipsis", style="dim")
