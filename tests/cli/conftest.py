"""The command, a browser for the pages that it writes, servers for models and memories."""

from tests.browser import browser
from tests.cli.command import command
from tests.effects.local_server import local_server
from tests.redis_server import server

__all__ = ["browser", "command", "local_server", "server"]
