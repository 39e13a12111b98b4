"""Tools of servers, as agents get them from the file and from what servers have said."""

from typing import Any

import pytest

from lambdagent import Tool
from lambdagent.api.compiling import build_agent, compile_term
from lambdagent.errors import CompileError
from lambdagent.ir.data import Record, freeze
from lambdagent.ir.registry import lookup
from lambdagent.ir.remote import OPEN_ENDED, RemoteTool
from lambdagent.ir.surface import ReActStep, subterms

MODEL = {"provider": "openai", "name": "m"}
ADD = freeze({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
HTTP = {"name": "web", "transport": "http", "url": "http://localhost/mcp"}
STDIO = {"name": "local", "transport": "stdio", "command": "serve"}
NODES = {
    "mcp": {"custom": {"nodes": {"weather": {"url": "http://w.example/", "endpoint": "call"}}}}
}


def said(server: str, *names: str) -> list[Tool]:
    return [Tool(name, None, description="D", parameters=ADD, server=server) for name in names]


def react(**more: Any) -> dict[str, Any]:
    return {"type": "react", "systemPrompt": "p", "model": MODEL, **more}


def tools(held: dict[str, Any], **overrides: Any) -> dict[str, Tool]:
    term = build_agent(held, **overrides)
    steps = [each for each in subterms(term) if isinstance(each, ReActStep)]
    return {tool.name: tool for step in steps for tool in step.tools}


def remote(tool: Tool) -> RemoteTool:
    assert tool.implementation is not None
    found = lookup(tool.implementation)
    assert isinstance(found, RemoteTool)
    return found


def told(held: dict[str, Any], **overrides: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(CompileError) as caught:
        build_agent(held, **overrides)
    return [(each.code, each.field) for each in caught.value.diagnostics]


# --- which tools ---------------------------------------------------------------------------------


def test_all_tools_that_a_server_has_said_are_those_of_the_agent():
    found = tools(react(mcpServers=[HTTP]), declared={"web": said("web", "a", "b")})
    assert [*found] == ["a", "b"]
    assert (found["a"].parameters, found["a"].description, found["a"].server) == (ADD, "D", "web")
    assert remote(found["a"]).name == "a"
    assert remote(found["a"]).server.url == "http://localhost/mcp"


def test_tools_narrows_them_and_so_does_online_tool():
    declared = {"web": said("web", "a", "b", "c")}
    server = {**HTTP, "tools": ["b", "a"]}
    assert [*tools(react(mcpServers=[server]), declared=declared)] == ["b", "a"]
    one = react(mcpServers=[server], mcp={"onlineTool": {"web": ["a"]}})
    assert [*tools(one, declared=declared)] == ["a"]
    out = react(mcpServers=[server], mcp={"onlineTool": {"web": ["c"]}})
    assert told(out, declared=declared) == [("S205", "mcp.onlineTool.web[0]")]


def test_servers_serve_the_agents_inside():
    inner = [react(), react(mcp={"onlineTool": {"web": ["b"]}})]
    held = {
        "type": "chain",
        "systemPrompt": "p",
        "model": MODEL,
        "mcpServers": [HTTP],
        "chain": {"steps": inner},
    }
    term = build_agent(held, declared={"web": said("web", "a", "b")})
    steps = [each for each in subterms(term) if isinstance(each, ReActStep)]
    assert [[tool.name for tool in step.tools] for step in steps] == [["a", "b"], ["b"]]
    assert compile_term(term).sites["tool:b"].static["server"] == "web"


def test_a_server_of_one_agent_serves_no_other():
    steps = [react(mcpServers=[HTTP]), react(mcp={"onlineTool": {"web": ["a"]}})]
    held = {"type": "chain", "systemPrompt": "p", "chain": {"steps": steps}}
    found = told(held, declared={"web": said("web", "a")})
    assert found == [("S207", "chain.steps[1].mcp.onlineTool.web")]


def test_what_is_named_is_known_where_nobody_was_asked():
    found = tools(react(mcpServers=[{**STDIO, "tools": ["a"]}]))
    assert found["a"].parameters == OPEN_ENDED
    assert told(react(mcpServers=[STDIO])) == [("S206", "mcpServers[0]")]


def test_a_node_takes_one_text():
    mcp = {"onlineTool": {"weather": ["forecast"]}, "localTools": ["terminate"]}
    found = tools(react(mcp=mcp, app=NODES))
    assert [*found] == ["terminate", "forecast"]
    assert found["forecast"].parameters is None
    assert remote(found["forecast"]).server.url == "http://w.example/call"
    assert [*tools(react(app=NODES))] == []  # those that are named, and no others


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ({"mcpServers": [{**HTTP, "tools": ["a", "ad"]}]}, [("S205", "mcpServers[0].tools[1]")]),
        ({"mcp": {"onlineTool": {"web": ["a"]}}}, [("S207", "mcp.onlineTool.web")]),
        ({"mcpServers": [HTTP, {**STDIO, "name": "web"}]}, [("S201", "mcpServers[1].name")]),
        (
            {"mcpServers": [{**HTTP, "name": "weather"}], "app": NODES},
            [("S201", "app.mcp.custom.nodes.weather")],
        ),
        ({"mcpServers": [HTTP, STDIO]}, [("S208", "mcpServers[1]")]),
        ({"mcpServers": [HTTP], "mcp": {"localTools": ["a"]}}, [("S208", "mcpServers[0]")]),
        ({"mcpServers": [{**HTTP, "name": "odd"}]}, [("S208", "mcpServers[0]")]),
        (
            {"mcpServers": [HTTP], "tools": [{"name": "a", "command": "true"}]},
            [("S208", "mcpServers[0]")],
        ),
    ],
)
def test_what_cannot_be_is_told_where_it_stands(held, found):
    declared = {name: said(name, "a") for name in ("web", "local", "weather")}
    declared["odd"] = said("odd", "terminate")
    assert told(react(**held), declared=declared) == found


def test_one_server_may_be_described_in_two_agents():
    steps = [react(mcpServers=[HTTP]), react(mcpServers=[HTTP])]
    held = {"type": "chain", "systemPrompt": "p", "chain": {"steps": steps}}
    term = build_agent(held, declared={"web": said("web", "a")})
    assert len([each for each in subterms(term) if isinstance(each, ReActStep)]) == 2


def test_near_names_are_told():
    declared = {"web": said("web", "search")}
    with pytest.raises(CompileError) as caught:
        build_agent(react(mcpServers=[{**HTTP, "tools": ["sarch"]}]), declared=declared)
    assert caught.value.diagnostic.fix == "write `search`"
    with pytest.raises(CompileError) as caught:
        build_agent(react(app=NODES, mcp={"onlineTool": {"weathr": ["t"]}}))
    assert caught.value.diagnostic.fix == "write `weather`"


def test_a_server_that_no_agent_can_use_is_told():
    held = {"type": "simple", "systemPrompt": "p", "model": MODEL, "mcpServers": [HTTP]}
    assert told(held) == [("S203", None)]


# --- how they are called -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "environment", "overrides", "limit_s"),
    [
        ({}, {}, {}, 7.0),
        ({}, {"LAMBDAGENT_MCP_TIMEOUT": "9.5"}, {}, 9.5),
        ({"timeout": 3}, {"LAMBDAGENT_MCP_TIMEOUT": "9.5"}, {}, 3.0),
        ({"timeout": 3}, {}, {"tool_timeout_s": 1.5}, 1.5),
    ],
)
@pytest.mark.parametrize("kind", ["server", "node"])
def test_who_says_how_long_a_call_may_take(
    written, environment, overrides, limit_s, kind, monkeypatch
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    held = react(react={"toolTimeout": 7})
    if kind == "server":
        held["mcpServers"] = [{**HTTP, "tools": ["t"], **written}]
    else:
        held["app"] = {"mcp": {"custom": {"nodes": {"n": {"url": "http://u", **written}}}}}
        held["mcp"] = {"onlineTool": {"n": ["t"]}}
    assert tools(held, **overrides)["t"].timeout_s == limit_s


def test_who_says_how_often_a_failed_call_is_made_again(monkeypatch):
    monkeypatch.setenv("LAMBDAGENT_MCP_RETRY", "2")
    server = [{**HTTP, "tools": ["t"]}]
    own = [{"name": "o", "command": "true"}]
    found = tools(react(mcpServers=server, tools=own))
    assert (found["t"].retries, found["o"].retries) == (2, 0)
    found = tools(react(mcpServers=server, tools=own, mcp={"policy": {"retryOnFail": 0}}))
    assert (found["t"].retries, found["o"].retries) == (0, 0)


@pytest.mark.parametrize(("name", "text"), [("TIMEOUT", "0"), ("TIMEOUT", "x"), ("RETRY", "-1")])
def test_a_variable_that_says_nothing_is_refused(name, text, monkeypatch):
    monkeypatch.setenv(f"LAMBDAGENT_MCP_{name}", text)
    assert told(react()) == [("S103", f"LAMBDAGENT_MCP_{name}")]


@pytest.mark.parametrize(
    ("more", "confirmed"),
    [
        ({}, False),
        ({"confirm": ["t"]}, True),
        ({"mcp": {"policy": {"mode": "intelligence"}}}, True),
        ({"mcp": {"policy": {"mode": "force"}}}, True),
    ],
)
def test_calls_of_servers_wait_for_a_person_as_others_do(more, confirmed):
    found = tools(react(mcpServers=[{**HTTP, "tools": ["t"]}], **more))
    assert found["t"].confirm is confirmed


# --- what is no part of the program --------------------------------------------------------------


def test_where_a_server_is_is_no_part_of_the_program():
    secret = {"headers": {"Authorization": "Bearer hush-hush-hush"}, "url": "http://a:hush@b/c"}
    one = build_agent(react(mcpServers=[{**HTTP, "tools": ["t"], **secret}]))
    other = build_agent(react(mcpServers=[{**HTTP, "tools": ["t"]}]))
    assert compile_term(one).digest() == compile_term(other).digest()
    assert one == other
    site = compile_term(one).sites["tool:t"]
    assert site.static["server"] == "web"
    assert site.static["parameters"] == OPEN_ENDED
    bound = lookup(site.binding or "")
    assert "hush" not in f"{one!r} {site!r} {site.static!r} {bound!r}"


def test_what_a_tool_takes_is_a_part_of_the_program():
    programs = [
        compile_term(build_agent(react(mcpServers=[HTTP]), declared={"web": [tool]}))
        for tool in (
            said("web", "a")[0],
            Tool("a", None, description="D", parameters=Record(type="object"), server="web"),
            Tool("a", None, description="E", parameters=ADD, server="web"),
        )
    ]
    assert len({program.digest() for program in programs}) == 3


def test_variables_stand_in_connections(monkeypatch):
    monkeypatch.setenv("PLACE", "there")
    held = react(mcpServers=[{**STDIO, "command": "${PLACE}", "args": ["--at=${PLACE}"]}])
    server = remote(tools(held, declared={"local": said("local", "a")})["a"]).server
    assert (server.command, server.args) == ("there", ("--at=there",))
