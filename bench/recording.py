"""What it costs to record a run: `run --trace-file` against `run`, with a model without latency.

Nothing is added while the run goes on; all of it is written at the end. The target is 5 % of the
run. Whose time that is a share of matters: "process" is the CPU of the whole command, with its
start-up and its compilation; "run" is that of the run alone, which takes less time for a step than
writing down what was asked, what was answered and what that is hashed to.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.agents import Generated, echo, program_of, react, sessions
from bench.startup import cpu_s
from bench.timing import Row, beside
from lambdagent.api import recording, running
from lambdagent.cli.files import write_file
from lambdagent.effects.redaction import Redaction
from lambdagent.ir.program import Program

_LENGTHS = (10, 100, 1_000, 10_000)
_STEPS = 2_000  # to be measured in each round, shorter runs more often
_ROUNDS = 5
# It calls a tool that there is not until it may not go on, and its last state is the answer.
_AGENT = """\
agentId: loop
name: loop
type: react
systemPrompt: Think.
model: {{provider: scripted, script: {{rules: [{{reply: '{{"tool": "echo", "args": "x"}}'}}]}}}}
react: {{maxSteps: {steps}}}
mcp: {{localTools: [terminate]}}
"""


class _Recorded:
    """A run of the API, and its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = Generated()
        given = {"providers": {"scripted": self.model}, "tools": {"echo": echo}}
        self.program: Program = program_of(react(max(_LENGTHS)), **given)

    def seconds(self, steps: int, *, records: bool) -> float:
        """Return CPU seconds of a step, with its trace, which every run tells the sum of."""
        taken, runs = 0.0, max(1, _STEPS // steps)
        for _ in range(runs):
            session = sessions(self.program)()
            self.model.left = steps
            began = time.process_time()
            result = session.run("go")
            _ = result.tokens
            if records:
                outcome = running.to_json(result)
                text = recording.document(result.execution, outcome, Redaction({}))
                write_file(self.path, text, private=True)
            taken += time.process_time() - began
        return taken / runs / steps


def rows() -> list[Row]:
    """Measure runs of each length, alone and as commands."""
    found = []
    with tempfile.TemporaryDirectory() as directory:
        path, agent = Path(directory) / "run.json", Path(directory) / "loop.yml"
        recorded = _Recorded(path)
        for steps in _LENGTHS:
            ours, theirs = beside(
                _ROUNDS,
                lambda steps=steps: recorded.seconds(steps, records=True),
                lambda steps=steps: recorded.seconds(steps, records=False),
            )
            size = path.stat().st_size / steps
            found.append(_row(f"run, {steps:,} steps ({size:.0f} B a step)", ours, theirs, "µs"))
        for steps in _LENGTHS:
            agent.write_text(_AGENT.format(steps=steps), encoding="utf-8")
            command = ["-m", "lambdagent", "run", str(agent), "go", "--quiet"]
            ours, theirs = beside(
                _ROUNDS,
                lambda: cpu_s([*command, "--trace-file", str(path)], directory, 2),  # noqa: B023
                lambda: cpu_s(command, directory, 2),  # noqa: B023
            )
            found.append(_row(f"process, {steps:,} steps", ours, theirs, "ms"))
    return found


def _row(name: str, ours: float, theirs: float, unit: str) -> Row:
    scale = {"µs": 1e6, "ms": 1e3}[unit]
    shown = (f"{ours * scale:.1f} {unit}", f"{theirs * scale:.1f} {unit}")
    return Row(name, *shown, f"{ours / theirs:.2f}", "≤ 1.05")
