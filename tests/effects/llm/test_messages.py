import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint
from lambdagent.effects.output_form import OutputForm
from lambdagent.effects.protocol import Cancellation, Message, Reply, ToolCall, ToolSpec
from lambdagent.effects.rate_limits import RateLimit
from lambdagent.effects.replies import text_of
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.limits import Limits
from tests.effects.calls import HELLO, model_call
from tests.effects.llm.completions import FINE, KEY, MODEL, failure
from tests.effects.local_server import Answer, LocalServer

# --- failures ------------------------------------------------------------------------------------


def test_a_wrong_key_is_not_tried_again_and_not_shown(local_server: LocalServer):
    provider = OpenAIChat(
        Endpoint(
            provider="openai",
            base_url=local_server.url,
            key=KEY,
            variable="OPENAI_API_KEY",
            max_retries=3,
        )
    )
    local_server.answer(Answer({"error": {"message": f"invalid api key {KEY}"}}, status=401))
    error = failure(provider)
    assert len(local_server.asked) == 1
    assert error.diagnostic.what == "`openai` failed: HTTP 401"
    assert error.diagnostic.fix == "check the key in `OPENAI_API_KEY`"
    provider.close()


@pytest.mark.parametrize(
    ("status", "body", "said", "fix"),
    [
        (404, {"error": {"message": "no model"}}, "HTTP 404: no model", "model.name"),
        (429, {"message": "slow down"}, "HTTP 429: slow down", "wait"),
        (402, {"error": {"message": "no funds"}}, "HTTP 402: no funds", "no credit"),
        (429, {"error": {"type": "insufficient_quota"}}, "HTTP 429", "used up"),
        (429, {"error": {"type": "exceeded_current_quota_error"}}, "HTTP 429", "used up"),
        (429, {"error": {"code": "1113", "message": "余额不足"}}, "HTTP 429: 余额不足", "used up"),
        (400, {"error": {"message": "Arrears", "code": "Arrearage"}}, "HTTP 400: Ar", "used up"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "HTTP 400", "used up"),
        (418, {"error": "teapot"}, "HTTP 418: teapot", "settings"),
        (400, {"error": {"message": f"bad {KEY}"}}, "HTTP 400: bad …", "settings"),
        (503, b"<html>down</html>", "HTTP 503", "later"),
        (529, b"", "HTTP 529", "later"),
    ],
)
def test_a_status_is_told_with_the_servers_sentence(
    chat: OpenAIChat, local_server: LocalServer, status: int, body: object, said: str, fix: str
):
    local_server.answer(Answer(body, status=status))
    found = failure(chat).diagnostic
    assert found.what.startswith(f"`custom` failed: {said}")
    assert fix in found.fix


@pytest.mark.parametrize(
    ("url", "named_by", "fix"),
    [
        ("http://{host}/v1", "model.baseUrl", "check `model.baseUrl`"),
        ("http://{host}/v1", "OPENAI_BASE_URL", "check `OPENAI_BASE_URL`"),
        ("http://{host}/v1", None, "check the network, or its proxy: 127.0.0.1 cannot be reached"),
        ("http://no-such.invalid", None, "or its proxy: no-such.invalid cannot be reached"),
    ],
)
def test_what_is_told_to_be_checked_is_what_says_where_the_server_is(
    url: str, named_by: str | None, fix: str
):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = url.format(host=f"127.0.0.1:{nobody.getsockname()[1]}")
        endpoint = Endpoint(provider="openai", base_url=url, named_by=named_by, max_retries=0)
        provider = OpenAIChat(endpoint)
        found = failure(provider).diagnostic
        provider.close()
    assert fix in str(found.fix)


def test_a_server_on_this_machine_is_to_be_started(local_server: LocalServer):
    url = local_server.url.replace("127.0.0.1", "localhost")
    local_server.close()
    endpoint = Endpoint(provider="ollama", base_url=url, named_by=None, max_retries=0)
    provider = OpenAIChat(endpoint)
    fix = failure(provider).diagnostic.fix
    provider.close()
    assert fix == "start the server, or write where it is: `model.baseUrl`"


def test_a_server_that_is_not_there_is_an_error(local_server: LocalServer):
    url = local_server.url
    provider = OpenAIChat(Endpoint(provider="custom", base_url=url, max_retries=0))
    local_server.close()
    assert f"no connection to {url}" in failure(provider).diagnostic.what
    provider.close()


def test_no_credential_of_a_url_is_shown():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = f"127.0.0.1:{nobody.getsockname()[1]}/v1"
        secret = f"http://bob:hunter2@{url}?api_key=hunter3"
        provider = OpenAIChat(Endpoint(provider="custom", base_url=secret, max_retries=0))
        found = failure(provider).diagnostic
        provider.close()
    assert f"no connection to http://{url}" in found.what
    assert "hunter" not in f"{found}{provider.endpoint}"
    assert provider.endpoint.masked("hunter2 and hunter3 were refused") == "… and … were refused"


def test_an_answer_that_breaks_off_is_an_error(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(Answer(FINE, missing_bytes=100))
    assert "the answer broke off" in failure(chat).diagnostic.what


# --- waiting -------------------------------------------------------------------------------------


def test_the_time_limit_is_for_the_whole_answer(chat: OpenAIChat, local_server: LocalServer):
    error = failure(chat, timeout_s=0.1)  # it drips: no single read takes long
    assert error.diagnostic.code == "E003"
    assert local_server.was_hung_up_on()


async def test_the_limit_holds_on_an_event_loop_too(chat: OpenAIChat, local_server: LocalServer):
    with pytest.raises(EffectError) as caught:
        await chat.achat(model_call(MODEL, timeout_s=0.1))
    assert caught.value.diagnostic.code == "E003"
    assert await asyncio.to_thread(local_server.was_hung_up_on)


def test_cancelling_closes_the_connection(chat: OpenAIChat, local_server: LocalServer):
    cancel = Cancellation()

    def cancel_when_it_drips() -> None:
        local_server.dripping.wait()
        cancel.cancel()

    threading.Thread(target=cancel_when_it_drips).start()
    assert "cancelled" in failure(chat, cancel=cancel).diagnostic.what
    assert local_server.was_hung_up_on()


async def test_both_ways_of_cancelling_work_on_an_event_loop(
    chat: OpenAIChat, local_server: LocalServer
):
    cancel = Cancellation()
    waiting = asyncio.create_task(chat.achat(model_call(MODEL, cancel=cancel)))
    await asyncio.to_thread(local_server.dripping.wait)
    cancel.cancel()
    with pytest.raises(EffectError, match="cancelled"):
        await waiting
    assert await asyncio.to_thread(local_server.was_hung_up_on)

    local_server.dripping.clear()
    local_server.hung_up.clear()
    waiting = asyncio.create_task(chat.achat(model_call(MODEL)))
    await asyncio.to_thread(local_server.dripping.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(local_server.was_hung_up_on)


def test_closing_ends_calls_under_way(chat: OpenAIChat, local_server: LocalServer):
    errors: list[EffectError] = []
    waiting = threading.Thread(target=lambda: errors.append(failure(chat)))
    waiting.start()
    local_server.dripping.wait()
    chat.close()
    waiting.join(20)
    assert len(errors) == 1
    assert local_server.was_hung_up_on()


def test_threads_and_loops_share_one_provider(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(*[FINE] * 24)
    texts: list[str] = []

    async def three() -> list[Reply]:
        return await asyncio.gather(*(chat.achat(model_call(MODEL)) for _ in range(3)))

    def branch() -> None:
        texts.extend(chat.chat(model_call(MODEL)).text for _ in range(3))
        texts.extend(reply.text for reply in asyncio.run(three()))

    branches = [threading.Thread(target=branch) for _ in range(4)]
    for each in branches:
        each.start()
    for each in branches:
        each.join(20)
    assert texts == ["fine"] * 24


# --- threads and processes -----------------------------------------------------------------------


def test_a_name_that_is_looked_up_for_ever_keeps_no_thread_that_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
):
    asked, answered = threading.Event(), threading.Event()
    waiting: list[threading.Thread] = []

    def look_up(*_: object, **__: object) -> list:
        waiting.append(threading.current_thread())
        asked.set()
        answered.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    provider = OpenAIChat(Endpoint(provider="custom", base_url="http://slow.test", max_retries=0))
    assert failure(provider, timeout_s=0.1).diagnostic.code == "E003"
    assert asked.wait(20)
    provider.close()
    assert [thread.daemon for thread in waiting] == [True]
    answered.set()


SLOW_NAME = """
import socket, threading
from lambdagent.effects.llm import make_provider
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.limits import Limits
from lambdagent.ir.model import Model
from tests.effects.calls import HELLO, model_call

socket.getaddrinfo = lambda *_, **__: threading.Event().wait()
model = Model(provider="custom", base_url="http://slow.test/v1")
try:
    make_provider(model, {}).chat(model_call(model, timeout_s=0.1))
except EffectError as error:
    print(error.diagnostic.code)
"""


@pytest.mark.slow
def test_a_process_ends_while_a_name_is_looked_up():
    argv = [sys.executable, "-c", SLOW_NAME]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "E003\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_has_a_line_of_its_own(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(*[FINE] * 3)
    assert chat.chat(model_call(MODEL)).text == "fine"
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a hanging child dies of it
        code = 1
        try:
            code = 0 if chat.chat(model_call(MODEL)).text == "fine" else 2
            chat.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert chat.chat(model_call(MODEL)).text == "fine"


def test_a_closed_provider_can_be_used_again(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(FINE, FINE)
    for _ in range(2):
        assert chat.chat(model_call(MODEL)).text == "fine"
        chat.close()


TEXTS = st.text(max_size=3)


@settings(max_examples=20)
@given(st.lists(TEXTS | TEXTS.map(lambda text: {"type": "text", "text": text}), max_size=4))
def test_text_of_a_list_is_the_text_of_its_parts(content: list):
    expected = "".join(part if isinstance(part, str) else part["text"] for part in content)
    assert text_of(content) == expected
    assert text_of([*content, {"type": "image", "text": "no"}]) == expected
    assert text_of([*content, {"type": "refusal", "refusal": "No."}]) == f"{expected}No."


def test_tools_calls_and_forms_count_for_the_limit_of_tokens(local_server: LocalServer):
    limit = RateLimit(Limits(tokens=10_000_000))
    url = f"{local_server.url}/v1"
    provider = OpenAIChat(Endpoint(provider="custom", base_url=url, max_retries=0), limit)

    def estimate(messages: tuple[Message, ...] = HELLO, **more: object) -> int:
        local_server.answer(FINE)
        before = sum(slot.tokens for slot in limit._within)
        provider.chat(attrs.evolve(model_call(MODEL, messages), **more))
        return sum(slot.tokens for slot in limit._within) - before

    plain = estimate()
    schema = Record(type="object", properties=Record(q=Record(description="word " * 100)))
    assert estimate(tools=(ToolSpec("look", "", schema),)) > plain + 100
    form = {"response_format": {"type": "json_object"}}
    assert estimate(form=OutputForm(schema, form, is_told=False)) > plain + 100
    call = ToolCall("c", "look", Record(q="word " * 100))
    asked = (*HELLO, Message("assistant", "", (call,)), Message("tool", "", tool_call_id="c"))
    assert estimate(asked) > plain + 100
    provider.close()
