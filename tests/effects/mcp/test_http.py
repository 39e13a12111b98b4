"""A server by the SDK, over HTTP and as a process; and what is no MCP server at all."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lambdagent.effects import connections
from lambdagent.effects.mcp import discover, session
from lambdagent.effects.protocol import ToolFailure
from lambdagent.errors import EffectError
from lambdagent.ir.data import thaw
from lambdagent.ir.remote import STDIO, Server
from tests.effects.local_server import Answer, LocalServer, local_server  # noqa: F401
from tests.effects.mcp import sdk_server
from tests.effects.mcp.servers import Calls, calls, invocation, logged
from tests.effects.mcp.web_server import serving, web

SDK = Path(__file__).with_name("sdk_server.py")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as port:
        yield port


@pytest.fixture(scope="module", params=["http", "stdio"])
def said(request: pytest.FixtureRequest, port: int) -> Iterator[Calls]:
    process = Server(
        name="numbers", transport=STDIO, command=sys.executable, args=(str(SDK),), timeout_s=60.0
    )
    with calls(web(port) if request.param == "http" else process) as made:
        yield made


def test_answers_of_the_sdk_come_as_they_are(said: Calls):
    assert said("add", {"a": 2, "b": 3}) == "5"
    norms = said("norm", {"points": [{"x": 3, "y": -4}, {"x": 1}]})
    assert str(norms).replace("\n", "").replace(" ", "") == '{"norms":[7,1]}'


def test_what_the_tool_raises_is_a_failure(said: Calls):
    assert said.failure("fail", {"why": "bad luck"}).startswith("[TOOL_ERROR: fail] ")
    assert "add" in said.failure("add", {"a": "x"})


def test_answers_may_be_long(said: Calls):
    assert len(str(said("much", {"size": 3_000_000}))) == 3_000_000


def test_time_limits_end_a_call(said: Calls):
    assert said.failure("wait", {"seconds": 30}, 0.1) == "[MCP_TIMEOUT: numbers/wait]"
    assert said("add", {"a": 1, "b": 1}) == "2"


async def test_calls_at_once_are_made_at_once(said: Calls):
    wait = said.tool("wait")
    given = invocation({"seconds": 0.05}, 2.0)
    assert await asyncio.gather(*(wait.acall(given) for _ in range(20))) == ["waited"] * 20


def test_schemas_come_from_the_server(port: int):
    tools = {tool.name: tool for tool in discover([web(port)], os.environ)["numbers"]}
    assert [*tools] == ["add", "fail", "much", "wait", "norm"]
    norm = thaw(tools["norm"].parameters)
    assert norm["$defs"]["Point"]["properties"]["x"]["type"] == "integer"
    assert tools["add"].description == "Add two numbers."
    assert not tools["norm"].idempotent


def test_a_server_that_was_started_again_is_connected_again():
    one = {"a": 1, "b": 1}
    with ExitStack() as later:
        with serving() as port:
            made = later.enter_context(calls(web(port)))
            assert made("add", one) == "2"
        assert made.failure("add", one) == "[MCP_ERROR: no connection]"
        with serving(port):
            assert made("add", one) == "2"
        with serving(port):  # it does not know our session: the call is lost, the next one is not
            assert made.failure("add", one) == "[MCP_ERROR: 404]"
            assert made("add", one) == "2"


def test_a_server_that_does_not_answer_our_farewell_is_left(monkeypatch):
    class Deaf:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope.get("method") == "DELETE":
                left.set()
                await asyncio.sleep(60)
            await app(scope, receive, send)

    monkeypatch.setattr(session, "_LEAVES_S", 0.1)
    app, left = sdk_server.made().streamable_http_app(), threading.Event()
    with serving(app=Deaf()) as port, calls(web(port)) as made:
        assert made("add", {"a": 1, "b": 1}) == "2"
    assert left.is_set()


@pytest.mark.parametrize("status", [503, 404])
def test_a_call_that_is_refused_harms_none_beside_it(status):
    class Refusing:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http" or not refuses.is_set():
                await app(scope, receive, send)
                return
            refuses.clear()
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    async def beside() -> Any:
        waits = asyncio.create_task(made.tool("wait").acall(invocation({"seconds": 0.15})))
        await asyncio.sleep(0.05)
        refuses.set()
        with pytest.raises(ToolFailure, match=rf"\[MCP_ERROR: {status}\]"):
            await made.tool("add").acall(invocation(one))
        assert await made.tool("add").acall(invocation(one)) == "2"
        assert not waits.done()
        return await waits

    app, refuses, one = (
        sdk_server.made().streamable_http_app(),
        threading.Event(),
        {"a": 1, "b": 1},
    )
    with serving(app=Refusing()) as port, calls(web(port)) as made:
        assert made("add", one) == "2"
        assert asyncio.run(beside()) == "waited"


def test_an_answer_without_end_is_not_read(monkeypatch):
    monkeypatch.setattr(connections, "MOST_BYTES", 5_000)
    app = sdk_server.made().streamable_http_app(json_response=True)
    with serving(app=app) as port, calls(web(port)) as made:
        assert made.failure("much", {"size": 10_000}) == "[MCP_ERROR: the answer is too long]"
        assert made("add", {"a": 1, "b": 1}) == "2"


# --- what is no MCP server -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({"error": "no"}, status=401), "HTTP 401"),
        (Answer("down", status=503), "HTTP 503"),
        (Answer(b"<html>", content_type="text/html"), "it answers: "),
        (Answer(b"\xff{"), "what it says is not in the form of the protocol"),
    ],
    ids=["refused", "down", "page", "broken"],
)
def test_what_is_wrong_is_told_before_the_run(local_server: LocalServer, answer, message):  # noqa: F811
    local_server.answers += [answer] * 6
    headers = (("Authorization", "Bearer hush-hush-hush"),)
    with pytest.raises(EffectError) as caught:
        discover([web(0, url=local_server.url, headers=headers)], os.environ)
    assert f"cannot be used: {message}" in caught.value.diagnostic.what
    assert "hush" not in str(caught.value)
    assert local_server.asked[0].headers["authorization"] == "Bearer hush-hush-hush"


def test_nobody_there_is_told(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "lambdagent")
    with pytest.raises(EffectError) as caught:
        discover([web(9, url="http://user:hush@127.0.0.1:9/mcp?key=hush")], os.environ)
    assert "no connection to http://127.0.0.1:9/mcp" in caught.value.diagnostic.what
    assert "hush" not in str(caught.value) + "".join(logged(caplog, logging.DEBUG))


def test_no_logger_of_the_sdk_tells_addresses(port: int, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    url = f"http://user:hush@127.0.0.1:{port}/mcp?key=hush"
    server = web(port, url=url, headers=(("X-Key", "hush-hush-hush"),))
    discover([server], os.environ)
    with calls(server) as made:
        assert made("add", {"a": 1, "b": 1}) == "2"
    assert "hush" not in caplog.text


def test_a_server_that_hangs_is_out_of_time(local_server: LocalServer):  # noqa: F811
    with pytest.raises(EffectError, match="does not answer within"):
        discover([web(0, url=local_server.url, timeout_s=0.2)], os.environ)
    assert local_server.hung_up.wait(5)


def test_all_servers_that_cannot_be_used_are_told():
    one, other = web(9), web(9, name="other")
    with pytest.raises(EffectError) as caught:
        discover([one, other], os.environ)
    assert [each.values["name"] for each in caught.value.diagnostics] == ["numbers", "other"]
