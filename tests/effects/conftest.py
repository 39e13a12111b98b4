"""The servers that the tests of handlers talk to, all on 127.0.0.1."""

from collections.abc import Iterator

import pytest

from tests.effects.local_server import LocalServer
from tests.mock_server import mock_llm, mock_llm_server

__all__ = ["local_server", "mock_llm", "mock_llm_server"]


@pytest.fixture
def local_server() -> Iterator[LocalServer]:
    """A server of our own, which keeps what it is asked and answers as told."""
    server = LocalServer()
    yield server
    server.close()
