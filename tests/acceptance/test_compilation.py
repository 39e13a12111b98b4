"""Specification 12.1, T01 to T08: which term each configuration compiles to."""

from pathlib import Path
from typing import Any

import pytest

from lambdagent import (
    Compose,
    ConversationLam,
    Guard,
    Lam,
    Loop,
    Memory,
    Par,
    ReActStep,
    Route,
    Term,
    Tool,
    from_config,
)
from lambdagent.ir.surface import subterms
from tests.acceptance import agents


def compiled(folder: Path, kind: str, **more: Any) -> Term:
    path = folder / "agent.yml"
    path.write_text(agents.scripted(kind, **more), encoding="utf-8")
    return from_config(path, tools={"add": agents.add} if kind == "react" else None)


def test_t01_simple_compiles_to_a_lam(tmp_path: Path):
    term = compiled(tmp_path, "simple")
    assert isinstance(term, Lam)
    assert isinstance(term, ConversationLam)
    assert (term.name, term.prompt) == ("greeter", "You are friendly.")


def test_t01_without_conversation_it_is_a_plain_lam(tmp_path: Path):
    text = (
        agents.SIMPLE + "model: {provider: scripted, conversation: false, script: {replies: []}}"
    )
    path = tmp_path / "agent.yml"
    path.write_text(text.replace("replies: []", "replies: [a]"))
    term = from_config(path)
    assert isinstance(term, Lam)
    assert not isinstance(term, ConversationLam)


@pytest.mark.parametrize("memory", [False, True])
def test_t02_react_compiles_to_a_loop_with_its_bound(tmp_path: Path, memory: bool):
    term = compiled(tmp_path, "react", **({"memory": {"enabled": True}} if memory else {}))
    assert isinstance(term, Memory) is memory
    loop = term.agent if isinstance(term, Memory) else term
    assert isinstance(loop, Loop)
    assert loop.max_steps == 20
    assert isinstance(loop.body, ReActStep)
    assert isinstance(loop.body, Tool)


def test_t03_chain_compiles_to_a_composition_of_its_steps(tmp_path: Path):
    term = compiled(tmp_path, "chain")
    assert isinstance(term, Compose)
    assert len(term.stages) == 3
    extract, analyze, draft = term.stages
    assert isinstance(extract, Lam)
    assert isinstance(draft, Lam)
    assert isinstance(analyze, Guard)
    assert (extract.name, draft.name, analyze.retry) == ("extract", "draft", 2)


def test_t04_router_compiles_to_a_route(tmp_path: Path):
    term = compiled(tmp_path, "router")
    assert isinstance(term, Route)
    assert len(term.routes) == 2
    assert set(term.routes) == {"code", "math"}
    assert term.default is None


def test_t05_parallel_compiles_to_a_par_and_its_merge(tmp_path: Path):
    term = compiled(tmp_path, "parallel")
    assert isinstance(term, Compose)
    par, merge = term.stages
    assert isinstance(par, Par)
    assert [branch.name for branch in par.branches if isinstance(branch, Lam)] == [
        "researcher",
        "critic",
    ]
    assert isinstance(merge, Lam)
    assert "Synthesize" in merge.prompt


@pytest.mark.parametrize("kind", agents.TYPES)
def test_t06_memory_is_the_outermost_term(tmp_path: Path, kind: str):
    more = {"memory": {"enabled": True}, "guard": {"validator": "True"}}
    term = compiled(tmp_path, kind, **more)
    assert isinstance(term, Memory)
    assert isinstance(term.agent, Guard)


@pytest.mark.parametrize("kind", agents.TYPES)
def test_t07_a_validator_gives_a_guard(tmp_path: Path, kind: str):
    guards = {"validator": "len(x) < 1000", "retry": 1}
    found = subterms(compiled(tmp_path, kind, guard=guards))
    assert any(isinstance(t, Guard) and t.validator == "len(x) < 1000" for t in found)


def test_t08_terminate_is_the_identity(tmp_path: Path):
    tools = [term for term in subterms(compiled(tmp_path, "react")) if isinstance(term, Tool)]
    terminate = next(tool for tool in tools if tool.name == "terminate")
    value = object()
    assert terminate.fn(value) is value
