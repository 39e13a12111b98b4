"""``lambdagent compile FILE``."""

import json
from argparse import ArgumentParser, Namespace

from lambdagent.api import compiling
from lambdagent.cli.output import Output


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file and the format."""
    parser.add_argument("file", metavar="FILE", help="agent file (YAML)")
    parser.add_argument(
        "--format",
        choices=("text", "json", "python"),
        default="text",
        help="text for people, json for tools, python for code that rebuilds the term",
    )


def run(arguments: Namespace, out: Output) -> int:
    """Print what the agent compiles to. No effect is performed."""
    compiled = compiling.compile_file(arguments.file)
    match arguments.format:
        case "json":
            out.answer(json.dumps(compiled.to_json(), ensure_ascii=False, indent=2))
        case "python":
            out.answer(compiled.to_python().rstrip("\n"))
        case _:
            out.answer(compiled.describe().rstrip("\n"))
    return 0
