"""Servers that take one POST for each call (specification 6.1)."""

import asyncio
from typing import Any

import pytest

from lambdagent import from_config, run
from lambdagent.effects import connections, handlers
from lambdagent.effects.protocol import Cancellation, ToolFailure
from lambdagent.ir.data import freeze
from lambdagent.ir.remote import POST, Server
from tests.effects.local_server import Answer, LocalServer, local_server  # noqa: F401
from tests.effects.mcp.servers import calls, invocation


def node(url: str, **more: Any) -> Server:
    return Server(name="weather", transport=POST, url=url, **more)


def test_one_text_is_posted_and_its_output_is_the_answer(local_server: LocalServer):  # noqa: F811
    local_server.answers.append(Answer({"output": "rain"}))
    headers = (("Authorization", "Bearer t"), ("X-Extra", "1"))
    with calls(node(f"{local_server.url}/mcp/call", headers=headers)) as made:
        assert made("forecast", "Oslo, 数") == "rain"
    asked = local_server.asked[0]
    assert (asked.path, asked.body) == ("/mcp/call", {"tool": "forecast", "input": "Oslo, 数"})
    told = {name: asked.headers[name] for name in ("authorization", "x-extra", "content-type")}
    assert told == {
        "authorization": "Bearer t",
        "x-extra": "1",
        "content-type": "application/json",
    }


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        (Answer({"output": {"c": [21, None]}}), freeze({"c": [21, None]})),
        (Answer({"output": ""}), ""),
        (Answer({"result": 1}), '{"result": 1}'),
        (Answer(b"it rains", content_type="text/plain"), "it rains"),
        (Answer(b'{"output": '), '{"output": '),
        (Answer(b"[1]"), "[1]"),
        (Answer(b""), ""),
        (Answer("\u6570".encode(), content_type="text/plain; charset=odd"), "数"),
    ],
)
def test_what_is_no_output_is_the_text_as_it_is(local_server: LocalServer, answer, output):  # noqa: F811
    local_server.answers.append(answer)
    with calls(node(local_server.url)) as made:
        assert made("forecast", "x") == output


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_a_refusal_is_its_status(local_server: LocalServer, status):  # noqa: F811
    local_server.answers.append(Answer({"output": "no"}, status=status))
    with calls(node(local_server.url)) as made:
        with pytest.raises(ToolFailure) as caught:
            made("forecast", "x")
        assert caught.value.text == f"[MCP_ERROR: {status}]"
        assert caught.value.may_pass is (status in {429, 500, 503})


def test_no_answer_in_time_is_told_and_the_connection_closed(local_server: LocalServer):  # noqa: F811
    local_server.answers.append(Answer({"output": "first"}))
    with calls(node(local_server.url)) as made:
        assert made("forecast", "x") == "first"  # it is connected
        assert made.failure("forecast", "x", 0.1) == "[MCP_TIMEOUT: weather/forecast]"
        assert local_server.hung_up.wait(5)


def test_a_cancelled_call_closes_the_connection(local_server: LocalServer):  # noqa: F811
    stop = Cancellation()
    with calls(node(local_server.url)) as made:

        async def both() -> None:
            call = asyncio.ensure_future(made.tool("forecast").acall(invocation("x", cancel=stop)))
            await asyncio.to_thread(local_server.dripping.wait, 5)
            stop.cancel()
            with pytest.raises(ToolFailure, match="it was cancelled"):
                await call

        asyncio.run(both())
        assert local_server.hung_up.wait(5)


def test_an_answer_without_end_is_not_read(local_server: LocalServer, monkeypatch):  # noqa: F811
    monkeypatch.setattr(connections, "MOST_BYTES", 10)
    local_server.answers.append(Answer({"output": "far too much"}))
    with calls(node(local_server.url)) as made:
        assert made.failure("forecast", "x") == "[MCP_ERROR: the answer is too long]"


def test_nobody_there_is_an_answer_too():
    with calls(node("http://127.0.0.1:9")) as made:
        assert made.failure("forecast", "x") == "[MCP_ERROR: no connection]"
    with calls(node("no url at all")) as made:
        assert made.failure("forecast", "x") == "[MCP_ERROR: no connection]"


def test_a_header_that_is_no_ascii_is_sent(local_server: LocalServer):  # noqa: F811
    local_server.answers.append(Answer({"output": "rain"}))
    headers = (("X-City", "Malmö"), ("content-type", "text/json"))
    with calls(node(local_server.url, headers=headers)) as made:
        assert made("forecast", "x") == "rain"
    told = local_server.asked[0].headers
    assert told["x-city"].encode("latin-1") == "Malmö".encode()
    assert told["content-type"] == "text/json"


def test_a_proxy_that_cannot_be_used_is_an_answer_too(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with calls(node("http://127.0.0.1:9")) as made:
        assert made.failure("forecast", "x") == "[MCP_ERROR: no connection]"


FILE = """\
type: react
name: forecaster
systemPrompt: Forecast.
model:
  provider: scripted
  script:
    replies:
      - '{"tool": "forecast", "args": {"city": "Oslo"}}'
      - '{"tool": "terminate", "args": "done"}'
mcp:
  onlineTool: {weather: [forecast]}
  localTools: [terminate]
  policy: {retryOnFail: 2}
app:
  mcp:
    custom:
      nodes:
        weather:
          url: ${PLACE}
          endpoint: /mcp
          headers: {Authorization: "Bearer ${WEATHER_TOKEN}"}
          timeout: 5
"""


@pytest.mark.parametrize("engine", ["recursive", "cek"])
def test_a_file_calls_it_and_again_after_failures(
    local_server: LocalServer,  # noqa: F811
    tmp_path,
    monkeypatch,
    engine,
):
    monkeypatch.setenv("PLACE", local_server.url)
    monkeypatch.setenv("WEATHER_TOKEN", "hush-hush")
    monkeypatch.setattr(handlers, "retry_delay_s", lambda _: 0.0)
    local_server.answers += [Answer("", status=503), Answer("", status=500), Answer({"output": 7})]
    (tmp_path / "a.yml").write_text(FILE)
    result = run(from_config(tmp_path / "a.yml"), "go", engine=engine)
    assert result.value == "done"
    assert [r.output for r in result.trace if r.kind == "tool"] == ["7"]
    assert [asked.path for asked in local_server.asked] == ["/mcp"] * 3
    assert local_server.asked[0].body == {"tool": "forecast", "input": '{"city": "Oslo"}'}
    assert local_server.asked[0].headers["authorization"] == "Bearer hush-hush"


def test_when_all_attempts_fail_the_program_sees_the_last(
    local_server: LocalServer,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("PLACE", local_server.url)
    monkeypatch.setenv("WEATHER_TOKEN", "hush-hush")
    monkeypatch.setattr(handlers, "retry_delay_s", lambda _: 0.0)
    local_server.answers += [Answer("", status=503)] * 2 + [Answer("", status=404)]
    (tmp_path / "a.yml").write_text(FILE)
    result = run(from_config(tmp_path / "a.yml"), "go")
    assert [r.output for r in result.trace if r.kind == "tool"] == ["[MCP_ERROR: 404]"]
