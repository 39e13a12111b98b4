"""What the caller brings is looked at before anything is built from it."""

from pathlib import Path
from typing import Any

import pytest

from lambdagent import (
    SchemaError,
    Scripted,
    SemanticError,
    Tool,
    build_agent,
    load_config,
    run,
)
from lambdagent.api.compiling import parse_config
from lambdagent.errors import plain
from lambdagent.source import Source
from tests.effects.agents import MODEL, speaker

WHOLE, FIELD_OF = "a whole number from 1", {"tool_timeout_s": "tool_timeout"}


def react(**more: Any) -> dict[str, Any]:
    return {"type": "react", "systemPrompt": "p", "model": MODEL, **more}


def simple(**more: Any) -> dict[str, Any]:
    return {"type": "simple", "systemPrompt": "p", "model": MODEL, **more}


@pytest.mark.parametrize(
    ("name", "expected", "wrong"),
    [
        ("max_steps", WHOLE, [2.5, True, "5", 0, float("nan"), [], object()]),
        ("max_tokens", WHOLE, [2.5, True, "5", -1]),
        ("model", "a text", [5, b"m", True, ["m"]]),
        ("temperature", "a number from 0 to 2", ["hot", True, "1", 2.1, float("nan"), 1j]),
        ("tool_timeout_s", "a number above 0", ["5", True, 0, float("nan")]),
    ],
)
def test_a_setting_of_the_wrong_type_or_range_is_a_schema_error(
    name: str, expected: str, wrong: list[object]
):
    for value in wrong:
        with pytest.raises(SchemaError) as caught:
            build_agent(react(), **{name: value})
        error = caught.value
        assert error.diagnostic.code == "S103"
        assert (error.field, error.expected) == (FIELD_OF.get(name, name), expected)
        assert error.actual is value
        assert plain(value) in str(error)


def test_numbers_of_either_type_are_fine():
    term = build_agent(react(), temperature=1, tool_timeout_s=2, max_steps=3, max_tokens=4)
    assert term.max_steps == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"tools": {"t": 5}}, 'tools["t"]'),
        ({"tools": {"t": None}}, 'tools["t"]'),
        ({"tools": {5: len}}, "tools"),
        ({"tools": [len]}, "tools"),
        ({"providers": [speaker()]}, "providers"),
        ({"providers": {5: speaker()}}, "providers"),
        ({"memory_store": object()}, "memory_store"),
        ({"memory_store": [1]}, "memory_store"),
        ({"memory_store": {5: 1}}, "memory_store"),
    ],
)
def test_an_object_that_cannot_do_what_is_asked_of_it_is_a_schema_error(
    given: dict[str, Any], field: str
):
    with pytest.raises(SchemaError) as caught:
        build_agent(react(memory={"enabled": True}), **given)
    assert (caught.value.diagnostic.code, caught.value.field) == ("S103", field)


@pytest.mark.parametrize("missing", ["list_recent", "put"])
def test_a_store_must_be_read_and_written(missing: str):
    class Store:
        list_recent = put = None

    store = Store()
    for method in {"list_recent", "put"} - {missing}:
        setattr(store, method, print)
    with pytest.raises(SchemaError, match="`list_recent` and `put`"):
        build_agent(simple(memory={"enabled": True}), memory_store=store)


def test_all_findings_are_told_at_once():
    with pytest.raises(SchemaError) as caught:
        build_agent(react(), tools={"a": 1, "b": 2}, memory_store=3)
    assert [each.field for each in caught.value.diagnostics] == [
        'tools["a"]',
        'tools["b"]',
        "memory_store",
    ]
    with pytest.raises(SchemaError) as caught:
        build_agent(react(), model=5, max_steps="5")
    assert [each.field for each in caught.value.diagnostics] == ["model", "max_steps"]


# --- providers that nothing uses -----------------------------------------------------------------


def test_a_provider_that_nothing_uses_is_refused():
    with pytest.raises(SemanticError, match=r"S203.*uses the provider anthropic") as caught:
        build_agent(simple(), providers={"anthropic": speaker(), "openai": speaker()})
    assert len(caught.value.diagnostics) == 1
    assert "served by openai" in str(caught.value)


def test_a_provider_of_an_agent_inside_another_one_is_used():
    inner = simple(model={"provider": "deepseek", "name": "m"})
    chain = {"type": "chain", "systemPrompt": "p", "model": MODEL, "chain": {"steps": [inner]}}
    assert build_agent(chain, providers={"deepseek": speaker()})
    with pytest.raises(SemanticError, match="S203"):
        build_agent(chain, providers={"openai": speaker()})


def test_a_provider_of_the_model_that_the_caller_chooses_is_used():
    config = {"type": "simple", "systemPrompt": "p"}
    agent = build_agent(config, model="claude-x", providers={"anthropic": speaker("hi")})
    assert run(agent, "x").value == "hi"


def test_tools_and_scripted_models_may_be_objects():
    agent = build_agent(
        react(), tools={"t": Tool("t", len)}, providers={"openai": Scripted(["a"])}
    )
    assert run(agent, "x").value == "a"


# --- where relative paths start ------------------------------------------------------------------


def test_a_loaded_configuration_remembers_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "r.jsonl").write_text(
        '{"lambdagent-recording": 1}\n{"agent": "echo", "reply": "recorded"}\n'
    )
    text = (
        "type: simple\nname: echo\nsystemPrompt: p\n"
        "model: {provider: scripted, script: {recording: r.jsonl}}\n"
    )
    (folder / "a.yml").write_text(text)
    monkeypatch.chdir(tmp_path)
    for name in ("agents/a.yml", str(folder / "a.yml")):
        assert run(build_agent(load_config(name)), "x").value == "recorded"
    monkeypatch.chdir(folder)
    for name in ("", "no such file", "n" * 5_000, "a\0b"):
        assert run(build_agent(parse_config(Source(name, text))), "x").value == "recorded"
