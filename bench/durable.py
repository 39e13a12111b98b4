"""A durable step: one ReAct step with journal, against the same loop by hand with JSON lines.

Both keep an answer before they go on. The targets of a step are 3 and 1.3 times that by hand with
fsync, in CPU (design.md §6); bytes are those on disk without the message itself.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from bench.agents import Generated, echo, program_of, react
from bench.machine import fibonacci
from bench.timing import Row, beside, best_of
from lambdagent.api.kept import Run
from lambdagent.effects.states import StateFile
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from lambdagent.machine.state import Machine
from lambdagent.machine.step import start, step

_LENGTHS = (10, 100, 1_000, 10_000)
# fsync takes milliseconds of waiting: longer runs with it are measured once.
_MOST_SYNCED = 1_000
_STEPS = 1_000
# Transitions of a pure program that are each kept; the first ones are in one file.
_TRANSITIONS, _IN_ONE_FILE = 5_000, 300


class _Stopping(Generated):
    """A model that is cut off after some replies, and knows when it was first asked."""

    def __init__(self) -> None:
        super().__init__()
        self.replies = -1
        self.asked_s = 0.0

    def text(self) -> str:
        self.asked_s = self.asked_s or time.perf_counter()
        if self.replies == 0:
            raise InterruptedError
        self.replies -= 1
        return super().text()


class _Durable:
    """An agent whose runs are kept in a directory."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.model = _Stopping()
        self.given: dict[str, Any] = {
            "providers": {"scripted": self.model},
            "tools": {"echo": echo},
        }
        self.program: Program = program_of(react(2 * max(_LENGTHS)), **self.given)

    def begin(self, steps: int, *, fsync: bool = False) -> Run:
        self.model.left, self.model.replies = steps, -1
        return Run.begin(self.program, "go", self.directory, fsync=fsync)

    def seconds(self, steps: int, *, fsync: bool) -> float:
        """Return CPU seconds of a step."""
        taken, runs = 0.0, max(1, _STEPS // steps)
        for _ in range(runs):
            with self.begin(steps, fsync=fsync) as run:
                gc.collect()
                began = time.process_time()
                run.resume()
                taken += time.process_time() - began
        return taken / runs / steps

    def bytes_a_step(self, steps: int) -> float:
        """Return bytes of the journal and the states for a step, its messages left out."""
        with self.begin(steps) as run:
            run.resume()
            files = [run.path / "journal", *run.path.glob("states")]  # short runs have no states
            written = sum(path.stat().st_size for path in files)
        self.model.left = steps
        return written / steps - len(self.model.text()) - len("item 1234")

    def resume_s(self, steps: int, done: int) -> float:
        """Return seconds from loading a run after `done` of `steps` to its first new call."""
        with self.begin(steps) as run:
            self.model.replies = done
            with suppress(InterruptedError):
                run.resume()
        gc.collect()
        self.model.replies, self.model.asked_s = 0, 0.0
        began = time.perf_counter()
        with Run.load(run.path, **self.given) as again, suppress(InterruptedError):
            again.resume()
        return self.model.asked_s - began


def _by_hand(path: Path, steps: int, *, fsync: bool) -> float:
    """Run the loop as one would write it, each message a line on disk; return CPU seconds."""
    model = Generated()
    model.left = steps
    messages: list[dict[str, str]] = []
    began = time.process_time()
    with path.open("w", encoding="utf-8") as file:

        def keep(role: str, content: str) -> None:
            messages.append({"role": role, "content": content})
            file.write(json.dumps(messages[-1]) + "\n")
            file.flush()
            if fsync:
                os.fsync(file.fileno())

        keep("user", "go")
        while True:
            text = model.text()
            keep("assistant", text)
            call = json.loads(text)
            if call["tool"] == "terminate":
                return (time.process_time() - began) / steps
            keep("user", f"Observation: {echo(call['args'])}")


def rows() -> list[Row]:
    """Measure a durable step, its bytes, and how soon a run goes on."""
    with tempfile.TemporaryDirectory() as directory:
        agent = _Durable(directory)
        return [
            *_step_rows(agent, Path(directory) / "lines"),
            *_pure_rows(Path(directory) / "states"),
            *_other_rows(agent),
        ]


def _step_rows(agent: _Durable, lines: Path) -> Iterator[Row]:
    for fsync in (True, False):
        for steps in _LENGTHS:
            ours, theirs = beside(
                1 if fsync and steps > _MOST_SYNCED else 3,
                partial(agent.seconds, steps, fsync=fsync),
                partial(_by_hand, lines, steps, fsync=fsync),
            )
            yield Row(
                f"durable step, fsync {'on' if fsync else 'off'}, {steps:,} steps",
                f"{ours * 1e6:.0f} µs CPU",
                f"by hand {theirs * 1e6:.0f} µs CPU",
                f"{ours / theirs:.2f}",
                "≤ 3, aim 1.3" if fsync else "",
            )


def _pure_rows(path: Path) -> Iterator[Row]:
    """Measure how a state is kept after each transition of a program that asks nobody."""
    linked = link(Program(fibonacci(), {}))
    states = [start(linked, "go")]
    while len(states) < _TRANSITIONS:
        states.append(step(linked, states[-1]))

    def keep(machines: list[Machine]) -> None:
        file = StateFile(path, linked, fsync=False)
        for machine in machines:
            file.save(machine, 0)
        file.close()

    seconds = best_of(3, partial(keep, states)) / len(states)
    keep(states[:_IN_ONE_FILE])
    size = path.stat().st_size / _IN_ONE_FILE
    name = "checkpoint of a pure step"
    yield Row(f"{name}, fsync off", f"{seconds * 1e6:.1f} µs CPU", "", "", "≤ 20, aim 5 µs")
    yield Row(name, f"{size:.0f} B", "", "", "≤ 128, aim 48 B")


def _other_rows(agent: _Durable) -> Iterator[Row]:
    for steps in (100, 1_000, 10_000):
        size = agent.bytes_a_step(steps)
        yield Row(f"bytes a step, {steps:,} steps", f"{size:.0f} B", "", "", "≤ 300 B, aim 60 B")
    for steps, done in ((1_000, 500), (20_000, 10_000)):
        seconds = min(agent.resume_s(steps, done) for _ in range(3))
        name = f"to the first new call after {done:,} of {steps:,}"
        yield Row(name, f"{seconds * 1e3:.1f} ms", "", "", "≤ 30, aim 5 ms")
