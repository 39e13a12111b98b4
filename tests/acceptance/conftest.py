"""What the acceptance tests run: the command, and a model server by others."""

from tests.aimock_server import aimock, aimock_server
from tests.cli.command import command
from tests.mock_server import mock_llm, mock_llm_server

__all__ = ["aimock", "aimock_server", "command", "mock_llm", "mock_llm_server"]
