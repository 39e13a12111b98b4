"""One stage of a chain, and many runs at a time.

The targets of a stage are 20 and 8 µs on a machine that takes 0.07 µs for one by hand (design.md
§6), so they are 290 and 115 times that.
"""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from bench.agents import Constant, Late, chain, program_of, sessions
from bench.timing import Row, beside, best_of

_STAGES = 500
_CALLS, _LATENCY_S = 6, 0.1
_RUNS = {1_000: "≤ 1.0, aim 0.7 s", 10_000: "≤ 4, aim 1.5 s"}  # and what they are to take


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


class _Taken(NamedTuple):
    """Wall and CPU seconds of some runs, and bytes of each of them at their peak."""

    wall_s: float
    cpu_s: float
    bytes_each: float


def _taken(runs: int, work: Callable[[int], Coroutine[Any, Any, object]]) -> _Taken:
    """Return what `runs` runs take; the bytes are those that Python allocates, by tracemalloc."""
    gc.collect()
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    asyncio.run(work(runs))
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    tracemalloc.start()
    asyncio.run(work(runs // 10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return _Taken(wall_s, cpu_s, peak / (runs // 10))


def concurrent_rows() -> list[Row]:
    """Measure many runs at a time, each in a session of its own, of a few calls that wait."""
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

    found = []
    for runs, target in _RUNS.items():
        by_hand, own = _taken(runs, plain), _taken(runs, ours)
        found += [
            Row(
                f"{runs:,} runs of {_CALLS} calls of {_LATENCY_S * 1000:.0f} ms",
                f"{own.wall_s:.2f} s, {own.cpu_s:.2f} s CPU, "
                f"{own.cpu_s / runs / _CALLS * 1e6:.0f} µs a call",
                f"by hand {by_hand.wall_s:.2f} s, {by_hand.cpu_s:.2f} s CPU",
                f"{own.wall_s / by_hand.wall_s:.2f}",
                target,
            ),
            Row(
                "memory of such a run, by tracemalloc",
                f"{own.bytes_each / 1024:.1f} KB",
                f"by hand {by_hand.bytes_each / 1024:.1f} KB",
                "",
                "≤ 25, aim 10 KB",
            ),
        ]
    return found
