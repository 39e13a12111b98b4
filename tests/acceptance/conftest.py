"""What the acceptance tests run: the command, and a model server by others."""

from tests.aimock_server import aimock, aimock_server
from tests.cli.command import command
from tests.effects.local_server import local_server
from tests.mock_server import mock_llm, mock_llm_server

__all__ = ["aimock", "aimock_server", "command", "local_server", "mock_llm", "mock_llm_server"]
