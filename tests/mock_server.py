"""A server by others for the tests of model calls: LLMock, from the package registry.

A test folder that wants it imports the two fixtures into its conftest.py:
``from tests.mock_server import mock_llm, mock_llm_server``.
"""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

STARTING_S = 30.0


@attrs.frozen
class MockLLM:
    """LLMock, a server by others that speaks the protocols of OpenAI and Anthropic.

    Every method that scripts something counts for the next requests to any of its URLs, in order.
    """

    root: str

    @property
    def openai(self) -> str:
        """The `baseUrl` of OpenAI's Chat Completions."""
        return f"{self.root}/v1"

    @property
    def anthropic(self) -> str:
        """The `baseUrl` of Anthropic's Messages."""
        return f"{self.root}/anthropic"

    def reply(self, *texts: str) -> None:
        """Answer the next calls with `texts`."""
        self.script(*({"type": "reply", "text": text} for text in texts))

    def call_tool(self, name: str, arguments: dict[str, Any]) -> None:
        """Answer the next call with a native tool call."""
        self.script({"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]})

    def fail(self, status: int, times: int | None = None) -> None:
        """Answer the next `times` calls, or all from now on, with an HTTP error."""
        self.script({"type": "fail", "status": status, "times": times})

    def delay(self, seconds: float) -> None:
        """Answer the next call late."""
        self.script({"type": "delay", "seconds": seconds})

    def script(self, *behaviors: dict[str, Any]) -> None:
        """Queue behaviours as LLMock's documentation describes them."""
        self._admin("POST", "scenario", {"behaviors": list(behaviors)})

    def requests(self) -> list[dict[str, Any]]:
        """Return the calls served since the last reset, each with `path`, `status` and `body`."""
        found: list[dict[str, Any]] = self._admin("GET", "requests")["requests"]
        return found

    def reset(self) -> None:
        """Forget calls and what is queued."""
        self._admin("POST", "reset")

    def _admin(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.root}/_llmock/{path}",
            data=data,
            method=method,
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=STARTING_S) as answer:
            return json.load(answer)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_it_listens(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Try to connect until somebody answers; nothing else tells that a server is up."""
    deadline = time.monotonic() + STARTING_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"the mock server did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def mock_llm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockLLM]:
    program = shutil.which("llmock", path=str(Path(sys.executable).parent))
    assert program, "llmock is missing: install the extra `test`"
    port = free_port()
    log = tmp_path_factory.mktemp("llmock") / "log.txt"
    command = [program, "serve", "--port", str(port), "--tool-mode", "off", "--log-level", "error"]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink)
    try:
        wait_until_it_listens(port, process, log)
        yield MockLLM(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def mock_llm(mock_llm_server: MockLLM) -> MockLLM:
    """LLMock with nothing queued; see `MockLLM`."""
    mock_llm_server.reset()
    return mock_llm_server
