"""One ReAct step with a model without latency, against the same loop written by hand."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Callable
from typing import Any

from bench.agents import Generated, echo, program_of, react, sessions
from bench.timing import Row, best_of
from lambdagent.ir.program import Program
from lambdagent.machine.engines import EngineName

_LENGTHS = (10, 100, 1_000, 10_000)
_STEPS = 20_000  # to be measured at each length, shorter runs more often


class _Variant:
    """An agent, its model, and how it is run."""

    def __init__(self, name: str, settings: str, tool: str, engine: EngineName | None) -> None:
        self.name = f"{name}, {engine or 'cek, async'}"
        self.engine = engine
        self.model = Generated(tool)
        self.program: Program = program_of(
            react(max(_LENGTHS), settings),
            providers={"scripted": self.model},
            tools={"echo": echo},
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

    def seconds(self, steps: int) -> float:
        """Return CPU seconds of one step, the best of several runs."""
        best = float("inf")
        for _ in range(3):
            runs = max(1, _STEPS // steps // 4)
            ready = [self.once(steps) for _ in range(runs)]
            gc.collect()
            began = time.process_time()
            for run in ready:
                self.model.left = steps
                run()
            best = min(best, (time.process_time() - began) / runs / steps)
        return best


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
        _Variant("conversation, Python tool", "", "echo", None),
    ]


def rows() -> list[Row]:
    """Measure a step at each length."""
    plain = best_of(5, lambda: by_hand(10_000)) / 10_000
    found = []
    for variant in variants():
        taken = {steps: variant.seconds(steps) for steps in _LENGTHS}
        for steps, seconds in taken.items():
            found.append(
                Row(
                    f"{variant.name}, {steps:,} steps",
                    f"{seconds * 1e6:.1f} µs a step",
                    f"by hand {plain * 1e6:.2f} µs",
                    f"{seconds / plain:.1f}",
                    "≤ 60, aim 25 µs",
                )
            )
        flat = taken[10_000] / taken[100]
        found.append(Row(f"{variant.name}, 10,000 : 100", f"{flat:.2f}", "", "", "≤ 1.2"))
    return found
