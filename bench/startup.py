"""CPU time of fresh processes, against Python that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.timing import Row

_REPEATS = 10
_HERE = Path(__file__).resolve().parent.parent

_WORK = {
    "import lambdagent": (["-c", "import lambdagent"], "≤ 75, aim 30 ms"),
    "import lambdagent.api.compiling": (["-c", "import lambdagent.api.compiling"], ""),
    "import lambdagent.api.running": (["-c", "import lambdagent.api.running"], ""),
    "lambdagent version": (["-m", "lambdagent", "version"], "≤ 90, aim 45 ms"),
    "lambdagent compile simple.yml": (["-m", "lambdagent", "compile", "examples/simple.yml"], ""),
}


def cpu_s(arguments: list[str], cache: str, repeats: int = _REPEATS) -> float:
    """Return user and system seconds of a Python process, the best of several.

    The first run, which is not counted, writes the byte code of its modules to `cache`.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["PYTHONPYCACHEPREFIX"] = cache
    times = []
    for _ in range(repeats + 1):
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=_HERE, env=environment, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise AssertionError((arguments, process.returncode))
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times[1:])


def rows() -> list[Row]:
    """Measure starting."""
    with tempfile.TemporaryDirectory() as cache:
        return _rows(cache)


def _rows(cache: str) -> list[Row]:
    bare = cpu_s(["-c", "pass"], cache)
    found = []
    for name, (arguments, target) in _WORK.items():
        seconds = cpu_s(arguments, cache)
        found.append(
            Row(
                name,
                f"{seconds * 1e3:.0f} ms CPU",
                f"python -c pass {bare * 1e3:.0f} ms",
                f"{seconds / bare:.1f}",
                target,
            )
        )
    return found
