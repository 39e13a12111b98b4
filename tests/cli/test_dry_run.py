"""``lambdagent compile --dry-run``: every server is reached, and asked nothing."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.cli.command import Command
from tests.effects.test_reach import CERTIFICATES, SecureListener

SECRET = "hunter2"


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which connections are taken by the system; nobody reads them."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as made:
        yield made.getsockname()[1]


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def chain(command: Command, *urls: str) -> str:
    steps = [
        f'- {{name: s{i}, prompt: do, model: {{provider: custom, name: m, baseUrl: "{url}"}}}}'
        for i, url in enumerate(urls)
    ]
    text = "type: chain\nname: a\nsystemPrompt: p\nchain:\n  steps:\n    " + "\n    ".join(steps)
    return command.write("agent.yml", text)


def test_a_scripted_agent_reaches_nothing(command: Command):
    done = command("compile", "simple.yml", "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\n\nEndpoints: none; nothing outside is asked\n")


def test_whom_a_class_or_a_tool_asks_is_not_known(command: Command, port: int):
    command.write("mine.py", "class Model:\n    def chat(self, messages): return 'x'\n")
    agent = "type: simple\nname: a\nsystemPrompt: p\nmodel: {provider: 'mine:Model', name: m}\n"
    command.write("a.yml", agent)
    done = command("compile", "a.yml", "--dry-run")
    assert (done.code, done.err) == (0, "")
    unknown = "It is not known whom they ask: `mine:Model`"
    assert done.out.endswith(f"\n\nEndpoints: none that are known\n{unknown}\n")
    served = f"{{provider: custom, name: m, baseUrl: 'http://127.0.0.1:{port}'}}"
    react = f"type: react\nname: a\nsystemPrompt: p\nmodel: {served}\n"
    tools = "mcp: {localTools: [look]}\ntools: [{name: look, command: 'echo {}'}]\n"
    command.write("a.yml", react + tools)
    done = command("compile", "a.yml", "--dry-run")
    assert done.out.endswith("ms)\nIt is not known whom they ask: the tools\n"), (
        done.out + done.err
    )


def test_a_server_is_told_once_with_its_latency(command: Command, port: int):
    url = f"http://me:{SECRET}@127.0.0.1:{port}/v1?api_key={SECRET}"
    done = command("compile", chain(command, url, url), "--dry-run")
    assert (done.code, done.err) == (0, "")
    line = done.out.splitlines()[-1]
    assert line.startswith(f"  custom  http://127.0.0.1:{port}/v1  ✓ reachable (")
    assert SECRET not in done.out


def test_one_server_out_of_reach_makes_the_exit_code_1(command: Command, port: int):
    here, nowhere = f"http://127.0.0.1:{port}", f"http://x:{SECRET}@no-such-host.invalid/v1"
    done = command("compile", chain(command, here, nowhere), "--dry-run", "--format", "json")
    assert done.code == 1
    first, second = json.loads(done.out)["endpoints"]
    assert (first["reachable"], first["sites"], first["reason"]) == (True, ["llm:s0"], None)
    assert second["reason"] == "no server of that name is known"
    assert second["url"] == "http://no-such-host.invalid/v1"
    assert SECRET not in done.out + done.err


def test_python_stays_python_and_the_servers_go_to_standard_error(command: Command, port: int):
    name = chain(command, f"http://127.0.0.1:{port}")
    done = command("compile", name, "--dry-run", "--format", "python")
    assert done.code == 0
    compile(done.out, name, "exec")
    assert done.err.startswith("Endpoints:\n  custom  ")


def test_bounds_have_them_too(command: Command, port: int):
    done = command("compile", chain(command, f"http://127.0.0.1:{port}"), "--dry-run", "--bounds")
    assert done.code == 0
    assert "Endpoints:\n" in done.out


def test_a_missing_key_is_told_and_no_failure(
    command: Command, monkeypatch: pytest.MonkeyPatch, port: int
):
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}")
    command.write("agent.yml", "type: simple\nsystemPrompt: p\nmodel: {name: gpt-5}\n")
    done = command("compile", "agent.yml", "--dry-run")
    assert done.code == 0
    assert done.out.endswith("; the environment variable `OPENAI_API_KEY` is not set\n")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert "is not set" not in command("compile", "agent.yml", "--dry-run").out


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("{provider: custom, name: m}", "it has no URL"),
        ("{provider: custom, name: m, baseUrl: 'ftp://x'}", "this is no URL: `ftp://x`"),
        ("{provider: claude-code}", "the program `claude` is not on the PATH"),
    ],
)
def test_a_provider_that_cannot_be_used_is_told(command: Command, model: str, reason: str):
    command.write("agent.yml", f"type: simple\nsystemPrompt: p\nmodel: {model}\n")
    done = command("compile", "agent.yml", "--dry-run")
    assert done.code == 1
    assert reason in done.out.splitlines()[-1]


def test_a_memory_on_a_server_is_reached_too(
    command: Command, port: int, monkeypatch: pytest.MonkeyPatch
):
    model = "model: {provider: scripted, script: {replies: [x]}}\n"
    memory = "memory: {strategy: redis, scope: global}\n"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\n{model}{memory}")
    for where, stands in (
        (f"redis://me:{SECRET}@127.0.0.1:{port}/0", "✓ reachable ("),
        ("redis://127.0.0.1:1", "): nothing listens there"),
        ("unix:///no/such.sock", "): no such file or directory"),
        ("mongo://127.0.0.1:1", "): that is no address"),
    ):
        monkeypatch.setenv("LAMBDAGENT_REDIS_URL", where)
        done = command("compile", "a.yml", "--dry-run")
        assert done.code == (0 if "✓" in stands else 1)
        line = done.out.splitlines()[-1]
        assert line.startswith("  redis  ")
        assert stands in line
        assert SECRET not in done.out


def test_certificates_are_looked_at(command: Command, monkeypatch: pytest.MonkeyPatch):
    made = [SecureListener("good"), SecureListener("expired")]
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "trusted.pem"))
    name = chain(command, *(f"https://localhost:{each.port}/v1" for each in made))
    done = command("compile", name, "--dry-run", "--format", "json")
    for each in made:
        each.close()
    assert done.code == 1
    good, expired = json.loads(done.out)["endpoints"]
    assert (good["reachable"], good["reason"]) == (True, None)
    assert (expired["reachable"], expired["elapsed"] > 0) == (False, True)
    assert expired["reason"].startswith("its certificate has expired")
