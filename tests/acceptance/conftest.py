"""What the acceptance tests run: the command, and a model server by others."""

from tests.cli.command import command
from tests.mock_server import mock_llm, mock_llm_server

__all__ = ["command", "mock_llm", "mock_llm_server"]
