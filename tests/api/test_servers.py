"""Agents whose tools are on servers: asked before the run, called in it, kept unaddressed."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lambdagent import Session, arun, from_config, load_program, run
from lambdagent.api import kept
from lambdagent.api.compiling import Compiled, compile_file, compile_term
from lambdagent.api.declared import declared_in
from lambdagent.api.programs import parse_program
from lambdagent.api.recording import document
from lambdagent.effects import mcp
from lambdagent.effects.mcp import pool
from lambdagent.errors import EffectError, SemanticError
from lambdagent.frontend.build import NO_OVERRIDES
from lambdagent.ir.program import Program
from lambdagent.ir.remote import OPEN_ENDED
from lambdagent.ir.surface import Term, Tool
from lambdagent.source import Source
from tests.effects.local_server import Answer, LocalServer, local_server  # noqa: F401
from tests.effects.mcp import plain
from tests.effects.mcp.servers import PLAIN
from tests.laws.test_text import check_agent

SECRET = "hush-hush-hush"
ENGINES = ("recursive", "cek")
CALLS = [
    {"tool": "add", "args": {"a": 2, "b": 3}},
    {"tool": "greet", "args": "Ann"},
    {"tool": "add", "args": {"a": "two"}},
    {"tool": "fail", "args": {}},
    {"tool": "terminate", "args": "done"},
]


def agent(folder: Path, *calls: object, more: str = "", server: str = "", words: str = "") -> Path:
    """Write an agent that makes `calls`, and return its file."""
    replies = [json.dumps(each) if isinstance(each, dict) else each for each in calls]
    arguments = json.dumps([PLAIN, *words.split()])
    file = folder / "agent.yml"
    file.write_text(
        f"""\
type: react
name: caller
systemPrompt: Call.
model: {{provider: scripted, script: {{replies: {json.dumps(replies)}}}}}
mcp: {{localTools: [terminate]}}
mcpServers:
  - name: plain
    transport: stdio
    command: {sys.executable}
    args: {arguments}
    env: {{HIDDEN: {SECRET}}}
    {server}
{more}
"""
    )
    return file


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Term]:
    """An agent whose server runs for as long as the tests of this file."""
    folder = tmp_path_factory.mktemp("agent")
    with pool.kept_open():
        yield from_config(agent(folder, *CALLS))
    assert not any(each.connections for each in pool._pools.values())


OBSERVED = [
    "5",
    "Hello, Ann!",
    "[TOOL_ERROR: fail] no luck",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_its_tools_are_called_on_both_engines(caller: Term, engine):
    result = run(caller, "go", engine=engine)
    assert (result.value, result.engine) == ("done", engine)
    called = [record for record in result.trace if record.kind == "tool"]
    assert [record.output for record in called] == OBSERVED
    assert [record.term for record in called] == ["Tool:add", "Tool:greet", "Tool:fail"]
    refused = [r.input for r in result.trace if "do not fit" in str(r.input)]
    assert refused[0].startswith("Observation from tool call: the arguments of `add` do not fit")


async def test_they_are_called_on_an_event_loop(caller: Term):
    result = await arun(caller, "go")
    assert [r.output for r in result.trace if r.kind == "tool"] == OBSERVED


async def test_many_runs_share_one_server_and_no_run_has_a_thread(caller: Term):
    before = threading.active_count()
    most = 0

    async def one() -> None:
        nonlocal most
        assert (await arun(caller, "go")).value == "done"
        most = max(most, threading.active_count())

    await asyncio.gather(*(one() for _ in range(30)))
    assert most <= before + 1


def test_what_servers_say_reads_back_in_every_form(caller: Term):
    check_agent(caller)
    again = Tool("t", None, server="s", parameters=plain.ADD, retries=2)
    check_agent(again)
    text = Compiled("a", again, compile_term(again)).formal()
    program = parse_program(Source("a.lam", text), "a", NO_OVERRIDES)[1]
    assert Compiled("a", None, program).formal() == text
    site = compile_term(caller).sites["tool:add"]
    assert site.static["server"] == "plain"
    assert site.static["parameters"] != OPEN_ENDED
    assert site.idempotent is False


def test_models_are_told_what_tools_take(caller: Term):
    site = compile_term(caller).sites["llm:caller"]
    told = {tool["name"]: tool for tool in site.static["tools"]}  # type: ignore[union-attr]
    assert told["add"]["parameters"]["properties"]["a"]["type"] == "integer"
    assert told["add"]["description"] == "Add two numbers."


def test_native_calls_reach_the_server(tmp_path):
    made = {"tool_calls": [{"name": "add", "arguments": {"a": 40, "b": 2}}] * 2}
    ended = {"tool_calls": [{"name": "terminate", "arguments": {"answer": "both"}}]}
    file = agent(tmp_path)
    text = file.read_text().replace("replies: []", f"replies: {json.dumps([made, ended])}")
    file.write_text(text.replace("{provider:", "{toolCalling: native, provider:"))
    result = run(from_config(file), "go")
    assert result.value == "both"
    assert [r.output for r in result.trace if r.kind == "tool"] == ["42", "42"]


def test_a_service_is_offered_what_the_server_says(
    tmp_path,
    local_server: LocalServer,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setenv("CUSTOM_API_KEY", "k")
    called = {"name": "add", "arguments": '{"a": 40, "b": 2}'}
    calls = [{"id": "c1", "type": "function", "function": called}]
    for message in ({"content": None, "tool_calls": calls}, {"content": "It is 42."}):
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": message}
        local_server.answers.append(Answer({"id": "x", "choices": [choice]}))
    file = agent(tmp_path, server="tools: [add]")
    model = (
        f"model: {{provider: custom, name: m, baseUrl: {local_server.url}, toolCalling: native}}"
    )
    lines = [model if line.startswith("model:") else line for line in file.read_text().split("\n")]
    file.write_text("\n".join(lines))
    assert run(from_config(file), "What is 40 + 2?").value == "It is 42."
    first, second = (asked.body for asked in local_server.asked)
    (add,) = (each["function"] for each in first["tools"] if each["function"]["name"] == "add")
    assert add["description"] == "Add two numbers."
    assert add["parameters"] == plain.ADD
    assert second["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": "42"}


def test_a_call_waits_until_a_person_confirms_it(tmp_path):
    call = {"tool": "add", "args": {"a": 1}}
    end = {"tool": "terminate", "args": "end"}
    term = from_config(agent(tmp_path, call, call, end, more="confirm: [add]"))
    asked = iter([True, "not today"])
    result = run(term, "go", confirm=lambda _: next(asked))
    inputs = [str(record.input) for record in result.trace if record.kind == "llm"]
    assert [each for each in inputs if "Observation" in each] == [
        "Observation from add: 1",
        "Observation from add: [DENIED: add] not today",
    ]


SLEEP = [{"tool": "sleep", "args": {}}, {"tool": "terminate", "args": "woke up"}]


def test_time_limits_hold_with_both_drivers(tmp_path):
    term = from_config(agent(tmp_path, *SLEEP), tool_timeout_s=0.2)
    results = [run(term, "go"), asyncio.run(arun(term, "go"))]
    for result in results:
        assert result.value == "woke up"
        called = [record.output for record in result.trace if record.kind == "tool"]
        assert called == ["[MCP_TIMEOUT: plain/sleep]"]


# --- before the run ------------------------------------------------------------------------------


def test_a_server_that_cannot_be_used_is_told_before_anything_is_called(tmp_path):
    with pytest.raises(EffectError) as caught:
        load_program(agent(tmp_path, words="gone"))
    assert caught.value.exit_code == 1
    assert caught.value.diagnostic.code == "E024"
    assert SECRET not in str(caught.value)


def test_a_fault_of_the_file_is_told_before_a_server_is_asked(tmp_path):
    file = agent(tmp_path, more="confirm: [add]\nfoo: 1", words="gone")
    with pytest.raises(Exception, match="unknown key `foo`"):
        from_config(file)
    file = agent(tmp_path, more="react: {earlyStop: '('}", words="gone")
    with pytest.raises(Exception, match="earlyStop"):
        from_config(file)


def test_without_the_sdk_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(mcp, "find_spec", lambda _: None)
    with pytest.raises(EffectError) as caught:
        from_config(agent(tmp_path))
    assert caught.value.diagnostic.fix == "pip install 'lambdagent[mcp]'"
    term = from_config(agent(tmp_path, server="tools: [add]"), discover=False)
    with pytest.raises(EffectError):
        run(term, "go")


def test_nobody_is_asked_without_being_told_to(tmp_path):
    with pytest.raises(SemanticError) as caught:
        from_config(agent(tmp_path, words="gone"), discover=False)
    assert caught.value.diagnostic.code == "S206"
    named = compile_file(agent(tmp_path, words="gone", server="tools: [add, greet]"))
    assert [each.what for each in named.remarks] == [
        "what these tools of the server `plain` take is not known here: add, greet"
    ]


def test_a_tool_that_the_server_has_not_is_told_with_near_names(tmp_path):
    with pytest.raises(SemanticError) as caught:
        from_config(agent(tmp_path, server="tools: [gret]"))
    found = caught.value.diagnostic
    assert (found.code, found.field, found.fix) == (
        "S205",
        "mcpServers[0].tools[0]",
        "write `greet`",
    )
    assert "gret" in str(caught.value)


# --- kept runs -----------------------------------------------------------------------------------


def stopped(program: Program, folder: Path) -> kept.Run:
    """Return a kept run that stopped after its first call of a model, with nothing of a server."""
    made = kept.Run.begin(program, "go", folder)
    with pytest.raises(Exception, match="transitions"), made:
        made._session.run("go", transition_limit=1)
    return made


def test_a_kept_run_goes_on_with_what_its_servers_had_said(tmp_path, monkeypatch):
    file = agent(tmp_path, *CALLS)
    program = load_program(file)
    path = stopped(program, tmp_path / "runs").path
    for each in path.rglob("*"):
        if each.is_file():
            held = each.read_bytes()
            assert SECRET.encode() not in held
            assert PLAIN.encode() not in held
    with pytest.raises(EffectError) as caught:
        kept.Run.load(path)
    assert caught.value.diagnostic.code == "E023"
    known, digest = declared_in(path)
    assert [tool.name for tool in known["plain"]][:2] == ["add", "greet"]
    monkeypatch.setattr(mcp, "discover", lambda *_: pytest.fail("it was asked again"))
    again = load_program(file, declared=known)
    assert again.digest() == digest == program.digest()
    with kept.Run.load(path, program=again) as going:
        assert going.resume().value == "done"
    with kept.Run.load(path) as ended:  # nobody is called any more, so nobody must be found
        assert ended.resume().value == "done"


def test_a_run_that_cannot_be_read_says_nothing_of_servers(tmp_path):
    assert declared_in(tmp_path) == ({}, "")


def test_no_recording_says_where_a_server_is(caller: Term):
    with Session(caller) as session:
        session.run("go")
        history = session.history()
        assert history is not None
        text = document(history, {}, session.redaction)
    assert '"plain"' in text
    assert SECRET not in text
    assert PLAIN not in text
