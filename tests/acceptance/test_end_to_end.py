"""Specification 12.2, E01 to E05: what each kind of agent answers, in its own scripted world."""

import asyncio
from pathlib import Path

import pytest

from lambdagent import Result, arun, from_config, run
from tests.acceptance import agents


def answered(folder: Path, kind: str, *, asynchronous: bool = False) -> Result:
    path = folder / "agent.yml"
    path.write_text(agents.scripted(kind), encoding="utf-8")
    tools = {"add": agents.add} if kind == "react" else None
    term, value = from_config(path, tools=tools), agents.TYPES[kind][1]
    return asyncio.run(arun(term, value)) if asynchronous else run(term, value)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", agents.TYPES)
def test_each_type_answers(tmp_path: Path, kind: str, asynchronous: bool):
    assert answered(tmp_path, kind, asynchronous=asynchronous).value == agents.TYPES[kind][3]


def test_e01_the_sum_is_in_the_answer(tmp_path: Path):
    assert "2" in answered(tmp_path, "react").value


def test_e02_a_simple_agent_answers_something(tmp_path: Path):
    assert answered(tmp_path, "simple").value


def test_e03_a_chain_of_three_steps_has_three_records_per_good_answer(tmp_path: Path):
    """Its second step fails its guard once, which is a fourth call."""
    trace = answered(tmp_path, "chain").trace
    assert [record.term for record in trace] == ["extract", "analyze", "analyze", "draft"]
    path = tmp_path / "agent.yml"
    path.write_text(path.read_text().replace("- short\n", ""))
    trace = run(from_config(path), "A long text.").trace
    assert [record.term for record in trace] == ["extract", "analyze", "draft"]
    assert [record.input for record in trace[1:]] == ["the facts", "the analysis"]


def test_e04_a_question_about_code_goes_to_the_code_agent(tmp_path: Path):
    trace = answered(tmp_path, "router").trace
    assert [record.term for record in trace] == ["classifier", "route", "code"]
    assert trace[1].output == "selected: code"


def test_e05_a_react_agent_ends_within_its_bound(tmp_path: Path):
    trace = answered(tmp_path, "react").trace
    assert [r.term for r in trace][-1] == "terminate"
    assert sum(record.kind == "llm" for record in trace) == 2
