"""``lambdagent schema``."""

import os
from argparse import ArgumentParser, Namespace

from lambdagent.api.schema import agent_schema
from lambdagent.cli.output import Output, json_text
from lambdagent.messages import language_of, phrase


def add_arguments(parser: ArgumentParser) -> None:
    """Take the language."""
    parser.add_argument(
        "--lang",
        choices=("en", "zh"),
        help=phrase("language of the descriptions; LAMBDAGENT_LANG decides by default"),
    )


def run(arguments: Namespace, out: Output) -> int:
    """Print the JSON Schema of agent files."""
    out.answer(json_text(agent_schema(arguments.lang or language_of(os.environ))))
    return 0
