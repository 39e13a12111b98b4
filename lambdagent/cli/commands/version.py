"""``lambdagent version``."""

import platform
from argparse import ArgumentParser, Namespace

from lambdagent import __version__
from lambdagent.cli.output import Output


def add_arguments(_parser: ArgumentParser) -> None:
    """Take none."""


def run(_arguments: Namespace, out: Output) -> int:
    """Print the version of lambdagent and of Python."""
    out.answer(f"lambdagent {__version__} (Python {platform.python_version()})")
    return 0
