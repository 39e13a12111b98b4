"""``lambdagent lambda FILE``."""

from argparse import ArgumentParser, Namespace

from lambdagent.api import compiling
from lambdagent.cli.output import Output


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file."""
    parser.add_argument("file", metavar="FILE", help="agent file (YAML)")


def run(arguments: Namespace, out: Output) -> int:
    """Print the agent as people write lambda expressions."""
    out.answer(compiling.compile_file(arguments.file).human().rstrip("\n"))
    return 0
