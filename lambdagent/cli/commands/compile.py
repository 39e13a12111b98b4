"""``lambdagent compile FILE``."""

from argparse import ArgumentParser, Namespace

from lambdagent.api import compiling
from lambdagent.cli.findings import render_findings
from lambdagent.cli.output import Output, json_text
from lambdagent.errors import UsageError, finding


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file and the format."""
    parser.add_argument(
        "file", metavar="FILE", help="agent file: YAML, λ text (.lam) or tables (.json)"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "python", "sarif", "github"),
        default="text",
        help="text for people, json for tools, python for code that rebuilds the term; sarif and "
        "github print what is wrong with the file, for services that build and test",
    )
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="print how often models and tools can be called instead; json has that too",
    )


def run(arguments: Namespace, out: Output) -> int:
    """Print what the agent compiles to. No effect is performed."""
    if arguments.bounds and arguments.format not in {"text", "json"}:
        raise UsageError(finding("U001", option="--bounds", other=f"--format {arguments.format}"))
    compiled = compiling.compile_file(arguments.file)
    match arguments.format:
        case "sarif":
            out.answer(render_findings([], {}, "sarif"))
            return 0
        case "github":
            return 0
        case "json":
            found = compiled.bounds.to_json() if arguments.bounds else compiled.to_json()
            out.answer(json_text(found))
        case "python":
            out.answer(compiled.to_python().rstrip("\n"))
        case _ if arguments.bounds:
            out.answer(compiled.bounds.describe().rstrip("\n"))
        case _:
            out.answer(compiled.describe().rstrip("\n"))
    shows_urls = arguments.format != "text" or compiled.term is None
    if shows_urls and not arguments.bounds:
        out.hidden(compiled.hidden)
    return 0
