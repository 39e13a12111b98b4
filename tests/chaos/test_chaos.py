"""Runs in real processes that are killed, at any moment, again and again: nothing gets lost.

`make chaos` kills 10,000.
"""

import pytest

from tests.chaos.chaos import Report, run_chaos
from tests.chaos.world import AGENTS


def check(report: Report, kills: int) -> None:
    assert report.problems == [], str(report)
    assert (report.duplicates, report.divergences, report.lost) == (0, 0, 0)
    assert report.kills >= kills
    # Kills that find nothing to destroy prove nothing.
    assert report.resumes > kills / 2
    assert report.under_way > kills / 8
    assert report.with_states > kills / 8
    assert report.keyed > kills


def test_processes_that_are_killed_lose_nothing(tmp_path):
    check(run_chaos(30, 1, tmp_path), 30)


@pytest.mark.slow
def test_hundreds_of_processes_that_are_killed_lose_nothing(tmp_path):
    report = run_chaos(400, 2, tmp_path)
    check(report, 400)
    assert report.by_agent.keys() == AGENTS.keys()
