"""The command, for the tests of the command line."""

from tests.cli.command import command

__all__ = ["command"]
