"""Servers that are processes of ours: their answers, their noise, their end."""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lambdagent import from_config, run
from lambdagent.effects.mcp import discover, pool, session, stdio
from lambdagent.effects.protocol import Cancellation, ToolFailure
from lambdagent.errors import BudgetError, EffectError
from lambdagent.ir.data import Record, freeze
from lambdagent.ir.remote import OPEN_ENDED
from tests.api.test_servers import agent
from tests.effects.mcp import plain as server
from tests.effects.mcp.servers import Calls, calls, invocation, logged, plain

PATIENCE_S = 5.0


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether something comes to be so, within a moment."""
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def gone(pid: int) -> bool:
    """Whether a process has ended, within a moment."""
    return soon(lambda: _state(pid) in {"", "Z"})  # whoever ends orphans may not have come by yet


def _state(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return told.rpartition(")")[2].split()[0]


PICTURE = """\
a cat
[image image/png, 3 bytes]
[audio audio/wav, 1 bytes]
[resource doc: file:///doc]
inside
[resource file:///b: x/y, 2 bytes]"""


@pytest.fixture(scope="module")
def said():
    with calls(plain()) as made:
        yield made


@pytest.mark.parametrize(
    ("tool", "given", "answer"),
    [
        ("add", {"a": 2, "b": 3}, "5"),
        ("greet", {"name": "Ann"}, "Hello, Ann!"),
        ("echo", {"deep": [{"x": None}, 1.5, "数"]}, '{"deep": [{"x": null}, 1.5, "\\u6570"]}'),
        ("echo", '{"a": 1}', '{"a": 1}'),
        ("echo", "just text", '{"input": "just text"}'),
        ("echo", "", "{}"),
        ("echo", {"x": "half \ud800"}, '{"x": "half \\ufffd"}'),
        ("table", {}, freeze({"rows": [1, 2]})),
        (
            "picture",
            {},
            PICTURE,
        ),
    ],
)
def test_arguments_reach_the_tool_and_its_answer_comes_back(said: Calls, tool, given, answer):
    assert said(tool, given) == answer


def test_one_value_is_the_only_argument_that_a_tool_wants(said: Calls):
    assert said("add", 4, schema=freeze(server.ADD)) == "4"
    assert said("greet", "Ann", schema=freeze(server.NAMED)) == "Hello, Ann!"


def test_a_number_that_json_has_not_is_refused(said: Calls):
    text = said.failure("echo", {"x": [float("inf")]})
    assert text == "[TOOL_ERROR: t] its arguments hold a number that JSON does not have"


def test_a_text_for_several_arguments_is_refused(said: Calls):
    schema = Record(type="object", properties=Record(a=OPEN_ENDED, b=OPEN_ENDED))
    text = said.failure("echo", "five", schema=schema)
    assert text == "[TOOL_ERROR: t] it takes an object with `a`, `b`"


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("fail", "[TOOL_ERROR: fail] no luck"),
        ("code", '[TOOL_ERROR: code] {"code": 7}'),
        ("refuse", "[TOOL_ERROR: refuse] not like that"),
        ("nonsense", "[MCP_ERROR: what it says is not in the form of the protocol]"),
    ],
)
def test_what_fails_is_told_as_a_failing_tool(said: Calls, tool, text):
    assert said.failure(tool) == text
    assert said("add", {"a": 1}) == "1"  # the connection is as good as before


def test_one_process_answers_all_threads(said: Calls):
    seen: list[str] = []
    work = [threading.Thread(target=lambda: seen.append(str(said("count")))) for _ in range(8)]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert len({text.split()[1] for text in seen}) == 1
    assert len({text.split()[0] for text in seen}) == 8


async def test_event_loops_use_the_same_connection(said: Calls):
    count = said.tool("count")
    seen = await asyncio.gather(*(count.acall(invocation("")) for _ in range(3)))
    assert {text.split()[1] for text in seen} == {str(said("count")).split()[1]}


def test_a_call_that_is_out_of_time_ends_and_the_server_is_told(said: Calls, caplog):
    caplog.set_level(logging.DEBUG, "lambdagent")
    assert said.failure("sleep", timeout_s=0.1) == "[MCP_TIMEOUT: plain/sleep]"
    assert said("add", {"a": 1}) == "1"
    assert soon(lambda: "mcp plain: stderr: cancelled" in logged(caplog, logging.DEBUG))


def test_a_call_that_nobody_waits_for_ends(said: Calls):
    stop = Cancellation()
    tool = said.tool("sleep")
    threading.Timer(0.05, stop.cancel).start()
    with pytest.raises(ToolFailure, match="it was cancelled"):
        tool.call(invocation("", cancel=stop))


async def test_a_call_of_an_event_loop_that_nobody_waits_for_ends(said: Calls):
    stop = Cancellation()
    asyncio.get_running_loop().call_later(0.05, stop.cancel)
    with pytest.raises(ToolFailure, match="it was cancelled"):
        await said.tool("sleep").acall(invocation("", cancel=stop))
    task = asyncio.ensure_future(said.tool("sleep").acall(invocation("")))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# --- processes of their own ----------------------------------------------------------------------


def test_a_server_that_dies_is_told_and_started_again_by_the_next_call():
    with calls(plain("mortal")) as made:
        first = str(made("count")).split()[1]
        assert made.failure("die") == "[MCP_ERROR: it ended]"
        count, second = str(made("count")).split()
        assert (count, second != first) == ("1", True)


def test_one_that_has_died_meanwhile_is_started_again_unnoticed(caplog):
    with calls(plain("mortal")) as made:
        pid = int(str(made("count")).split()[1])
        held = pool.connection_to(plain("mortal"), {})
        os.kill(pid, signal.SIGKILL)
        assert soon(lambda: held._session.lost)
        count, second = str(made("count")).split()
        assert (count, int(second) != pid) == ("1", True)
    assert logged(caplog, logging.WARNING) == []


def test_a_server_that_knows_the_new_handshake_alone_is_asked_so():
    assert discover([plain("modern")], os.environ)["plain"][0].name == "add"
    with calls(plain("modern")) as made:
        assert made("add", {"a": 1}) == "1"


def test_what_is_no_message_is_skipped_and_told_once(caplog, capfd):
    caplog.set_level(logging.DEBUG, "lambdagent")
    with calls(plain("noisy")) as made:
        assert made("add", {"a": 1}) == "1"
        assert made("add", {"a": 2}) == "2"
    told = logged(caplog, logging.WARNING)
    assert [text.rpartition(": ")[2] for text in told] == ["Plain server ready on stdio"]
    skipped = [text for text in logged(caplog, logging.DEBUG) if "got a message" in text]
    assert len(skipped) == 4  # initialize, its notification, two calls
    assert capfd.readouterr() == ("", "")


def test_a_server_gets_its_variables_and_none_of_our_secrets(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "hush-hush")
    monkeypatch.setenv("COLOUR", "blue")
    with calls(plain(env=(("MINE", "given"),))) as made:
        seen = [made("env", {"name": name}) for name in ("MINE", "COLOUR", "A_TOKEN")]
    assert seen == ["given", "blue", "unset"]


def test_it_runs_where_the_agent_file_is(tmp_path):
    with calls(plain(directory=str(tmp_path))) as made:
        made("add", {"a": 1})
        pid = int(str(made("count")).split()[1])
        assert Path(f"/proc/{pid}/cwd").readlink() == tmp_path


def test_it_ends_with_the_last_session_and_so_do_its_children(caplog):
    caplog.set_level(logging.DEBUG, "lambdagent")
    with calls(plain("child")) as made:
        pid = int(str(made("count")).split()[1])
        assert soon(lambda: any("stderr" in text for text in logged(caplog, logging.DEBUG)))
    child = int(next(t for t in logged(caplog, logging.DEBUG) if "stderr" in t).split()[-1])
    assert gone(pid)
    assert gone(child)


def test_a_run_that_is_out_of_time_leaves_no_server(tmp_path):
    end = {"tool": "terminate", "args": "woke up"}
    term = from_config(agent(tmp_path, {"tool": "sleep", "args": {}}, end))
    with pytest.raises(BudgetError):
        run(term, "go", timeout_s=0.2)
    held = [each for made in pool._pools.values() for each in made.connections]
    assert not any(each.directory == str(tmp_path) for each in held)


@pytest.mark.slow  # it is asked politely twice before it is killed
def test_one_that_does_not_want_to_end_must():
    with calls(plain("stay")) as made:
        pid = int(str(made("count")).split()[1])
    assert gone(pid)


def test_a_server_that_never_answers_is_out_of_time():
    with calls(plain("mute")) as made:
        assert made.failure("add", {"a": 1}, 0.2) == "[MCP_TIMEOUT: plain/add]"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (plain("mute", timeout_s=0.2), "it does not answer within 0.2 s"),
        (plain("gone"), "it ended"),
        (plain("broken"), "it answers: no licence"),
        (plain(command="no-such-program"), "it cannot be started: No such file or directory"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_one_that_cannot_be_used_is_told_before_the_run(made, message):
    with pytest.raises(EffectError) as caught:
        discover([made], os.environ)
    assert caught.value.diagnostic.what == f"the MCP server `plain` cannot be used: {message}"


# --- what they say of their tools ----------------------------------------------------------------


def test_all_pages_of_the_list_are_read():
    found = discover([plain("paged")], os.environ)["plain"]
    assert [tool.name for tool in found] == [*server.TOOLS]
    add = found[0]
    assert (add.description, add.parameters, add.server) == (
        "Add two numbers.",
        freeze(server.ADD),
        "plain",
    )
    assert not any(tool.idempotent for tool in found)  # hints are not trusted


def test_what_no_arguments_could_fit_is_left_out_of_a_schema(caplog):
    found = {tool.name: tool for tool in discover([plain()], os.environ)["plain"]}
    assert found["odd"].parameters == freeze({"type": "object", "properties": {"x": {}}})
    told = {"properties": {}, **server.TOOLS["echo"]["inputSchema"]}
    assert found["echo"].parameters == freeze(told)
    told = logged(caplog, logging.WARNING)
    assert told == ["mcp plain/odd: left out of its schema: properties.x.type"]


def test_a_list_of_tools_without_end_is_told(monkeypatch):
    monkeypatch.setattr(session, "_MOST_TOOLS", 3)
    with pytest.raises(EffectError, match="its list of tools has no end"):
        discover([plain("paged")], os.environ)


def test_a_name_that_is_listed_twice_is_told_on_whatever_page_it_is():
    for words in (["twice"], ["paged", "twice"]):
        with pytest.raises(EffectError, match="it lists `add` twice"):
            discover([plain(*words)], os.environ)


def test_an_answer_without_end_is_told(monkeypatch):
    monkeypatch.setattr(stdio, "_LONGEST_LINE", 70_000)
    with calls(plain("paged")) as said:
        assert said.failure("echo", {"x": "y" * 200_000}) == "[MCP_ERROR: the answer is too long]"
        assert said("add", {"a": 1}) == "1"


def test_the_log_hides_secrets_wherever_it_cuts_a_line(caplog):
    caplog.set_level(logging.DEBUG, "lambdagent")
    secret = "hush-" * 10
    env = (("HIDDEN", secret),)
    url = "https://ann:hunter222@a.example/mcp?key=query-key"
    with calls(plain("noisy", "says", url, env=env)) as said:
        assert said("add", {"a": 1}) == "1"
    assert soon(lambda: "says" in caplog.text)
    assert not [each for each in ("hush", "hunter222", "query-key") if each in caplog.text]
