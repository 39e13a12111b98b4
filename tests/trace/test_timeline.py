"""When the steps of a run were, drawn as specification 15.3 shows it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.fitting import columns
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.timeline import MOST, bars, duration, render

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "trace"

Key = tuple[int, ...]


def step(
    term: str, key: Key, started_s: float | None = None, elapsed_s: float = 0.0, kind: str = "llm"
) -> TraceRecord:
    return TraceRecord(0, kind, term, "", "", started_s, elapsed_s, key=key)


REACT = (
    step("think", (0,), 0.0, 2.8),
    step("route", (1,), kind="route"),
    step("Tool:search", (1,), 2.8, 1.2, "tool"),
    step("think", (2,), 4.0, 3.1),
    step("terminate", (3,), kind="terminate"),
)
PARALLEL = (
    step("plan", (0,), 0.0, 2.8),
    step("乐观的人", (1, 0, 0), 2.8, 1.6),
    step("route", (1, 0, 1), kind="route"),
    step("🙂", (1, 0, 1), 4.4, 0.8),
    step("critic", (1, 1, 0), 2.8, 3.1),
    step("route", (1, 1, 1), kind="route"),
    step("check", (2,), kind="terminate"),
    step("merge", (2,), 6.0, 0.2),
)


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize(("name", "records"), [("react", REACT), ("parallel", PARALLEL)])
def test_a_timeline_is_as_written_down(
    golden: Callable[[Path, str], None], name: str, records: tuple[TraceRecord, ...], width: int
):
    golden(GOLDEN / f"timeline-{name}-{width}.txt", render(bars(records), width) + "\n")


def test_what_waits_for_nothing_is_where_its_thread_stands():
    found = {(bar.record.term, bar.record.key): bar.start_s for bar in bars(PARALLEL)}
    assert found["route", (1, 0, 1)] == pytest.approx(4.4)
    assert found["route", (1, 1, 1)] == pytest.approx(5.9)
    assert found["check", (2,)] == pytest.approx(5.9)  # after both branches
    first = bars([step("a", (3, 1, 4, 0, 0)), step("b", (3, 1, 5)), step("c", (4,))])
    assert [bar.start_s for bar in first] == [0.0, 0.0, 0.0]


def test_a_branch_begins_when_its_fork_did():
    records = [
        step("before", (0,), 0.0, 2.0),
        step("long", (1, 0, 0), 2.0, 5.0),
        step("point", (1, 1, 0), kind="route"),
    ]
    assert [bar.start_s for bar in bars(records)] == [0.0, 2.0, 2.0]


def test_a_long_run_shows_its_longest_steps_and_says_what_it_leaves_out():
    records = [step(f"s{i}", (i,), float(i), 1.0 if i % 10 == 7 else 0.5) for i in range(500)]
    lines = render(bars(records), 80).splitlines()
    drawn = [line for line in lines if "⋮" not in line][3:-1]
    assert len(drawn) == MOST
    assert lines[3] == "├ s0" + lines[3][4:]
    assert lines[-1] == f"{MOST} of 500 steps are drawn: those that took longest"
    left_out = [line.split() for line in lines if "⋮" in line]
    assert sum(int(words[1]) for words in left_out) == 500 - MOST
    assert left_out[-1] == ["⋮", "2", "steps,", "1.0s"]


def test_a_run_in_no_time_is_points():
    assert render(bars([step("a", (0,), 0.0), step("b", (1,), 0.0)]), 60).splitlines() == [
        f"Time {'─' * 51}→",
        "0s",
        "│",
        "├─a",
        "├─b",
    ]
    assert render([], 60) == "no steps"


@pytest.mark.parametrize(
    ("seconds", "like", "text"),
    [
        (0.0, 5.0, "0s"),
        (2.84, None, "2.8s"),
        (1234.5, None, "1,234.5s"),
        (0.2, None, "200.0ms"),
        (0.2, 9.0, "0.2s"),
        (4.2e-6, None, "4.2µs"),
    ],
)
def test_durations_have_one_unit_in_a_drawing(seconds: float, like: float | None, text: str):
    assert duration(seconds, like) == text


def test_names_are_shown_on_one_line_and_do_not_steer():
    name = "a\nb\x1b[31m\u202ec\x00" + "x" * 1_000_000
    (line,) = render(bars([step(name, (0,), 0.0, 1.0)]), 80).splitlines()[3:]
    assert line.startswith("├─a\\u000ab\\u001b[31m")
    assert len(line) <= 80


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
times = st.floats(0, 1e5)
keys = st.integers(0, 9).map(lambda n: (n,)) | st.tuples(*[st.integers(0, 3)] * 3)
steps = st.builds(step, names, keys, times | st.none(), times)


@given(st.lists(steps, max_size=12), st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(records: list[TraceRecord], width: int):
    records.sort(key=lambda record: record.key)
    lines = render(bars(records), width).splitlines()
    assert max(map(columns, lines)) <= width
    if records:
        assert len(lines) == 3 + len(records)
