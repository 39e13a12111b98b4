"""``lambdagent new [TYPE]``."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from lambdagent.api import starting
from lambdagent.cli.files import place, write_new
from lambdagent.cli.output import Output, has_terminal
from lambdagent.errors import UsageError, finding
from lambdagent.ir.services import provider_of
from lambdagent.messages import phrase
from lambdagent.source import HIDDEN

_STANDARD_OUTPUT = "-"
_SCRIPTED = "scripted"
_LONGEST_NAME = 200


def add_arguments(parser: ArgumentParser) -> None:
    """Take the type and what the file is to hold."""
    add = parser.add_argument
    add(
        "type",
        nargs="?",
        choices=starting.TYPES,
        metavar="TYPE",
        help=phrase(
            "one of {names}; in a terminal, what is left out is asked for",
            names=", ".join(starting.TYPES),
        ),
    )
    add("--name", help=phrase("what the agent is called; its type by default"))
    add(
        "--provider",
        choices=starting.PROVIDERS,
        help=phrase("who answers; by default scripted, which needs no key"),
    )
    add("--model", help=phrase("the model; a usual one of the provider by default"))
    add(
        "--output",
        type=place,
        metavar="FILE",
        help=phrase("where to write it, - for standard output; NAME.yml by default"),
    )
    add("--force", action="store_true", help=phrase("replace a file that is there"))
    add(
        "--lang",
        choices=starting.LANGUAGES,
        help=phrase("language of comments and prompts; LAMBDAGENT_LANG or the locale by default"),
    )


def run(arguments: Namespace, out: Output) -> int:
    """Write an agent file to begin with."""
    if arguments.type is None:
        if not has_terminal():
            raise UsageError(finding("U030", types=", ".join(starting.TYPES)))
        _ask(arguments, out)
    name = _checked(arguments.name or arguments.type, "--name")
    model = None if arguments.model is None else _checked(arguments.model, "--model")
    path = arguments.output or starting.file_name(name)
    text = starting.starter(
        arguments.type,
        name,
        "agent.yml" if path == _STANDARD_OUTPUT else path,
        provider=_provider(arguments.provider, model),
        model=model,
        language=arguments.lang or _language(),
    )
    if path == _STANDARD_OUTPUT:
        out.answer(text.rstrip("\n"))
        return 0
    write_new(Path(path), text, force=arguments.force)
    out.answer(path)
    return 0


def _provider(provider: str | None, model: str | None) -> str:
    """Return who answers: as said, or whose models are named like `model`."""
    if provider == _SCRIPTED and model is not None:
        raise UsageError(finding("U001", option="--provider scripted", other="--model"))
    if provider is not None or model is None:
        return provider or _SCRIPTED
    known = provider_of(model)
    if known is None:
        raise UsageError(finding("U031", model=model))
    return known


def _checked(text: str, option: str) -> str:
    """Return a name, which is one line that can be seen."""
    if not text.strip() or HIDDEN.search(text) or len(text) > _LONGEST_NAME:
        limit = phrase("{count} characters", count=_LONGEST_NAME)
        raise UsageError(finding("U032", option=option, limit=limit, actual=text))
    return text


def _language() -> str:
    names = ("LAMBDAGENT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    asked = next(filter(None, map(os.environ.get, names)), "")
    return "zh" if asked.casefold().startswith("zh") else "en"


# --- what is asked in a terminal ---


def _ask(arguments: Namespace, out: Output) -> None:
    """Ask for what the options do not say; nothing but Enter takes what stands in brackets."""
    arguments.type = _choice(out, "Type", starting.TYPES)
    if arguments.name is None:
        arguments.name = _line(out, "Name", arguments.type)
    if arguments.provider is None and arguments.model is None:
        arguments.provider = _choice(out, "Provider", starting.PROVIDERS)
        if arguments.provider != _SCRIPTED:
            usual = starting.USUAL_MODELS[arguments.provider]
            arguments.model = _line(out, "Model", usual)
    if arguments.output is None:
        arguments.output = _line(out, "File", starting.file_name(arguments.name))


def _choice(out: Output, what: str, words: Sequence[str]) -> str:
    while True:
        said = _line(out, f"{what}: {', '.join(words)}", words[0])
        if said in words:
            return said
        out.error(f"there is no `{said}`")


def _line(out: Output, what: str, usual: str) -> str:
    out.error(f"{what} [{usual}]")
    said = sys.stdin.readline()
    if not said:
        raise UsageError(finding("U034"))
    return said.strip() or usual
