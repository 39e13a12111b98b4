"""A real Redis server on a free port of this machine, for the tests of memories.

On a machine without Redis these tests are skipped; in CI, where `.ci/run` installs it, that is a
failure.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_PATIENCE_S = 20


class RedisServer:
    """A server that tests may stop and start again.

    Attributes:
        url: Where it is.
    """

    def __init__(self, program: str, directory: Path, *options: str) -> None:
        """Have a server whose files are in `directory`."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._directory = directory
        self._command = [program, "--bind", "127.0.0.1", "--port", str(self.port)]
        self._command += ["--dir", str(directory), "--appendonly", "yes", *options]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = (self._directory / "log").open("ab")
        with log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                pytest.fail((self._directory / "log").read_text())
            time.sleep(0.01)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as asked:
                asked.sendall(b"PING\r\n")
                return asked.recv(64)[:1] in {b"+", b"-"} and not self._is_loading()
        except OSError:
            return False

    def _is_loading(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), 1) as asked:
            asked.sendall(b"PING\r\n")
            return asked.recv(64).startswith(b"-LOADING")

    def stop(self) -> None:
        """Stop it; what it holds stays in its files."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_PATIENCE_S)
            self._process = None


def redis_server(directory: Path, *options: str) -> Iterator[RedisServer]:
    """Yield a server that runs."""
    program = shutil.which("redis-server")
    if program is None:
        missing = "no Redis: `apt-get install redis-server`"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    server = RedisServer(program, directory, *options)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server for the tests of a module."""
    for server in redis_server(tmp_path_factory.mktemp("redis")):
        yield server.url


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A server of the test's own."""
    yield from redis_server(tmp_path_factory.mktemp("redis"))
