"""Runs in real processes that are killed, at any moment, again and again: nothing gets lost.

`make chaos` kills 10,000.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.chaos.agents import AGENTS, EXAMPLES
from tests.chaos.chaos import Chaos, Report

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is such: a kill loses nothing that the system has."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


def check(report: Report) -> None:
    assert report.problems == [], str(report)
    assert (report.duplicates, report.divergences, report.lost) == (0, 0, 0)


@pytest.mark.parametrize(
    ("place", "kills"),
    [("folder", 300), pytest.param("tmp_path", 2_000, marks=pytest.mark.slow)],
)
def test_processes_that_are_killed_lose_nothing(place, kills, request, record_property):
    with closing(Chaos(kills, request.getfixturevalue(place))) as chaos:
        report = chaos.until(kills)
    record_property("chaos", ", ".join(f"{name}: {n}" for name, n in report.counts.items()))
    check(report)
    assert report.kills >= kills
    assert report.by_agent.keys() == AGENTS.keys()
    # Kills that find nothing to destroy prove nothing.
    assert report.resumes > kills / 2
    assert report.under_way > kills / 8
    assert report.with_states > kills / 8
    assert report.keyed > kills


@pytest.mark.parametrize("agent", ["confirmed", "confirmed council", "approval example 0"])
def test_a_process_that_is_killed_while_a_person_decides_asks_nothing_twice(folder, agent):
    with closing(Chaos(1, folder)) as chaos:
        report = chaos.at_decisions(agent)
    check(report)
    assert report.kills == report.waiting == report.runs > 0
    # Where several calls wait, those before the deadly one are decided and not made.
    assert bool(report.decided) is (agent == "confirmed council")


def test_every_example_is_among_those_that_are_killed():
    names = {agent.name for agent in AGENTS.values() if agent.config is None}
    assert names == {path.stem for path in EXAMPLES.glob("*.yml")}
