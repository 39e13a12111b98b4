"""Files, dicts, overrides and the environment → terms."""

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest

from lambdagent import (
    Compose,
    ConfigError,
    ConversationLam,
    EffectError,
    Lam,
    Loop,
    Memory,
    Model,
    ReActStep,
    Route,
    SchemaError,
    SemanticError,
    Term,
    Tool,
    build_agent,
    compile_term,
    from_config,
    load_config,
    run,
)
from lambdagent.api import compiling
from lambdagent.errors import NoSuchFileError
from lambdagent.ir.surface import subterms
from tests.effects.agents import MODEL, Face, call, face, say, speaker

__all__ = ["face"]

FILE = """\
type: router
name: desk
systemPrompt: p
model: {provider: openai, name: m, temperature: 0.1, maxTokens: 7}
router:
  classifier: {prompt: "Say a or b.", model: {temperature: 0.9}}
  routes:
    a:
      type: react
      systemPrompt: p
      react: {maxSteps: 3, toolTimeout: 4}
      mcp: {localTools: [terminate]}
    b: {type: chain, chain: {steps: [{prompt: q}, {type: react, systemPrompt: p}]}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with several agents."""
    file = tmp_path / "agent.yml"
    file.write_text(FILE)
    return file


def found(term: Term, kind: type[Any]) -> list[Any]:
    return [each for each in subterms(term) if isinstance(each, kind)]


def models(term: Term) -> list[Model]:
    return [lam.model for lam in found(term, Lam)]


def test_without_overrides_the_file_decides(path: Path):
    term = from_config(path)
    assert isinstance(term, Route)
    assert sorted({m.temperature for m in models(term)}) == [0.1, 0.9]
    assert {m.max_tokens for m in models(term)} == {7}
    assert [loop.max_steps for loop in found(term, Loop)] == [3, 10]


def test_model_temperature_and_max_tokens_hold_for_every_agent(path: Path):
    term = from_config(path, model="other", temperature=0.0, max_tokens=9)
    assert {(m.name, m.temperature, m.max_tokens) for m in models(term)} == {("other", 0.0, 9)}
    assert {m.provider for m in models(term)} == {"openai"}


def test_max_steps_and_tool_timeout_hold_for_every_loop(path: Path):
    term = from_config(path, max_steps=2, tool_timeout_s=0.5)
    assert [loop.max_steps for loop in found(term, Loop)] == [2, 2]
    tools = [tool for step in found(term, ReActStep) for tool in step.tools]
    assert {tool.timeout_s for tool in tools} == {0.5}


def test_tools_reach_every_loop_as_functions_or_tools(path: Path):
    def look(what: str) -> str:
        """Look at something.

        More is not told.
        """
        return what

    term = from_config(path, tools={"look": look, "list": Tool("list", command="ls")})
    for step in found(term, ReActStep):
        tools = {tool.name: tool for tool in step.tools}
        assert {"look", "list"} <= set(tools)
        assert tools["look"].fn is look
        assert tools["look"].description == "Look at something."
        assert tools["list"].command == "ls"


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"tool_timeout_s": 0}, "tool_timeout"),
    ],
)
def test_an_override_out_of_range_is_a_schema_error(
    path: Path, overrides: dict[str, Any], field: str
):
    with pytest.raises(SchemaError) as caught:
        from_config(path, **overrides)
    assert caught.value.field == field


def test_an_override_that_does_not_exist_is_a_type_error(path: Path):
    with pytest.raises(TypeError):
        from_config(path, temprature=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        build_agent({"type": "simple", "systemPrompt": "p", "model": MODEL}, temprature=1)


# --- the environment -----------------------------------------------------------------------------


def test_the_environment_wins_over_the_file_and_arguments_win_over_both(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAMBDAGENT_MODEL", "from-env")
    monkeypatch.setenv("LAMBDAGENT_TEMPERATURE", "0.0")
    monkeypatch.setenv("LAMBDAGENT_MAX_TOKENS", " 11 ")
    of = {(m.name, m.temperature, m.max_tokens) for m in models(from_config(path))}
    assert of == {("from-env", 0.0, 11)}
    given = from_config(path, model="given", temperature=1.0, max_tokens=5)
    assert {(m.name, m.temperature, m.max_tokens) for m in models(given)} == {("given", 1.0, 5)}


def test_empty_variables_count_as_not_set(path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("MODEL", "TEMPERATURE", "MAX_TOKENS"):
        monkeypatch.setenv(f"LAMBDAGENT_{name}", " ")
    assert {m.name for m in models(from_config(path))} == {"m"}


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("LAMBDAGENT_TEMPERATURE", "warm", "a number from 0 to 2"),
        ("LAMBDAGENT_MAX_TOKENS", "many", "a whole number from 1"),
        ("LAMBDAGENT_MAX_TOKENS", "1.0", "a whole number from 1"),
        ("LAMBDAGENT_MAX_TOKENS", "0", "a whole number from 1"),
    ],
)
def test_a_variable_of_the_wrong_type_is_a_schema_error(
    path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: str
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(SchemaError) as caught:
        from_config(path)
    error = caught.value
    assert (error.field, error.expected, error.actual) == (variable, expected, value)
    assert error.exit_code == 2


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "2.1"])
def test_a_temperature_of_the_environment_must_be_in_range(
    path: Path, monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setenv("LAMBDAGENT_TEMPERATURE", value)
    with pytest.raises(SchemaError, match="must be a number from 0 to 2"):
        from_config(path)


# --- memory and providers ------------------------------------------------------------------------


def simple(**more: Any) -> dict[str, Any]:
    return {"type": "simple", "name": "echo", "systemPrompt": "p", "model": MODEL, **more}


def test_memory_store_as_a_dict_is_what_is_remembered_from_the_start(face: Face):
    model = speaker("ok")
    term = build_agent(
        simple(memory={"enabled": True}),
        providers={"openai": model},
        memory_store={"city": "Rome", "stops": [1, 2]},
    )
    assert isinstance(term, Memory)
    face.ask(term, "x")
    assert model.asked == ["[Memory Context]\n- city: Rome\n- stops: [1, 2]\n\n[Current Input]\nx"]


def test_memory_store_as_an_object_replaces_the_strategy():
    class Store:
        def list_recent(self, n: int) -> list[tuple[str, Any]]:
            return []

        def put(self, key: str, value: Any, ttl: int = 0) -> None:
            pass

    store = Store()
    term = build_agent(simple(memory={"strategy": "redis"}), memory_store=store)
    assert isinstance(term, Memory)
    assert term.strategy == "custom"


def test_memory_store_for_a_memory_that_is_switched_off_is_refused():
    with pytest.raises(SemanticError, match="nothing in the file uses the injected memory"):
        build_agent(simple(memory={"enabled": False}), memory_store={"k": 1})


def test_a_provider_may_be_an_object_with_chat_alone(face: Face):
    """As in specification 5.5: messages as dicts in, text out."""

    class Mine:
        def __init__(self) -> None:
            self.asked: list[list[dict[str, str]]] = []

        def chat(self, messages: list[dict[str, str]]) -> str:
            self.asked.append(messages)
            return "mine"

    mine = Mine()
    assert face.ask(build_agent(simple(), providers={"openai": mine}), "x").value == "mine"
    system, user = {"role": "system", "content": "p"}, {"role": "user", "content": "x"}
    assert mine.asked == [[system, user]]


def test_such_a_provider_may_be_asynchronous(face: Face):
    class Mine:
        async def chat(self, messages: list[dict[str, str]]) -> dict[str, object]:
            usage = {"input": 1, "output": 2}
            return {"text": messages[-1]["content"].upper(), "usage": usage}

    result = face.ask(build_agent(simple(), providers={"openai": Mine()}), "x")
    assert (result.value, result.tokens) == ("X", 3)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_such_a_provider_raises_is_a_failure_of_the_model(face: Face, asynchronous: bool):
    class Mine:
        def chat(self, messages: object) -> str:
            what = "no luck"
            raise OSError(what)

    class Later(Mine):
        async def chat(self, messages: object) -> str:  # type: ignore[override]
            return super().chat(messages)

    agent = build_agent(simple(), providers={"openai": Later() if asynchronous else Mine()})
    with pytest.raises(EffectError, match=r"E002.*`openai` failed: OSError: no luck"):
        face.ask(agent, "x")


def test_what_such_a_provider_returns_must_be_a_reply(face: Face):
    class Mine:
        def chat(self, messages: object) -> int:
            return 7

    with pytest.raises(EffectError, match="E002"):
        face.ask(build_agent(simple(), providers={"openai": Mine()}), "x")


def test_a_provider_without_chat_is_refused_before_the_run():
    with pytest.raises(EffectError, match=r"E005.*a object has no method `chat`"):
        run(build_agent(simple(), providers={"openai": object()}), "x")


def test_a_provider_of_a_name_of_ones_own_may_be_injected():
    config = simple(model={"provider": "house", "name": "m"})
    assert run(build_agent(config, providers={"house": speaker("mine")}), "x").value == "mine"
    with pytest.raises(SchemaError, match="a known provider"):
        build_agent(config)


# --- dicts and files -----------------------------------------------------------------------------


def test_a_dict_compiles_to_what_its_file_does(path: Path):
    import yaml

    assert build_agent(yaml.safe_load(FILE)) == from_config(path)
    assert build_agent(load_config(path)) == from_config(path)


def test_compiling_twice_gives_the_same_term_and_program(path: Path):
    one, two = from_config(path), from_config(path)
    assert one == two
    assert compile_term(one).sites == compile_term(two).sites


def test_a_dict_with_faults_names_the_field():
    with pytest.raises(SchemaError) as caught:
        build_agent(simple(systemPrompt=["no", "text"]))
    assert caught.value.field == "systemPrompt"


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(NoSuchFileError, match="there is no file") as caught:
        from_config(tmp_path / "nowhere.yml")
    assert caught.value.exit_code == 4


def test_a_folder_and_a_binary_file_cannot_be_read(tmp_path: Path):
    with pytest.raises(ConfigError, match="S011"):
        from_config(tmp_path)
    (tmp_path / "a.yml").write_bytes(b"type: \xff")
    with pytest.raises(ConfigError, match=r"S008.*byte 6 is 0xff"):
        from_config(tmp_path / "a.yml")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_that_is_saved_as_utf_16_is_told(tmp_path: Path, encoding: str):
    (tmp_path / "a.yml").write_bytes("type: simple\n".encode(encoding))
    with pytest.raises(ConfigError, match=r"S008.*it is written as UTF-16"):
        from_config(tmp_path / "a.yml")


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiling, "MAX_FILE_BYTES", 1 << 20)
    (tmp_path / "a.yml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        from_config(tmp_path / "a.yml")


def test_variables_in_connections_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.yml"
    path.write_text(
        "type: simple\nsystemPrompt: 'Say ${HOST}'\n"
        "model: {provider: openai, name: m, baseUrl: 'http://${HOST}:${PORT:-80}/v1'}\n"
    )
    monkeypatch.setenv("HOST", "example.org")
    term = from_config(path)
    assert isinstance(term, ConversationLam)
    assert term.model is not None
    assert (term.prompt, term.model.base_url) == ("Say ${HOST}", "http://example.org:80/v1")
    config = load_config(path, {"HOST": "given"})
    assert build_agent(config).model.base_url == "http://given:80/v1"  # type: ignore[attr-defined]


def test_a_compiled_file_can_be_shown_in_each_form(path: Path):
    compiled = compiling.compile_file(path)
    assert compiled.term == from_config(path)
    assert compiled.describe().startswith("desk =\n")
    assert "CASE" in compiled.human()
    assert "Route(" in compiled.to_python()
    assert json.loads(json.dumps(compiled.to_json()))


def test_compiling_calls_no_tool_and_no_model(path: Path):
    asked = speaker()
    called: list[str] = []
    term = from_config(path, tools={"look": called.append}, providers={"openai": asked})
    compile_term(term)
    compiled = compiling.compile_file(path, tools={"look": called.append})
    for show in (compiled.describe, compiled.human, compiled.to_json, compiled.to_python):
        assert show()
    assert (asked.calls, called) == ([], [])


def test_a_hook_after_compiling_is_a_composition():
    """Specification 11.4."""
    agent = build_agent(simple(), providers={"openai": speaker("hello")})
    whole = agent >> Tool("postprocess", str.upper)
    assert isinstance(whole, Compose)
    assert whole("x") == "HELLO"


def test_a_tool_that_the_file_lists_must_be_given():
    config = {
        "type": "react",
        "systemPrompt": "p",
        "model": MODEL,
        "mcp": {"localTools": ["look", "terminate"]},
    }
    with pytest.raises(EffectError, match=r"S202.*there is no tool `look`"):
        run(build_agent(config, providers={"openai": speaker()}), "x")
    model = speaker(call("look"), say("end"))
    agent = build_agent(config, providers={"openai": model}, tools={"look": lambda _: "seen"})
    assert run(agent, "x").value == "end"


def test_nothing_of_a_file_is_left_to_the_collector(tmp_path: Path):
    path = tmp_path / "desk.yml"
    path.write_text(FILE)
    gc.disable()
    try:
        config = load_config(path)
        alive = weakref.ref(config)
        agent = build_agent(config)
        del config
        assert alive() is None
    finally:
        gc.enable()
    assert isinstance(agent, Route)


def test_a_term_is_compiled_once_and_its_program_goes_with_it():
    term = Lam("a", "p", Model(provider="openai", name="m"))
    program = compile_term(term)
    assert compile_term(term) is program
    assert compile_term(term, "b").name == "b"
    gone = weakref.ref(compile_term(term))
    del term, program
    gc.collect()
    assert gone() is None
