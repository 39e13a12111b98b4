"""``lambdagent lambda FILE``."""

from argparse import ArgumentParser, Namespace

from lambdagent.api import compiling
from lambdagent.cli.output import Output
from lambdagent.effects.collector import relaxed
from lambdagent.errors import UsageError, finding
from lambdagent.messages import phrase


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file, the format and the spelling."""
    add = parser.add_argument
    add("file", metavar="FILE", help=phrase("agent file: YAML, λ text (.lam) or tables (.json)"))
    add(
        "--format",
        choices=("human", "formal", "json"),
        default="human",
        help=phrase("human for people; formal is the core term, and json its tables: all run"),
    )
    add(
        "--brief",
        action="store_true",
        help=phrase("for people, without settings and long prompts"),
    )
    add(
        "--desugar",
        action="store_true",
        help=phrase("pure λ: variables, λ, applications; it runs"),
    )
    add(
        "--discover",
        action="store_true",
        help=phrase("ask the MCP servers of the file which tools they have"),
    )
    spelling = parser.add_mutually_exclusive_group()
    spelling.add_argument(
        "--ascii", action="store_true", help=phrase("formal, in nothing but ASCII")
    )
    spelling.add_argument("--latex", action="store_true", help=phrase("the core term in LaTeX"))
    add("--de-bruijn", action="store_true", help=phrase("formal, with indices for variables"))


@relaxed()
def run(arguments: Namespace, out: Output) -> int:
    """Print the agent as a lambda expression."""
    if arguments.brief:
        _refuse_with_brief(arguments)
    for option in ("ascii", "latex", "de_bruijn"):
        if arguments.format == "json" and getattr(arguments, option):
            other = f"--{option.replace('_', '-')}"
            raise UsageError(finding("U001", option="--format json", other=other))
    compiled = compiling.compile_file(arguments.file, discover=arguments.discover)
    out.answer(_text(compiled, arguments).rstrip("\n"))
    if not arguments.discover:
        out.remarks(compiled.remarks)
    if not (arguments.brief or arguments.latex):
        out.hidden(compiled.hidden)
    return 0


def _refuse_with_brief(arguments: Namespace) -> None:
    others = {option: getattr(arguments, option) for option in ("ascii", "latex", "de_bruijn")}
    others[f"format {arguments.format}"] = arguments.format != "human"
    for option, given in others.items():
        if given:
            other = f"--{option.replace('_', '-')}"
            raise UsageError(finding("U001", option="--brief", other=other))


def _text(compiled: compiling.Compiled, arguments: Namespace) -> str:
    if arguments.desugar:
        compiled = compiled.pure()
    if arguments.latex:
        return compiled.latex(de_bruijn=arguments.de_bruijn, sugar=not arguments.desugar)
    if arguments.format == "json":
        return compiled.tables()
    if arguments.brief:
        return compiled.brief()
    whole = arguments.format == "formal" or arguments.ascii or arguments.de_bruijn
    if whole or arguments.desugar:
        return compiled.formal(
            ascii=arguments.ascii, de_bruijn=arguments.de_bruijn, sugar=not arguments.desugar
        )
    return compiled.human()
