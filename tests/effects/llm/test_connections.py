"""What the clients of the SDKs may do: whom they ask, how much they read, what they tell."""

import asyncio
import json
import logging
import socket
import struct
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from itertools import count
from urllib.parse import quote

import pytest

from lambdagent.effects import connections, messages
from lambdagent.effects.messages import Courier, Endpoint
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.speech import Speech
from lambdagent.errors import EffectError
from tests.effects.calls import model_call
from tests.effects.llm.completions import FINE, KEY, KINDS, PLAIN
from tests.effects.local_server import Answer, LocalServer

ANSWERS = {
    "openai": FINE,
    "anthropic": {"content": [{"type": "text", "text": "fine"}], "stop_reason": "end_turn"},
}
USER, PASSWORD, QUERY = "planted-user", "planted:pass", "planted-query"
PROMPT = "Be brief."
PLANTED = (KEY, USER, PASSWORD, "planted%3Apass", QUERY, "Bearer", PROMPT)


def failure(provider: Courier, *, streams: bool = False) -> EffectError:
    call = model_call(PLAIN)
    if streams:
        call.speech = Speech(lambda *_: None, Redaction({}))
    with pytest.raises(EffectError) as caught:
        provider.chat(call)
    return caught.value


# --- many calls at a time ------------------------------------------------------------------------


def test_calls_stand_close_together_and_new_clients_come_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(messages, "_MOST_CALLS", 2)
    names = count()
    line = messages._Line("line", lambda: f"client {next(names)}")
    lent = [ExitStack() for _ in range(5)]
    taken = [each.enter_context(line.client()) for each in lent]
    assert taken == ["client 0", "client 0", "client 1", "client 1", "client 2"]
    lent[1].close()
    with line.client() as client:
        assert client == "client 0"
    for each in lent:
        each.close()
    assert line.calls == {"client 0": 0, "client 1": 0, "client 2": 0}


async def test_all_clients_are_closed_at_the_end(
    make: Callable[..., Courier],
    kind: str,
    local_server: LocalServer,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(messages, "_MOST_CALLS", 1)
    opened: list[object] = []
    closed: list[object] = []
    made = KINDS[kind]
    connect, disconnect = made.connect, made.disconnect

    def connected(provider: Courier) -> object:
        opened.append(connect(provider))
        return opened[-1]

    async def disconnected(provider: Courier, client: object) -> None:
        closed.append(client)
        await disconnect(provider, client)

    monkeypatch.setattr(made, "connect", connected)
    monkeypatch.setattr(made, "disconnect", disconnected)
    provider = make(local_server.url)
    local_server.answer(*[ANSWERS[kind]] * 3)
    replies = await asyncio.gather(*(provider.achat(model_call(PLAIN)) for _ in range(3)))
    assert [each.text for each in replies] == ["fine"] * 3
    assert len(opened) == 3
    await asyncio.to_thread(provider.close)
    assert closed == opened


# --- who is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_else_is_asked(
    make: Callable[..., Courier], local_server: LocalServer, status: int
):
    """Neither a key nor a prompt goes where a server sends requests on to."""
    elsewhere = local_server.url.replace("127.0.0.1", "localhost") + f"/v1?key={QUERY}"
    local_server.answer(Answer(b"", status, headers={"location": elsewhere}))
    found = failure(make(local_server.url, 2)).diagnostic
    host = elsewhere.partition("?")[0]
    assert found.what == f"`custom` failed: it sends requests on to {host}"
    assert found.fix == "check `model.baseUrl`"
    assert len(local_server.asked) == 1


@pytest.mark.parametrize("location", ["https://127.0.0.1/", "//other.test/", "http://[", ""])
def test_what_is_no_place_at_the_same_server_is_refused(
    make: Callable[..., Courier], local_server: LocalServer, location: str
):
    answers = [Answer(b"", 307, headers={"location": location})] * 25
    local_server.answer(*answers)
    failure(make(local_server.url))
    assert location == "" or len(local_server.asked) == 1


def test_another_path_of_the_same_server_is_asked(
    make: Callable[..., Courier], local_server: LocalServer, kind: str
):
    local_server.answer(Answer(b"", 307, headers={"location": "/moved"}), ANSWERS[kind])
    assert make(local_server.url).chat(model_call(PLAIN)).text == "fine"
    assert local_server.asked[1].path == "/moved"
    assert KEY in str(local_server.asked[1].headers)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1", "a SOCKS proxy needs the package `socksio`"),
        ("HTTP_PROXY", "gopher://user:hunter2@127.0.0.1:1", "no URL that can be used"),
        ("HTTPS_PROXY", "http://user:hunter2@127.0.0.1:x", "no URL that can be used"),
        ("SSL_CERT_FILE", "/nobody/there.pem", "cannot be read: no such file or directory"),
        ("SSL_CERT_FILE", __file__, "cannot be read: no certificate or crl found"),
    ],
)
def test_what_the_environment_says_in_vain_is_told(
    make: Callable[..., Courier],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    said: str,
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(EffectError) as caught:
        make("https://127.0.0.1:1/v1")
    found = caught.value.diagnostic
    assert (found.code, said in found.what, variable in str(found.fix)) == ("E005", True, True)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


# --- how much is read ----------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_not_read_to_its_end(
    make: Callable[..., Courier],
    local_server: LocalServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    streams: bool,
):
    monkeypatch.setattr(connections, "MOST_BYTES", 100_000)
    kind = "text/event-stream" if streams else "application/json"
    local_server.answer(Answer((b" " * 60_000,) * 20, status, kind))
    error = failure(make(local_server.url, 2), streams=streams)
    assert "the answer is longer than 100000 bytes" in error.diagnostic.what
    assert len(local_server.asked) == 1


def test_nothing_is_packed(make: Callable[..., Courier], local_server: LocalServer, kind: str):
    """Or little would be read that is much."""
    local_server.answer(ANSWERS[kind])
    make(local_server.url).chat(model_call(PLAIN))
    assert local_server.asked[0].headers["accept-encoding"] == "identity"


# --- connections that break ----------------------------------------------------------------------


@pytest.fixture
def resets(local_server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> LocalServer:
    """A server that resets the connection after what it answers, or without an answer."""
    serve = local_server.serve

    def served(handler: BaseHTTPRequestHandler) -> None:
        if local_server.answers:
            serve(handler)
        else:
            handler.close_connection = True
        handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    monkeypatch.setattr(local_server, "serve", served)
    return local_server


def test_a_connection_that_is_reset_before_an_answer_is_no_answer(
    make: Callable[..., Courier], resets: LocalServer
):
    assert f"no connection to {resets.url}" in failure(make(resets.url)).diagnostic.what


@pytest.mark.parametrize("streams", [False, True])
def test_a_connection_that_is_reset_in_an_answer_is_no_answer(
    make: Callable[..., Courier], resets: LocalServer, streams: bool
):
    kind = "text/event-stream" if streams else "application/json"
    resets.answer(Answer(b'data: {"a', content_type=kind, missing_bytes=9))
    found = failure(make(resets.url), streams=streams).diagnostic
    assert "the answer broke off" in found.what


# --- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 401, 503])
@pytest.mark.parametrize("streams", [False, True])
def test_no_logger_and_no_error_tells_what_is_nobodys_business(
    make: Callable[..., Courier],
    local_server: LocalServer,
    kind: str,
    status: int,
    streams: bool,
    caplog: pytest.LogCaptureFixture,
):
    """Of all loggers of the process; ours tells prompts, when it is asked to."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, "lambdagent")
    host = local_server.url.removeprefix("http://")
    provider = make(f"http://{USER}:planted%3Apass@{host}/v1?api_key={QUERY}")
    said = {"error": {"message": f"{KEY} {USER} {PASSWORD} {QUERY} {PROMPT}"}}
    local_server.answer(ANSWERS[kind] if status == 200 else Answer(said, status))
    call = model_call(PLAIN)
    if streams:
        call.speech = Speech(lambda *_: None, Redaction({}))
    told = []
    try:
        provider.chat(call)
    except EffectError as error:
        told = traceback.format_exception(error)
        chain: BaseException | None = error
        while chain is not None:
            told += [str(chain), repr(chain), *map(repr, vars(chain).values())]
            chain = chain.__cause__ or chain.__context__
    assert bool(told) == (status != 200)
    told = [each.replace(PROMPT, "") for each in told]  # the server's own words
    logged = [record.getMessage() for record in caplog.records]
    assert f"llm:writer: POST {host}" in "".join(logged)
    text = "\n".join([*told, *logged, repr(provider.endpoint), repr(provider)])
    assert [each for each in PLANTED if each in text] == []
    asked = local_server.asked[0]
    assert asked.path.endswith(f"?api_key={QUERY}")
    assert asked.headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize("key", ['k"ey\\with"quotes', "key with spaces/and+signs"])
def test_a_key_is_masked_in_whatever_form_it_comes(key: str):
    endpoint = Endpoint(provider="custom", base_url="http://a:p%40ss%22word@h/?q=1", key=key)
    for form in (key, json.dumps(key)[1:-1], quote(key), quote(key, safe=""), 'p@ss"word'):
        assert form not in endpoint.masked(f"<{form}> {json.dumps(form)}")


@pytest.mark.parametrize(
    ("url", "text", "shown"),
    [
        ("http://user:hush@h/v1", '{"role": "user"} hush', '{"role": "user"} …'),
        ("http://user:hush@h/v1", "at http://user:hush@h/v1", "at http://…h/v1"),
        ("http://user:pw@h/v1", "a user at //user:pw@h", "a user at //…h"),
        ("http://user:pw@h/v1", "user:pw dXNlcjpwdw==", "… …"),
        ("http://user@h/v1", "user at //user@h", "user at //…h"),
        ("http://user:user@h/v1", '"role": "user"', '"role": "…"'),
        ("http://mary.ann@h/v1", "mary.ann", "…"),
        ("http://h/v1?mode=text&token=oh-no&id=12345678", "text oh-no 12345678", "text … …"),
    ],
)
def test_a_word_is_masked_only_where_it_is_a_secret(url: str, text: str, shown: str):
    assert Endpoint(provider="custom", base_url=url).masked(text) == shown


@pytest.mark.parametrize(("key", "shown"), [("x", "a text"), ("text", "a …")])
def test_a_key_of_a_letter_is_none(key: str, shown: str):
    assert Endpoint(provider="custom", base_url="http://h/v1", key=key).masked("a text") == shown


def test_loggers_of_the_transport_tell_of_the_requests_of_others(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.INFO)
    logging.getLogger("httpx2").info("of others")
    assert "of others" in caplog.text
