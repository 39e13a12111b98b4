"""One ReAct step with a model without latency, against the same loop written by hand.

The targets are 60 and 25 µs on a machine that takes 1.5 µs for a step by hand (design.md §6), so
they are 40 and 17 times that.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Callable
from typing import Any

from bench.agents import Generated, echo, echo_soon, program_of, react, sessions
from bench.timing import Beside, Row, beside, best_of
from lambdagent.ir.program import Program
from lambdagent.machine.engines import EngineName

_LENGTHS = (10, 100, 1_000, 10_000)
_STEPS = 5_000  # to be measured in each round, shorter runs more often
_ROUNDS = 5


class _Variant:
    """An agent, its model, and how it is run."""

    def __init__(
        self,
        name: str,
        settings: str,
        tool: str,
        engine: EngineName | None,
        function: Callable[[str], Any] = echo,
    ) -> None:
        self.name = f"{name}, {engine or 'cek, async'}"
        self.engine = engine
        self.model = Generated(tool)
        self.program: Program = program_of(
            react(max(_LENGTHS), settings),
            providers={"scripted": self.model},
            tools={"echo": function},
        )

    def once(self, steps: int) -> Callable[[], Any]:
        """Return a fresh run of `steps` steps, ready to start."""
        session = sessions(self.program, self.engine)()
        if self.engine is None:
            return lambda: self._checked(steps, asyncio.run(session.arun("go")))
        return lambda: self._checked(steps, session.run("go"))

    def _checked(self, steps: int, result: Any) -> None:
        if result.text != "done" or self.model.left != 0:
            raise AssertionError((result.text, steps, self.model.left))

    def taken(self, steps: int) -> Beside:
        """Return CPU seconds of one step in a run of `steps`, and of one by hand."""
        return beside(_ROUNDS, lambda: self._round(steps), lambda: _round_by_hand(steps))

    def _round(self, steps: int) -> float:
        ready = [self.once(steps) for _ in range(max(1, _STEPS // steps))]
        gc.collect()
        began = time.process_time()
        for run in ready:
            self.model.left = steps
            run()
        return (time.process_time() - began) / len(ready) / steps


def _round_by_hand(steps: int) -> float:
    runs = range(max(1, _STEPS // steps))
    return best_of(1, lambda: [by_hand(steps) for _ in runs]) / len(runs) / steps


def by_hand(steps: int) -> str:
    """Run the loop as one would write it: a list, a dict of functions, JSON."""
    model, tools = Generated(), {"echo": echo}
    model.left = steps
    messages = [{"role": "user", "content": "go"}]
    while True:
        text = model.text()
        messages.append({"role": "assistant", "content": text})
        call = json.loads(text)
        if call["tool"] == "terminate":
            return str(call["args"])
        answer = tools[call["tool"]](call["args"])
        messages.append({"role": "user", "content": f"Observation: {answer}"})


def variants() -> list[_Variant]:
    """Return the agents that are measured."""
    alone = ", conversation: false"
    engines: tuple[EngineName, ...] = ("recursive", "cek")
    return [
        *(
            _Variant(name, settings, tool, engine)
            for name, settings, tool in (
                ("conversation, Python tool", "", "echo"),
                ("no conversation, Python tool", alone, "echo"),
                ("conversation, no tool runs", "", "missing"),
                ("no conversation, no tool runs", alone, "missing"),
            )
            for engine in engines
        ),
        _Variant("conversation, asynchronous tool", "", "echo", None, echo_soon),
        _Variant("conversation, tool on a thread", "", "echo", None),
    ]


def rows() -> list[Row]:
    """Measure a step at each length."""
    found = []
    for variant in variants():
        taken = {steps: variant.taken(steps) for steps in _LENGTHS}
        for steps, (ours, by_hand_s) in taken.items():
            found.append(
                Row(
                    f"{variant.name}, {steps:,} steps",
                    f"{ours * 1e6:.1f} µs a step",
                    f"by hand {by_hand_s * 1e6:.2f} µs",
                    f"{ours / by_hand_s:.1f}",
                    "≤ 40, aim 17",
                )
            )
        first, last = (taken[steps].ours / taken[steps].theirs for steps in (100, 10_000))
        flat = last / first
        found.append(Row(f"{variant.name}, 10,000 : 100", f"{flat:.2f}", "", "", "≤ 1.2"))
    return found
