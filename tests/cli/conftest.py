"""The command, a browser for the pages that it writes, a server for memories."""

from tests.browser import browser
from tests.cli.command import command
from tests.redis_server import server

__all__ = ["browser", "command", "server"]
