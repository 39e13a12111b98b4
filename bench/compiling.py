"""Compile time, against the C YAML loader alone on the same text."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from bench.agents import CONFIGURATIONS, REACT, SIMPLE, program_of, term_of
from bench.timing import Row, best_of
from lambdagent.api.linting import lint_source
from lambdagent.source import Source

_REPEATS = 7
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FILES = 300


def _side_by_side(times: int, *works: Callable[[], object]) -> list[float]:
    """Return seconds of each of `works`, measured by turns, so that all meet the same noise."""

    def repeated(work: Callable[[], object]) -> Callable[[], None]:
        def loop() -> None:
            for _ in range(times):
                work()

        return loop

    loops = [repeated(work) for work in works]
    rounds = [[best_of(1, loop) for loop in loops] for _ in range(_REPEATS)]
    return [min(taken) / times for taken in zip(*rounds, strict=True)]


def rows() -> list[Row]:
    """Measure compilation."""
    found = []
    for name, text_of in CONFIGURATIONS.items():
        text = text_of()
        load, term, core = _side_by_side(
            max(1, 100_000 // len(text)),
            lambda text=text: yaml.load(text, _LOADER),
            lambda text=text: term_of(text),
            lambda text=text: program_of(text),
        )
        baseline = f"C loader {load * 1e3:.3f} ms"
        for stage, seconds in (("term", term), ("core", core)):
            value, ratio = f"{seconds * 1e3:.3f} ms", f"{seconds / load:.2f}"
            found.append(Row(f"{name} → {stage}", value, baseline, ratio, "≤ 2, aim 1.3"))
    for name, work in (("compiled", term_of), ("linted", _linted)):
        found += [_many(f"simple, {name}", SIMPLE, work), _many(f"react, {name}", REACT, work)]
    return found


def _linted(text: str) -> object:
    return lint_source(Source("bench.yml", text))


def _many(name: str, text: str, work: Callable[[str], object]) -> Row:
    """Work on small files of different text one after another."""
    texts = [text.replace("agentId: ", f"agentId: n{i}-", 1) for i in range(_FILES)]
    load, ours = _side_by_side(
        1,
        lambda: [yaml.load(each, _LOADER) for each in texts],
        lambda: [work(each) for each in texts],
    )
    load, ours = load / _FILES, ours / _FILES
    return Row(
        f"small files, {name}",
        f"{1 / ours:,.0f} files/s",
        f"C loader {1 / load:,.0f} files/s",
        f"{ours / load:.2f}",
        "≥ 1,500/s, aim 4,000/s",
    )
