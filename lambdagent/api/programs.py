"""λ texts and JSON tables → programs, with what the caller decides instead of the file.

Loaded only for such files: the parser takes longer to load than an agent file to compile.
"""

from __future__ import annotations

from typing import NoReturn

import attrs

from lambdagent.desugar.passes import desugar
from lambdagent.errors import LambdaSyntaxError, SemanticError, finding
from lambdagent.frontend.build import NO_OVERRIDES
from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.frontend.models import Overrides
from lambdagent.ir import surface
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.model import Model, model_row
from lambdagent.ir.program import Program
from lambdagent.ir.services import provider_of
from lambdagent.ir.sites import Site
from lambdagent.messages import phrase
from lambdagent.source import Source


def parse_program(
    source: Source, name: str, overrides: Overrides
) -> tuple[surface.Term | None, Program]:
    """Return the agent that a ``.lam`` or ``.json`` text is, if it is one, and its program.

    What the caller decides is in the program alone; then there is no agent.

    Raises:
        LambdaSyntaxError: The text is no program.
        SemanticError: It has nothing that an override could be about.
    """
    if source.name.endswith(".json"):
        return None, overridden(parse_program_json(source), overrides)
    file = parse_lambda(source)
    if file.agent is None:
        return None, overridden(lambda_program(file, name), overrides)
    made = desugar(file.agent, parse_expression, name)
    sites = {key: attrs.evolve(site, binding=None) for key, site in made.sites.items()}
    program = attrs.evolve(made, sites=sites)
    agent = file.agent if overrides == NO_OVERRIDES else None
    return agent, overridden(program, overrides)


def overridden(program: Program, overrides: Overrides) -> Program:
    """Return `program` with the models, tools and memories that the caller gives.

    Raises:
        LambdaSyntaxError: A bound of rounds is given: those of a core program stand in its term.
        SemanticError: Nothing in the program uses a tool or memory of the caller.
    """
    if overrides.max_steps is not None:
        why = phrase("the bounds of its loops stand in the term, as in `Y[5]`")
        hint = phrase("change them in the file")
        raise LambdaSyntaxError(finding("P033", what="`max_steps`", why=why, hint=hint))
    sites = {name: _site(site, overrides) for name, site in program.sites.items()}
    used = {site.static.get("name") for site in sites.values() if site.kind == "tool"}
    for name in overrides.tools:
        if name not in used:
            _unused(
                phrase("tool {name}", name=name),
                phrase("no site `tool.…` is the tool of this name"),
            )
    asked = {site.static["tool"] for site in sites.values() if site.kind == "confirm"}
    for name, tool in overrides.tools.items():
        if tool.confirm and name not in asked:
            _unused(
                phrase("`confirm` of the tool {name}", name=name),
                phrase("no site `confirm.…` asks before `{name}`", name=name),
            )
    kinds = {site.kind for site in sites.values()}
    if overrides.memory_initial is not None and not kinds & (_LOCAL | _STORED):
        _unused(phrase("memory"), phrase("the program has no site `mem.read`"))
    if overrides.memory_binding is not None and not kinds & _STORED:
        _unused(phrase("memory"), phrase("the program has no site `recall`"))
    return attrs.evolve(program, sites=sites)


_LOCAL = {"mem.read", "mem.append"}
_STORED = {"recall", "remember"}


def _unused(what: str, why: str) -> NoReturn:
    raise SemanticError(finding("S203", what=what, why=why, hint=phrase("leave it out")))


def _site(site: Site, overrides: Overrides) -> Site:
    if site.kind == "llm":
        return _model_site(site, overrides)
    if site.kind == "tool":
        return _tool_site(site, overrides)
    if site.kind in _STORED:
        site = attrs.evolve(site, binding=overrides.memory_binding)
    if site.kind in _LOCAL | _STORED and overrides.memory_initial is not None:
        initial = freeze(overrides.memory_initial)
        return attrs.evolve(site, static=Record(site.static, initial=initial))
    return site


def _model_site(site: Site, overrides: Overrides) -> Site:
    model = site.static["model"]
    if not isinstance(model, Record):
        if overrides.model is None:
            return site
        model = model_row(Model(provider=provider_of(overrides.model) or "", name=""))
        assert isinstance(model, Record)
    chosen: dict[str, Data] = {
        "name": overrides.model,
        "temperature": overrides.temperature,
        "max_tokens": overrides.max_tokens,
    }
    given = {key: value for key, value in chosen.items() if value is not None}
    model = Record({**model, **given})
    binding = overrides.providers.get(str(model["provider"]))
    return attrs.evolve(site, static=Record(site.static, model=model), binding=binding)


def _tool_site(site: Site, overrides: Overrides) -> Site:
    timeout_s = overrides.tool_timeout_s or site.timeout_s
    tool = overrides.tools.get(str(site.static["name"]))
    if tool is None:
        return attrs.evolve(site, timeout_s=timeout_s)
    static = Record(
        site.static,
        command=tool.command,
        description=tool.description or site.static["description"],
    )
    return attrs.evolve(site, static=static, timeout_s=timeout_s, binding=tool.implementation)
