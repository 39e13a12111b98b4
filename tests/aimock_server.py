"""A second server by others for the tests of model calls: aimock, from the registry of npm.

A test folder that wants it imports the two fixtures into its conftest.py:
``from tests.aimock_server import aimock, aimock_server``. On a machine without aimock these tests
are skipped; in CI, where `.ci/run` installs it, that is a failure.
"""

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from tests.mock_server import STARTING_S, free_port, wait_until_it_listens


@attrs.frozen
class AImock:
    """aimock, a server by others that speaks the protocols of many providers.

    What is queued answers the next requests to any of its URLs.
    """

    root: str

    @property
    def openai(self) -> str:
        """The `baseUrl` of OpenAI's Chat Completions."""
        return f"{self.root}/v1"

    @property
    def anthropic(self) -> str:
        """The `baseUrl` of Anthropic's Messages."""
        return self.root

    def url(self, provider: str) -> str:
        """Return the `baseUrl` of `provider`."""
        return self.anthropic if provider == "anthropic" else self.openai

    def answer(self, *responses: dict[str, Any] | str, **first: Any) -> None:
        """Answer the next requests with `responses`, as aimock's documentation describes them.

        What else is given counts for the first of them, such as ``truncateAfterChunks``.
        """
        fixtures = [
            {
                "match": {"sequenceIndex": index},
                "response": {"content": each} if isinstance(each, str) else each,
                **(first if index == 0 else {}),
            }
            for index, each in enumerate(responses)
        ]
        self._ask("POST", "fixtures", {"fixtures": fixtures})

    def fail(self, status: int, message: str = "as the test wants it") -> None:
        """Answer the next request with an HTTP error; a 429 says to come back in a second."""
        body = {"message": message, "type": "made_up"}
        self._ask("POST", "error", {"status": status, "body": body})

    def chaos(self, **rates: float) -> None:
        """Have so many requests go wrong: ``malformedRate``, ``disconnectRate``, ``latencyMs``."""
        self._ask("POST", "chaos", rates)

    def requests(self) -> list[dict[str, Any]]:
        """Return what was asked since the last reset, each with `path`, `headers` and `body`."""
        found: list[dict[str, Any]] = self._ask("GET", "journal")
        return found

    def reset(self) -> None:
        """Forget what was asked and what is queued."""
        self._ask("POST", "reset")

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        url = f"{self.root}/__aimock/{path}"
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=STARTING_S) as answer:
            return json.load(answer)


@pytest.fixture(scope="session")
def aimock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AImock]:
    program = shutil.which("aimock")
    if program is None:
        missing = "no aimock: `npm install -g @copilotkit/aimock@1`"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures").mkdir()
    config = folder / "config.json"
    config.write_text(json.dumps({"llm": {"fixtures": "fixtures", "logLevel": "silent"}}))
    port = free_port()
    log = folder / "log.txt"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [program, "-c", config, "-p", str(port), "--host", "127.0.0.1"],
            cwd=folder,
            stdout=sink,
            stderr=sink,
        )
    try:
        wait_until_it_listens(port, process, log)
        yield AImock(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def aimock(aimock_server: AImock) -> AImock:
    """aimock with nothing queued; see `AImock`."""
    aimock_server.reset()
    return aimock_server
