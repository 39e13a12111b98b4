"""Sums of a run: by term, of reductions, of what failed."""

import pytest

from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Exchange, Failure
from lambdagent.ir.sites import Site
from lambdagent.machine.state import Event, Machine
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.stats import Stats, calls_of, render, stats

LLM = Site("llm:a#2", "llm", Record(agent="a", conversation=False))
NOW = Site("now:a", "now", Record())
MACHINE = Machine({}, (1, 2000, 3, 4, 5, 6), 12_345)

RECORDS = (
    TraceRecord(0, "llm", "a", "x", "y", 0.0, 2.0, (100, 20), key=(0,)),
    TraceRecord(1, "route", "route", "", "selected: b", key=(1,)),
    TraceRecord(2, "llm", "a", "x", "z", 2.0, 1.0, (50, 5), key=(1,)),
)


def exchange(key: tuple[int, ...], site: Site, answer: object, took_s: float) -> Exchange:
    return Exchange(key, site, "x", answer, 0.0, took_s)  # type: ignore[arg-type]


def usage(read: int, written: int) -> Record:
    return Record(text="y", usage=Record(input=read, output=written))


EXCHANGES = {
    (0,): exchange((0,), LLM, usage(100, 20), 2.0),
    (1,): exchange((1,), LLM, usage(50, 5), 1.0),
    (2,): exchange((2,), NOW, 17.0, 0.0),
    (3,): exchange((3,), LLM, Failure("ProviderError", "out of\nreach\x1b[31m"), 1.0),
}
EVENTS = [
    Event((1,), "guard", "", "y", 2, 5),
    Event((2,), "guard", "", "z", 0, 9),
    Event((2,), "llm", "a", "z", 1, 8),
]
ENGINE = ("cek", "asked for")


def found() -> Stats:
    calls = list(calls_of(RECORDS, EXCHANGES))
    return stats(calls, EVENTS, EXCHANGES, MACHINE, 5.0, ENGINE)


def test_calls_are_summed_by_term():
    rows = {row.term: row for row in found().rows}
    assert list(rows) == ["a", "llm:a#2", "route", "now:a"]
    said = rows["a"]
    assert (said.calls, said.total_s, said.mean_s, said.longest_s) == (2, 3.0, 1.5, 2.0)
    assert said.tokens == (150, 25)
    assert found().share(said) == pytest.approx(0.75)
    assert (rows["route"].calls, rows["route"].waited, rows["route"].mean_s) == (1, 0, 0.0)
    assert rows["llm:a#2"].tokens is None


def test_guards_and_failures_are_counted():
    some = found()
    assert (some.retries, some.fallbacks) == (1, 1)
    assert [(key, site) for key, site, _ in some.failures] == [((3,), "llm:a#2")]
    assert some.longest is not None
    assert (some.longest.term, some.longest.key) == ("a", (0,))


def test_json_has_all_of_it():
    row = found().to_json()
    assert row["reductions"] == {
        "beta": 1, "delta": 2000, "mu": 3, "gamma": 4, "epsilon": 5, "pi": 6
    }  # fmt: skip
    assert (row["transitions"], row["transitions_of"]) == (12_345, "run")
    assert (row["engine"], row["engine_reason"]) == ENGINE
    assert row["longest"] == {"term": "a", "key": "@0", "duration_ms": 2000.0}
    assert row["failures"] == [
        {
            "key": "@3",
            "site": "llm:a#2",
            "kind": "ProviderError",
            "message": "out of\nreach\x1b[31m",
        }
    ]


def test_text_is_a_table_and_facts():
    lines = render(found(), 100).splitlines()
    assert lines[1].split() == ["a", "llm", "2", "3.0s", "1.5s", "2.0s", "75.0%", "150", "25"]
    assert "reductions   β 1  δ 2,000  μ 3  γ 4  ε 5  π 6" in lines
    assert "retries      guards asked again 1×, and gave up 1×" in lines
    assert r"failures     llm:a#2 at @3: ProviderError: out of reach\u001b[31m" in lines
    assert max(map(len, render(found(), 40).splitlines())) <= 40


def test_fewer_rows_have_the_same_shares():
    some = found().only(lambda row: row.kind == "route")
    assert [row.term for row in some.rows] == ["route"]
    assert some.total_s == found().total_s
    assert "no such" not in render(found().only(lambda row: row.kind == "no such"), 80)


def test_a_run_without_calls_has_sums_too():
    nothing = stats([], [], {}, MACHINE, 0.0)
    assert nothing.longest is None
    lines = render(nothing, 80).splitlines()
    assert lines[-1] == "time         0s; all calls added up, 0s"
    assert "engine       not recorded" in lines


def test_transitions_of_a_replay_are_told_as_such():
    replayed = stats([], [], {}, MACHINE, 0.0, ("recursive", "no choice"))
    assert replayed.to_json()["transitions_of"] == "replay"
    said = "12,345, of the replay; the run was in direct style, which makes none"
    assert f"transitions  {said}" in render(replayed, 100).splitlines()
    assert stats([], [], {}, MACHINE, 0.0).to_json()["transitions_of"] is None


def test_many_failures_are_told_in_part():
    many = {(i,): exchange((i,), LLM, Failure("ToolError", "no"), 0.0) for i in range(50)}
    lines = render(stats([], [], many, MACHINE, 0.0), 80).splitlines()
    assert lines[-1] == "failures     and 30 more"
    assert len([line for line in lines if "ToolError" in line]) == 20
