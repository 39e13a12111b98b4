"""What is wrong with sound parts of a file is told together with what is wrong with the others."""

from typing import Any

import pytest
from hypothesis import given

from lambdagent.api.compiling import build_agent
from lambdagent.errors import CompileError
from lambdagent.frontend.build import more_findings
from lambdagent.frontend.check import read_config
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.schema import AGENT
from lambdagent.source import Source
from tests.laws.test_schema_agrees import block

MODEL = {"provider": "openai", "name": "m"}
NOT_YET = {"type": "react", "systemPrompt": "p", "leaf": {"toolName": "t"}}
SOUND = {"type": "simple", "systemPrompt": "p", "model": MODEL}


def found(held: Any, **overrides: Any) -> list[tuple[str, str | None]]:
    """Return code and field of each finding."""
    with pytest.raises(CompileError) as caught:
        build_agent(held, **overrides)
    return [(each.code, each.field) for each in caught.value.diagnostics]


def test_the_checker_and_the_builder_are_heard_together():
    routes = {"_": SOUND, "b": {**SOUND, "model": {"provider": "opnai", "topP": 5}}}
    router = {"classifier": {"prompt": []}, "routes": routes}
    held = {
        "type": "chain",
        "systemPrompt": "p",
        "model": {**MODEL, "temperature": "hot"},
        "chain": {"steps": [NOT_YET, {"type": "router", "router": router}, {"prompt": 7.5}, 8]},
        "memory": {"enabled": True, "size": "x"},
        "skills": [],
        "rag": {"enabled": True},
    }
    told = found(held)
    assert {("S103", "model.temperature"), ("S103", "memory.size")} < set(told)
    assert ("S104", "chain.steps[1].router.classifier.prompt") in told
    assert {("S108", "skills"), ("S108", "chain.steps[0].leaf")} < set(told)
    assert ("S104", "chain.steps[1].router.routes._") in told
    assert ("S104", "chain.steps[1].router.routes.b.model.provider") in told


@pytest.mark.parametrize(
    "fault",
    [
        {"model": "openai"},
        {"model": {"provider": []}},
        {"model": {"Name": "m"}},
        {"model": {"provider": "openai", "name": []}},
        {"model": {"provider": "scripted", "script": []}},
        {"model": {"provider": "scripted", "script": {"rules": [{"match": "(", "reply": "a"}]}}},
        {"type": []},
        {"type": "react", "mpc": {"localTools": ["a"]}, "confirm": ["a"]},
        {"type": "react", "mcp": {"localTools": "a"}, "confirm": ["a"]},
        {"type": "react", "mcp": {"localTools": [[], "b"]}, "confirm": ["a"]},
        {"type": "chain"},
        {"type": "chain", "chain": {"steps": []}},
        {"type": "router", "router": {"routes": {}, "classifier": {"prompt": "p"}}},
        {"type": "parallel", "parallel": {"agents": [[]], "merge": "tuple"}},
        {"type": "parallel", "parallel": {"agents": [SOUND], "merge": "custom"}},
        {"type": "groupchat", "groupchat": []},
    ],
    ids=str,
)
def test_nothing_is_said_twice_of_one_fault(fault: dict[str, Any]):
    told = [code for code, _ in found({**SOUND, **fault})]
    assert len([code for code in told if code != "S108"]) == 1


def test_a_model_that_cannot_be_read_is_not_inherited():
    step = {"prompt": "p", "model": {"temperature": 0.5}}
    held = {"type": "chain", "systemPrompt": "p", "model": [], "chain": {"steps": [step]}}
    assert found(held) == [("S103", "model")]
    held["chain"]["steps"].append({"prompt": "q", "model": {"provider": "mine"}})
    assert found(held) == [("S103", "model"), ("S104", "chain.steps[1].model.provider")]


def test_overrides_that_are_none_are_told_with_the_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAMBDAGENT_TEMPERATURE", "hot")
    held = {**SOUND, "name": [], "skills": []}
    assert {code for code, _ in found(held)} == {"S103", "S104", "S108"}
    assert len(found(held)) == 3
    assert [code for code, _ in found(SOUND)] == ["S103"]


def test_what_nothing_uses_is_told_of_sound_files_alone():
    assert [code for code, _ in found(SOUND, max_steps=5)] == ["S203"]
    assert [code for code, _ in found({**SOUND, "type": []}, max_steps=5)] == ["S104"]


@given(block(AGENT, 0))
def test_no_fault_keeps_the_builder_from_what_is_beside_it(agent: dict[str, Any]):
    held = {
        "type": "parallel",
        "systemPrompt": "p",
        "parallel": {"agents": [agent, NOT_YET]},
    }
    config, _ = read_config(tree_of(held), Source("", ""), {})
    assert config is not None
    told = [each.field for each in more_findings(config)]
    assert "parallel.agents[1].leaf" in told
