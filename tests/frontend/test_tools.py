"""`tools:` of a file, and how a file says that tools are called."""

from typing import Any

import pytest

from lambdagent import Tool, build_agent, compile_term
from lambdagent.errors import CompileError, LambdaSyntaxError, SchemaError
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.data import thaw
from lambdagent.source import Source

BASE = {"type": "react", "systemPrompt": "Work.", "model": {"provider": "openai", "name": "m"}}


def tools_of(*tools: dict[str, Any], given: Any = None, **more: Any) -> dict[str, Tool]:
    agent = build_agent({**BASE, "tools": list(tools), **more}, tools=given)
    return {tool.name: tool for tool in agent.body.tools}


def said(*tools: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(CompileError) as caught:
        tools_of(*tools, **more)
    return [(each.code, str(each.field)) for each in caught.value.diagnostics]


def schema_of(parameters: Any) -> Any:
    return thaw(tools_of({"name": "t", "parameters": parameters})["t"].parameters)


def test_a_tool_of_the_file_has_what_is_written():
    found = tools_of(
        {"name": "add", "description": "Add.", "command": "bc", "timeout": 3, "idempotent": True},
        react={"toolTimeout": 9},
        mcp={"localTools": ["terminate"], "policy": {"retryOnFail": 2}},
    )
    assert [*found] == ["terminate", "add"]
    add = found["add"]
    assert (add.description, add.command, add.timeout_s) == ("Add.", "bc", 3.0)
    assert (add.idempotent, add.retries, add.parameters) == (True, 2, None)


def test_parameters_in_short_are_an_object():
    short = {
        "q": "string",
        "n?": "integer",
        "xs": "number[]",
        "k": {"enum": ["a"], "default": "a"},
    }
    assert schema_of(short) == {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "xs": {"type": "array", "items": {"type": "number"}},
            "k": {"enum": ["a"], "default": "a"},
        },
        "required": ["q", "xs"],
        "additionalProperties": False,
    }
    assert schema_of({}) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_whole_schema_stays_as_it_is():
    whole = {"type": "object", "properties": {"q": {"type": "string"}}, "x-note": 1}
    assert schema_of(whole) == whole
    assert schema_of({"properties": {"q": {}}}) == {"type": "object", "properties": {"q": {}}}


@pytest.mark.parametrize(
    ("parameters", "places"),
    [
        ({"q": "text"}, ["q"]),
        ({"q": 3}, ["q"]),
        ({"q": {"type": "text"}}, ["properties.q.type"]),
        (
            {"q": {"mandatory": True}, "r": {"pattern": "(a+)+$"}},
            ["properties.q.mandatory", "properties.r.pattern"],
        ),
        ({"type": "object", "required": ["a"], "fields": {}}, ["fields"]),
    ],
)
def test_what_is_no_schema_is_told_at_its_place(parameters: Any, places: list[str]):
    found = said({"name": "t", "parameters": parameters})
    assert sorted(field for _, field in found) == [
        f"tools[0].parameters.{each}" for each in places
    ]
    assert {code for code, _ in found} <= {"S103", "S104"}


def test_names_are_given_once_and_terminate_is_taken():
    assert said({"name": "a"}, {"name": "a"}) == [("S201", "tools[1].name")]
    assert said({"name": "terminate"}) == [("S104", "tools[0].name")]


def look(query: str, limit: int = 5) -> str:
    """Look for pages.

    Args:
        query: What to find.
    """
    return query


def test_a_function_that_is_passed_runs_the_tool_and_says_what_the_file_does_not():
    found = tools_of({"name": "look", "timeout": 7}, given={"look": look})["look"]
    assert (found.description, found.timeout_s, found.command) == ("Look for pages.", 7.0, None)
    assert thaw(found.parameters)["properties"]["query"]["description"] == "What to find."
    own = {"name": "look", "description": "Mine.", "parameters": {"query": "string"}}
    found = tools_of(own, given={"look": look})["look"]
    assert found.description == "Mine."
    assert [*thaw(found.parameters)["properties"]] == ["query"]
    assert found.fn is look


def test_tools_of_the_file_may_be_confirmed():
    found = tools_of({"name": "pay"}, confirm=["pay"])
    assert found["pay"].confirm


def test_the_bound_of_calls_at_once_stands_in_the_term():
    agent = build_agent({**BASE, "mcp": {"policy": {"maxConcurrent": 4}}})
    assert agent.body.max_concurrent == 4


# --- how tools are called ------------------------------------------------------------------------


def is_native(provider: str, **model: Any) -> bool:
    held = {"provider": provider, "name": "m", **model}
    if provider == "scripted":
        held["script"] = {"replies": ["a"]}
    if provider == "custom":
        held["baseUrl"] = "http://localhost/v1"
    program = compile_term(build_agent({**BASE, "model": held, "tools": [{"name": "t"}]}))
    return bool(program.sites["llm:react"].static.get("native"))


@pytest.mark.parametrize(
    ("provider", "auto"),
    [
        *((name, True) for name in ("anthropic", "openai", "dashscope", "deepseek", "zhipu")),
        *((name, False) for name in ("ollama", "custom", "scripted", "claude-code")),
        ("moonshot", True),
    ],
)
def test_auto_calls_natively_where_the_provider_is_known_for_it(provider: str, auto: bool):
    assert is_native(provider) is auto
    assert not is_native(provider, toolCalling="text")
    if provider != "claude-code":
        assert is_native(provider, toolCalling="native")


def test_a_provider_that_calls_tools_of_its_own_is_asked_for_none():
    with pytest.raises(SchemaError) as caught:
        is_native("claude-code", toolCalling="native")
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.field)) == ("S104", "model.toolCalling")
    assert "`claude-code` calls tools of its own" in str(caught.value)


def test_an_object_of_ones_own_is_asked_natively_only_on_demand():
    class Own:
        def chat(self, messages: Any) -> str:
            return "a"

    def natively(**model: Any) -> Any:
        held = {**BASE, "model": {**BASE["model"], **model}, "tools": [{"name": "t"}]}
        agent = build_agent(held, providers={"openai": Own()})
        return compile_term(agent).sites["llm:react"].static.get("native")

    assert natively() is None
    assert natively(toolCalling="native") is True


@pytest.mark.parametrize(
    "reply",
    [
        {"texts": "a"},
        {"text": 3},
        {"tool_calls": "a"},
        {"tool_calls": [{"label": "a"}]},
        {"tool_calls": [3]},
    ],
)
def test_a_reply_of_a_script_is_a_text_or_a_mapping_of_its_form(reply: Any):
    with pytest.raises(SchemaError) as caught:
        build_agent(
            {**BASE, "model": {"provider": "scripted", "script": {"replies": ["a", reply]}}}
        )
    assert [str(each.field) for each in caught.value.diagnostics] == ["model.script.replies[1]"]


def test_of_tools_that_cannot_be_read_nothing_more_is_said():
    found = said("search", "terminate", confirm=["search"])  # type: ignore[arg-type]
    assert found == [("S103", "tools[0]"), ("S103", "tools[1]")]
    assert said({"name": []}, {"name": []}) == [("S104", f"tools[{n}].name") for n in range(2)]


@pytest.mark.parametrize("schema", ["{}", '{type: "number"}', "3"])
def test_a_row_with_a_schema_of_no_object_is_refused(schema: str):
    text = f'λx. Tool("t", x) where {{tool.t = {{command: "cat", parameters: {schema}}}}}'
    with pytest.raises(LambdaSyntaxError) as caught:
        parse_lambda(Source("a.lam", text))
    assert [found.code for found in caught.value.diagnostics] == ["P027"]
