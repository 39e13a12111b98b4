"""LAMBDAGENT_LOG: the story of the transport, and what no output holds whatever is asked for."""

import json
import logging
from pathlib import Path

import pytest

from tests.cli.command import Command, Done
from tests.effects.llm.completions import says
from tests.effects.local_server import Answer, LocalServer

KEY = "sk-planted-key"
PROMPT = "the planted prompt"
INPUT = "the planted input"
SAID = "the planted answer"
PLANTED = {
    "a key": KEY,
    "a header": "planted-header",
    "a user": "planted-user",
    "a password": "planted-password",
    "a query": "planted-query",
    "another secret": "planted-in-the-environment",
}
TEXTS = (PROMPT, INPUT, SAID)
WAYS = {"openai": "OPENAI", "anthropic": "ANTHROPIC"}


@pytest.fixture(params=WAYS)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    monkeypatch.setenv(f"{WAYS[name]}_API_KEY", KEY)
    monkeypatch.setenv(f"{WAYS[name]}_CUSTOM_HEADERS", f"X-Planted: {PLANTED['a header']}")
    monkeypatch.setenv("PLANTED_TOKEN", PLANTED["another secret"])
    return name


@pytest.fixture
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    monkeypatch.setenv("LAMBDAGENT_LOG", name)
    return name


def message(provider: str) -> dict:
    if provider == "openai":
        return says(SAID)
    return {
        "type": "message",
        "content": [{"type": "text", "text": SAID}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }


def ask(
    command: Command,
    server: LocalServer,
    provider: str,
    *options: str,
    user: str = "",
    prompt: str = PROMPT,
) -> Done:
    host = server.url.removeprefix("http://")
    url = f"http://{user}{host}/v1?api_key={PLANTED['a query']}"
    model = json.dumps({"provider": provider, "name": "m", "baseUrl": url})
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: {prompt}\nmodel: {model}\n")
    return command("run", "a.yml", INPUT, *options)


def test_nothing_is_logged_unless_asked_for(
    command: Command, local_server: LocalServer, provider: str
):
    local_server.answer(message(provider))
    done = ask(command, local_server, provider)
    assert (done.code, done.out) == (0, f"{SAID}\n")
    assert "POST" not in done.err


def test_info_tells_requests_attempts_and_the_end(
    command: Command,
    local_server: LocalServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LAMBDAGENT_LOG", " INFO")
    local_server.answer(Answer({}, 503), message(provider))
    done = ask(command, local_server, provider)
    assert done.code == 0
    lines = [line for line in done.err.splitlines() if "llm:a: " in line]
    host = local_server.url.removeprefix("http://")
    path = local_server.asked[0].path.partition("?")[0]
    expected = (
        f"INFO llm:a: POST {host}{path}, request 1",
        "WARNING llm:a: HTTP 503, once more in 0.",
        f"INFO llm:a: POST {host}{path}, request 2",
        "INFO llm:a: answered in ",
    )
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))
    assert "tokens, finish reason " in lines[-1]
    assert not any(text in "\n".join(lines) for text in TEXTS)


def test_warning_tells_failures_only(
    command: Command,
    local_server: LocalServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LAMBDAGENT_LOG", "warning")
    local_server.answer(Answer({"error": {"message": f"{PROMPT}?"}}, 400))
    done = ask(command, local_server, provider)
    (line,) = [line for line in done.err.splitlines() if "llm:a: " in line]
    assert (done.code, "WARNING llm:a: E002 after " in line, PROMPT in line) == (1, True, False)


@pytest.mark.parametrize("with_user", [False, True])
@pytest.mark.parametrize("level", ["", "info", "debug"], indirect=True)
@pytest.mark.parametrize("status", [200, 400, 401])
def test_no_output_holds_what_was_planted(
    command: Command,
    local_server: LocalServer,
    provider: str,
    level: str,
    status: int,
    with_user: bool,
):
    user = f"{PLANTED['a user']}:{PLANTED['a password']}@" if with_user else ""
    everything = " ".join((KEY, PLANTED["a header"], PLANTED["a query"], user[:-1]))
    wrong = Answer({"error": {"message": everything}}, status)
    local_server.answer(*[message(provider) if status == 200 else wrong] * 3)
    options = ("--traceback", "--trace", "--trace-file", "t.json", "--checkpoint-dir", "kept")
    done = ask(command, local_server, provider, *options, user=user)
    assert done.code == (0 if status == 200 else 1)
    asked = local_server.asked[0]
    headers = json.dumps(asked.headers)
    assert KEY in headers or with_user  # the SDK of OpenAI sends one of both
    assert asked.path.endswith(f"?api_key={PLANTED['a query']}")
    assert PLANTED["a header"] in headers
    written = [path.read_bytes() for path in command.folder.rglob("*") if path.is_file()]
    (agent,) = [text for text in written if PLANTED["a query"].encode() in text]
    written.remove(agent)
    kept = b"\n".join(written).decode("utf-8", "replace")
    assert [what for what, secret in PLANTED.items() if secret in done.out + done.err] == []
    assert [what for what, secret in PLANTED.items() if secret in kept] == []
    logged = "\n".join(line for line in done.err.splitlines() if "llm:a: " in line)
    assert any(text in logged for text in TEXTS) == (level == "debug")
    assert ("POST" in logged) == (level in {"info", "debug"})


def test_secrets_of_the_environment_are_named_only(
    command: Command,
    local_server: LocalServer,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LAMBDAGENT_LOG", "debug")
    secret = PLANTED["another secret"]
    local_server.answer(message(provider))
    done = ask(command, local_server, provider, prompt=f"It is {secret}.")
    assert done.code == 0
    assert secret in json.dumps(local_server.asked[0].body)
    assert (secret in done.err, "It is [PLANTED_TOKEN]." in done.err) == (False, True)


def test_a_level_that_does_not_exist_is_refused(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAMBDAGENT_LOG", "verbose")
    done = command("run", "simple.yml", "hello")
    assert (done.code, done.out) == (2, "")
    assert "`LAMBDAGENT_LOG` must be `debug`, `info` or `warning`, got verbose" in done.err


def test_the_logger_is_left_as_it_was(command: Command, monkeypatch: pytest.MonkeyPatch):
    logger = logging.getLogger("lambdagent")
    before = (logger.level, list(logger.handlers))
    monkeypatch.setenv("LAMBDAGENT_LOG", "debug")
    assert command("run", "simple.yml", "hello").code == 0
    assert (logger.level, logger.handlers) == before


def test_in_python_a_handler_hears_it(
    local_server: LocalServer, caplog: pytest.LogCaptureFixture, tmp_path: Path
):
    from lambdagent import build_agent, run

    local_server.answer(says(SAID))
    model = {"provider": "custom", "name": "m", "baseUrl": f"{local_server.url}/v1"}
    with caplog.at_level(logging.INFO, "lambdagent"):
        run(build_agent({"type": "simple", "systemPrompt": PROMPT, "model": model}), INPUT)
    assert [record.levelname for record in caplog.records if record.name == "lambdagent"] == [
        "INFO",
        "INFO",
    ]
    assert PROMPT not in caplog.text
