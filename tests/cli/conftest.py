"""The command, for the tests of the command line, and a browser for the pages that it writes."""

from tests.browser import browser
from tests.cli.command import command

__all__ = ["browser", "command"]
