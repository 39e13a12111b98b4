"""``lambdagent schema``."""

import os
from argparse import ArgumentParser, Namespace

from lambdagent.api.schema import agent_schema
from lambdagent.cli.output import Output, json_text


def add_arguments(parser: ArgumentParser) -> None:
    """Take the language."""
    parser.add_argument(
        "--lang",
        choices=("en", "zh"),
        help="language of the descriptions; LAMBDAGENT_LANG decides by default",
    )


def run(arguments: Namespace, out: Output) -> int:
    """Print the JSON Schema of agent files."""
    chinese = os.environ.get("LAMBDAGENT_LANG", "").lower().startswith("zh")
    out.answer(json_text(agent_schema(arguments.lang or ("zh" if chinese else "en"))))
    return 0
