"""The collector during a run."""

import gc
from collections.abc import Iterator

import pytest

from lambdagent.effects.collector import relaxed


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_collector_is_relaxed_during_a_run_and_as_before_after_it():
    with relaxed():
        assert gc.get_threshold() == (200_000, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_it_stays_relaxed_until_the_last_run_ends():
    with relaxed():
        with relaxed():
            pass
        assert gc.get_threshold()[0] == 200_000
    assert gc.get_threshold()[0] == 700


def test_it_is_as_before_after_a_run_that_failed():
    with pytest.raises(ZeroDivisionError), relaxed():
        raise ZeroDivisionError
    assert gc.get_threshold()[0] == 700


@pytest.mark.parametrize("threshold", [0, 1_000_000])
def test_a_collector_that_is_off_or_more_relaxed_is_left_alone(threshold: int):
    gc.set_threshold(threshold, 10, 10)
    with relaxed():
        assert gc.get_threshold()[0] == threshold
    assert gc.get_threshold()[0] == threshold
