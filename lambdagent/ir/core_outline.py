"""Core program → text and JSON for people and programs: its term, constants and sites.

For programs that were written as such; those of agents are shown by `ir.outline`.
"""

from collections import Counter
from typing import Any

from lambdagent.ir.core import Prim
from lambdagent.ir.data_text import data_text, escaped
from lambdagent.ir.printer import print_shared, print_term
from lambdagent.ir.program import Program, without_credentials
from lambdagent.ir.sharing import TooLargeTextError
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.surface_json import core_json
from lambdagent.ir.walk import nodes

_SHOWN = 60
_LONGEST = 10_000


def describe(program: Program) -> str:
    """Return the text of ``lambdagent compile``: term, constructs, sites."""
    program, _ = without_credentials(program)
    term = _term(program).replace("\n", "\n  ")
    used = (name if n == 1 else f"{name}(×{n})" for name, n in constructs(program).items())
    lines = [f"{escaped(program.name)} =", f"  {term}", ""]
    lines.append(f"Constructs used: {', '.join(used) or 'none'}")
    if program.sites:
        lines += ["Sites:", *(f"  {_line(site)}" for site in program.sites.values())]
    return "\n".join(lines) + "\n"


def _term(program: Program) -> str:
    """Return the term of `program`, cut where it is too large for a text."""
    try:
        return print_shared(program.term, lines=True)
    except TooLargeTextError:
        return print_term(program.term, limit=_LONGEST, lines=True)


def constructs(program: Program) -> dict[str, int]:
    """Return how many distinct places hold each constant that is no site, by name."""
    prims = [term for term in nodes(program.term) if type(term) is Prim and term.name != "site"]
    return dict(sorted(Counter("Y" if p.name == "fix" else p.name for p in prims).items()))


def to_json(program: Program) -> dict[str, Any]:
    """Return `program` for ``lambdagent compile --format json``; secrets are hidden."""
    return {"name": program.name, "constructs": constructs(program), **core_json(program)}


def _line(site: Site) -> str:
    text = data_text(site.static)
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return f"{site_reference(site.name)}: {site.site_class}, {shown}"
