"""One stage of a chain, and many runs at a time.

The targets of a stage are 20 and 8 µs on a machine that takes 0.07 µs for one by hand (design.md
§6), so they are 290 and 115 times that.
"""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import Callable, Coroutine
from typing import Any

from bench.agents import Constant, Late, chain, program_of, sessions
from bench.timing import Row, beside, best_of

_STAGES = 500
_RUNS, _CALLS, _LATENCY_S = 1_000, 6, 0.1


def _by_hand() -> str:
    """Run the stages as one would write them."""
    stages = [Constant().text] * _STAGES
    messages: list[str] = []
    answer = "go"
    for stage in stages:
        messages.append(answer)
        answer = stage()
    return answer


def _timed_by_hand() -> float:
    return best_of(20, _by_hand)


def rows() -> list[Row]:
    """Measure a stage."""
    found = []
    model = Constant()
    for name, settings in (("conversation", ""), ("no conversation", ", conversation: false")):
        program = program_of(chain(_STAGES, settings), providers={"scripted": model})
        session = sessions(program)()
        ours, theirs = beside(
            10, lambda session=session: best_of(1, lambda: session.run("go")), _timed_by_hand
        )
        found.append(
            Row(
                f"chain of {_STAGES}, {name}",
                f"{ours / _STAGES * 1e6:.1f} µs a stage",
                f"by hand {theirs / _STAGES * 1e6:.3f} µs",
                f"{ours / theirs:.0f}",
                "≤ 290, aim 115",
            )
        )
    return found


def _timed(work: Callable[[int], Coroutine[Any, Any, object]]) -> tuple[float, float, float]:
    """Return wall and CPU seconds of all runs, and bytes of each of a tenth of them."""
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(work(_RUNS))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    tracemalloc.start()
    asyncio.run(work(_RUNS // 10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return wall, cpu, peak / (_RUNS // 10)


def concurrent_rows() -> list[Row]:
    """Measure many runs at a time, each of a few calls that wait."""
    program = program_of(
        chain(_CALLS, ", conversation: false"), providers={"scripted": Late(_LATENCY_S)}
    )
    session = sessions(program)

    async def plain(runs: int) -> None:
        async def one() -> None:
            for _ in range(_CALLS):
                await asyncio.sleep(_LATENCY_S)

        await asyncio.gather(*(one() for _ in range(runs)))

    async def ours(runs: int) -> None:
        ready = [session() for _ in range(runs)]
        await asyncio.gather(*(each.arun("go") for each in ready))

    plain_wall, plain_cpu, plain_memory = _timed(plain)
    wall, cpu, memory = _timed(ours)
    return [
        Row(
            f"{_RUNS:,} runs of {_CALLS} calls of {_LATENCY_S * 1000:.0f} ms",
            f"{wall:.2f} s, {cpu:.2f} s CPU, {cpu / _RUNS / _CALLS * 1e6:.0f} µs a call",
            f"by hand {plain_wall:.2f} s, {plain_cpu:.2f} s CPU",
            f"{wall / plain_wall:.2f}",
            "≤ 1.0, aim 0.7 s",
        ),
        Row(
            "memory of such a run",
            f"{memory / 1024:.1f} KB",
            f"by hand {plain_memory / 1024:.1f} KB",
            "",
            "≤ 25, aim 10 KB",
        ),
    ]
