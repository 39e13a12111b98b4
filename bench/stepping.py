"""`trace --slow` on a million transitions: opening the file, going through it, jumping, searching.

The targets are 2 s until the first screen, 0.4 s for any jump (design.md §6), and memory that does
not grow with the run. Seconds are CPU. One run is pure work, the other one a long ReAct loop whose
file holds thousands of answers.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.agents import Generated, echo, program_of, react, sessions
from bench.machine import fibonacci
from bench.timing import Row
from lambdagent.api.recording import document, load
from lambdagent.api.reducing import library
from lambdagent.api.stepping import Stepper, Walk
from lambdagent.api.viewer import Viewer
from lambdagent.effects.execution import Execution
from lambdagent.effects.journal import Told
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.replay import replay
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from lambdagent.machine.state import Kind
from lambdagent.machine.step import start
from lambdagent.trace.screen import Size

_LIMIT = 1_000_000
_TURNS = 20_000
_SCREEN = Size(120, 40)


def _pure() -> Execution:
    """Return the first million transitions of ``fib 22``."""
    linked = link(Program(fibonacci(22), {}))
    return replay(linked, start(linked, 0), Told({}, {}, None, 0), _LIMIT)


def _agent() -> Execution:
    """Return a ReAct loop of about a million transitions."""
    model = Generated()
    model.left = _TURNS
    given = {"providers": {"scripted": model}, "tools": {"echo": echo}}
    program = program_of(react(_TURNS + 1), **given)
    session = sessions(program, "cek")()
    session.run("go")
    execution = session.history()
    assert execution is not None
    return execution


def _taken(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _finished(stepper: Stepper, walk: Walk) -> None:
    while True:
        try:
            next(walk)
        except StopIteration as end:
            if end.value is not None:
                stepper.move_to(end.value)
            return


def measured(path: Path) -> list[tuple[str, str, str]]:
    """Return what is measured of the run at `path`: work, figure, target."""
    opened: list[Viewer] = []

    def open_() -> None:
        opened.append(Viewer(Stepper(load(path, limit=_LIMIT), library())))
        opened[0].screen(_SCREEN, with_marks=False)

    first = _taken(open_)
    viewer = opened[0]
    stepper = viewer.stepper

    def jump(number: int) -> None:
        stepper.move_to(number)
        viewer.screen(_SCREEN, with_marks=False)

    through = _taken(lambda: _finished(stepper, stepper.to_end()))
    length = stepper.history.length
    places = [length - 1, length // 2 + 777, 17, length - 100_000, length // 3]
    jumps = max(_taken(lambda number=number: jump(number)) for number in places)
    jump(length)
    back = _taken(lambda: [jump(number) for number in range(length - 1, length - 101, -1)]) / 100
    kinds = (Kind.BETA, Kind.EPSILON)
    walks = [stepper.last_reduction(kind) for kind in kinds]
    reductions = max(_taken(lambda walk=walk: _finished(stepper, walk)) for walk in walks)
    jump(0)
    looked = 2_000
    walk = stepper.search("nowhere")
    seen = _taken(lambda: [next(walk) for _ in range(looked // 10)]) / looked
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        (f"first screen ({path.stat().st_size / 1e6:.1f} MB)", f"{first:.2f} s", "≤ 2 s"),
        (f"going through {length:,}", f"{through:.2f} s", "meanwhile keys are heard"),
        ("worst of 5 jumps, with screen", f"{jumps * 1e3:.1f} ms", "≤ 400 ms"),
        ("a step back, with screen", f"{back * 1e3:.1f} ms", ""),
        ("last β or effect from the end", f"{reductions * 1e3:.1f} ms", "≤ 400 ms"),
        ("search for a word, per transition", f"{seen * 1e6:.0f} µs", "can be stopped"),
        ("most memory", f"{size:.0f} MB", ""),
    ]


def rows() -> list[Row]:
    """Measure both runs, each in a process of its own."""
    found = []
    for name, made in (("pure", _pure), ("ReAct", _agent)):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "run.json"
            path.write_text(document(made(), {}, Redaction({})), encoding="utf-8")
            command = [sys.executable, "-m", "bench.stepping", str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            work, figure, target = line.split("\t")
            found.append(Row(f"{name}: {work}", figure, "", "", target))
    return found


if __name__ == "__main__":
    for row in measured(Path(sys.argv[1])):
        print("\t".join(row))
