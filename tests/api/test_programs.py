"""λ texts from Python: what the caller decides instead of the file."""

from pathlib import Path

import pytest

import lambdagent
from lambdagent import CompileError, SemanticError, Tool, load_program, run


def write(folder: Path, text: str, name: str = "p.lam") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_program_runs(tmp_path: Path):
    assert run(load_program(write(tmp_path, "λx. ⟨x, 1⟩")), "a").value == ("a", 1)


def test_an_agent_file_is_a_program_too(tmp_path: Path):
    text = "type: simple\nsystemPrompt: Hi.\nmodel: {provider: scripted, script: [a]}\n"
    text = text.replace("[a]", "{replies: [a]}")
    assert run(load_program(write(tmp_path, text, "a.yml")), "x").value == "a"


def test_functions_are_tools(tmp_path: Path):
    path = write(tmp_path, "λx. tool.double x")
    program = load_program(path, tools={"double": lambda x: int(x) * 2}, tool_timeout_s=9)
    assert program.sites["tool:double"].timeout_s == 9
    assert run(program, "4").value == 8


def test_a_tool_is_confirmed_only_where_the_program_asks(tmp_path: Path):
    tool = Tool("double", lambda x: int(x) * 2, confirm=True)
    asks = "λx. CASE confirm.double x OF {approved ⇒ λ_. tool.double x, denied ⇒ λw. w}"
    program = load_program(write(tmp_path, asks), tools={"double": tool})
    assert run(program, "4", confirm=lambda _: True).value == 8
    assert run(program, "4", confirm=lambda _: "no").value == "[DENIED: double] no"
    with pytest.raises(SemanticError, match=r"S203.*`confirm` of the tool double"):
        load_program(write(tmp_path, "λx. tool.double x"), tools={"double": tool})


def test_models_are_overridden(tmp_path: Path):
    path = write(tmp_path, 'llm.a where {llm.a = {model: {provider: "openai", name: "m"}}}')
    model = (
        load_program(path, model="n", temperature=0.5, max_tokens=7).sites["llm:a"].static["model"]
    )
    assert (model["name"], model["temperature"], model["max_tokens"]) == ("n", 0.5, 7)
    path = write(tmp_path, "llm.a where {llm.a = {}}")
    assert load_program(path, model="claude-x").sites["llm:a"].static["model"] is not None
    assert load_program(path).sites["llm:a"].static["model"] is None


def test_providers_are_injected(tmp_path: Path):
    path = write(tmp_path, 'llm.a where {llm.a = {model: {provider: "mine"}}}')
    program = load_program(path, providers={"mine": lambdagent.Scripted(["yes"])})
    assert run(program, "x").value == "yes"


class Store:
    def get(self, key):
        return None

    def put(self, key, value, ttl=0):
        raise AssertionError

    def list_recent(self, n):
        return [("k", "v")]

    def clear(self):
        raise AssertionError


def test_stores_are_injected(tmp_path: Path):
    path = write(tmp_path, "recall.m where {recall.m = {}}")
    result = run(load_program(path, memory_store=Store()), "x")
    assert result.value == [{"key": "k", "value": "v"}]
    with pytest.raises(SemanticError):
        load_program(write(tmp_path, "λx. x"), memory_store=Store())


def test_a_model_must_be_of_a_known_provider_or_named(tmp_path: Path):
    with pytest.raises(CompileError):
        load_program(write(tmp_path, 'llm{model: "unheard-of"}'))
