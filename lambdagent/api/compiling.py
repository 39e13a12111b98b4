"""Files and configurations → terms → programs. Performs no effect but reading the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from lambdagent.api.overriding import make_overrides
from lambdagent.desugar.passes import desugar
from lambdagent.desugar.pure import TooLargeError, desugar_pure
from lambdagent.desugar.typing import NoTypeError
from lambdagent.effects.collector import relaxed
from lambdagent.errors import (
    ConfigError,
    Diagnostic,
    LambdaSyntaxError,
    NoSuchFileError,
    SchemaError,
    SemanticError,
    compile_error,
    finding,
)
from lambdagent.frontend.build import NO_OVERRIDES, build_term, more_findings
from lambdagent.frontend.check import Config, check_config, read_config
from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.models import Overrides
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.report import in_file_order
from lambdagent.frontend.run_limits import run_limits
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir import agent_text, core_outline, outline, python_source
from lambdagent.ir.abi import LARGEST_NUMERAL
from lambdagent.ir.bounds import Bounds, bounds
from lambdagent.ir.by_identity import ByIdentity
from lambdagent.ir.latex import latex
from lambdagent.ir.program import Checkpoints, Program, without_credentials
from lambdagent.ir.program_text import print_brief, print_program, program_json
from lambdagent.ir.remote import OPEN_ENDED, Server
from lambdagent.ir.sharing import LARGEST, TooLargeTextError
from lambdagent.ir.surface import Term, Tool
from lambdagent.messages import phrase
from lambdagent.source import Source

# Agent files are written by people; a larger one is something else. Programs are also printed.
MAX_FILE_BYTES, MAX_PROGRAM_BYTES = 4 << 20, 32 << 20
# Files that are core programs: λ text, and the tables that `lambda --format json` writes.
CORE_SUFFIXES = (".lam", ".json")

# Returns the tools of servers by their names.
Discover: TypeAlias = Callable[
    [Sequence[Server], Mapping[str, str]], Mapping[str, tuple[Tool, ...]]
]

# What the file of a term asks of its runs: no part of its meaning.
_ASKED: ByIdentity[dict[str, Any]] = ByIdentity()
# To make the program of a term takes longer than many a run.
_PROGRAMS: ByIdentity[Program] = ByIdentity()


def read_source(path: str | Path) -> Source:
    """Return the text of an agent file.

    Raises:
        NoSuchFileError: There is no such file.
        ConfigError: It cannot be read, or is not UTF-8 text.
    """
    file = Path(path)
    most = MAX_PROGRAM_BYTES if file.suffix in CORE_SUFFIXES else MAX_FILE_BYTES
    try:
        with file.open("rb") as stream:
            raw = stream.read(most + 1)
    except FileNotFoundError:
        raise NoSuchFileError(finding("S012", path=str(path))) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(finding("S011", reason=reason), Source(str(path), "")) from error
    if len(raw) > most:
        reason = phrase("it is larger than {size} MB", size=most >> 20)
        raise ConfigError(finding("S011", reason=reason), Source(str(path), ""))
    if _is_utf16(raw):
        reason = phrase("it is written as UTF-16")
        raise ConfigError(finding("S008", reason=reason), Source(str(path), ""))
    try:
        return Source(str(path), raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        reason = phrase(
            "byte {start} is {byte}", start=error.start, byte=f"{raw[error.start]:#04x}"
        )
        raise ConfigError(finding("S008", reason=reason), Source(str(path), "")) from error


def _is_utf16(raw: bytes) -> bool:
    """Whether a file begins as Windows saves "Unicode": with its mark, or two letters in it."""
    start = [byte == 0 for byte in raw[:4]]
    letters = ([False, True, False, True], [True, False, True, False])
    return raw.startswith((b"\xff\xfe", b"\xfe\xff")) or start in letters


def load_config(path: str | Path, environment: Mapping[str, str] | None = None) -> Config:
    """Return the checked configuration of an agent file.

    Args:
        path: A YAML file.
        environment: What ``${VAR}`` in connection fields refers to; `os.environ` by default.

    Raises:
        CompileError: With every finding of the file, in file order.
    """
    return parse_config(read_source(path), environment)


def parse_config(source: Source, environment: Mapping[str, str] | None = None) -> Config:
    """Return the checked configuration that `source` is; see `load_config`."""
    return check_config(
        parse_yaml(source), source, os.environ if environment is None else environment
    )


@attrs.frozen(eq=False)
class Compiled:
    """What an agent file compiles to.

    Attributes:
        name: What people call the agent: its name, its id, or the name of its file.
        term: None for a file that is a core program already.
        about: What the agent is for, in the words of its file.
    """

    name: str
    term: Term | None
    program: Program
    about: str = ""

    def describe(self) -> str:
        """Return the structure of the agent as text for people."""
        if self.term is None:
            return core_outline.describe(self.program)
        return outline.describe(self.term, self.name, self.bounds.model_calls, self.about)

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of the sites whose models have credentials in their URL: no text shows them."""
        return without_credentials(self.program)[1]

    @property
    def remarks(self) -> list[Diagnostic]:
        """What is not known of the tools of servers that nobody has asked, server by server."""
        open_ended: dict[str, list[str]] = {}
        for site in self.program.sites.values():
            if site.static.get("parameters") == OPEN_ENDED and "server" in site.static:
                names = open_ended.setdefault(str(site.static["server"]), [])
                names.append(str(site.static["name"]))
        return [
            finding("S209", server=server, names=", ".join(names))
            for server, names in open_ended.items()
        ]

    @cached_property
    def bounds(self) -> Bounds:
        """How often models, tools and the rest of the world can be called."""
        return bounds(self.program)

    def human(self) -> str:
        """Return the agent as people write lambda expressions: a program again."""
        if self.term is None:
            return _written(lambda: print_program(self.program, lines=True))
        return agent_text.print_agent(self.term)

    def brief(self) -> str:
        """Return the same without the settings of models and tools; the first line says so."""
        if self.term is None:
            return _written(lambda: print_brief(self.program))
        return agent_text.print_brief(self.term)

    def formal(
        self,
        *,
        ascii: bool = False,  # noqa: A002
        de_bruijn: bool = False,
        sugar: bool = True,
    ) -> str:
        """Return the whole program as λ text, which is a program again.

        Raises:
            SemanticError: The text would be too large, even with definitions.
        """
        return _written(
            lambda: print_program(self.program, ascii=ascii, de_bruijn=de_bruijn, sugar=sugar)
        )

    def tables(self) -> str:
        """Return the whole program as JSON, which is a program again."""
        return program_json(self.program)

    def pure(self) -> Compiled:
        """Return the program in pure λ, which is a program again; it has no surface term.

        Raises:
            SemanticError: A value has no single type, so its encoding cannot be decoded; or
                numbers and bounds are too large together.
        """
        try:
            return Compiled(self.name, None, desugar_pure(self.program))
        except NoTypeError as error:
            raise SemanticError(finding("P036", reason=error.args[0])) from error
        except TooLargeError as error:
            found = finding("P046", limit=f"{LARGEST_NUMERAL:,}", largest=str(error))
            raise SemanticError(found) from error

    def latex(self, *, de_bruijn: bool = False, sugar: bool = True) -> str:
        """Return the core term in LaTeX, with ``let`` if `sugar`.

        Raises:
            SemanticError: It would be too large.
        """
        why = phrase("LaTeX has no definitions, so parts that are shared are written each time")
        hint = phrase("print it with `--format formal`, which has definitions")
        term = self.program.term
        return _written(lambda: latex(term, de_bruijn=de_bruijn, sugar=sugar), why, hint)

    def to_json(self) -> dict[str, object]:
        """Return term, core, sites and bounds as JSON."""
        if self.term is None:
            found = core_outline.to_json(self.program)
        else:
            found = outline.to_json(self.term, self.program)
        return {**found, "bounds": self.bounds.to_json()}

    def to_python(self) -> str:
        """Return Python code that rebuilds the term.

        Raises:
            LambdaSyntaxError: There is no surface term.
        """
        return python_source.to_python(_surface(self.term, phrase("Python code")))


_UNSHARED = phrase(
    "parts that use variables from around them have no definition: they are written each time"
)
_TABLES = phrase("print it with `--format json`, where all that is shared is one row")


def _written(text: Callable[[], str], why: str = _UNSHARED, hint: str = _TABLES) -> str:
    """Return `text`, or tell why it is too large."""
    try:
        return text()
    except TooLargeTextError as error:
        raise SemanticError(finding("P050", limit=f"{LARGEST:,}", why=why, hint=hint)) from error


def _surface(term: Term | None, what: str) -> Term:
    if term is not None:
        return term
    why = phrase("it has no surface term, which is what that is made from")
    hint = phrase("use `load_program`, or `lambdagent lambda`")
    raise LambdaSyntaxError(finding("P033", what=what, why=why, hint=hint))


def from_config(path: str | Path, *, discover: bool = True, **overrides: Any) -> Term:
    """Compile an agent file to a term.

    Values given here win over the environment (LAMBDAGENT_MODEL, …), which wins over the file.
    The MCP servers of the file are asked which tools they have; that is its only effect.

    Args:
        path: A YAML file.
        discover: Ask MCP servers; else only tools that the file names are known, and not what
            they take.
        **overrides: ``model``: name of the model, for every agent of the file. ``temperature``,
            ``max_tokens``: for every agent. ``max_steps``: bound of every ReAct loop. ``tools``:
            Python functions, or `Tool`s, by name; every ReAct agent may use them.
            ``memory_store``: a dict with what the agent remembers from the start, or a
            `MemoryStore`. ``providers``: provider objects by the name of the provider that they
            replace. ``tool_timeout_s``: longest wait for one tool call, in seconds.

    Raises:
        NoSuchFileError: There is no such file.
        CompileError: The file does not compile, or is a core program, which has no surface term;
            every finding is in it.
        EffectError: An MCP server cannot be used.
    """
    compiled = compile_file(path, discover=discover, **overrides)
    return _surface(compiled.term, phrase("a surface term"))


def load_program(path: str | Path, *, discover: bool = True, **overrides: Any) -> Program:
    """Compile a file of any kind to a program, which `run` and `Session` take.

    Args:
        path: An agent file (YAML), a λ text (``.lam``), or a program in JSON (``.json``).
        discover: Ask MCP servers, as in `from_config`.
        **overrides: Those of `from_config`.

    Raises:
        NoSuchFileError: There is no such file.
        CompileError: The file does not compile; every finding is in it.
        EffectError: An MCP server cannot be used.
    """
    return compile_file(path, discover=discover, **overrides).program


@relaxed()
def compile_file(
    path: str | Path, *, discover: bool | Discover = False, **overrides: Any
) -> Compiled:
    """Compile a file of any kind, with the overrides of `from_config`.

    Args:
        path: The file.
        discover: Ask MCP servers, as in `from_config`; or who asks them. Of a server that is not
            in what that returns, the tools are known that the file names.
        **overrides: Those of `from_config`.

    Raises:
        NoSuchFileError: There is no such file.
        CompileError: The file does not compile; every finding is in it.
    """
    if str(path).endswith(CORE_SUFFIXES):
        return _compile_core(read_source(path), Path(path).stem, overrides)
    source = read_source(path)
    config, findings = read_config(parse_yaml(source), source, os.environ)
    overrides["base_dir"] = str(Path(path).parent)
    config, term = _compiled(config, findings, source, overrides, discover=discover)
    name = str(config.data.get("name") or config.data.get("agentId") or Path(path).stem)
    about = str(config.data.get("description", ""))
    return Compiled(name, term, compile_term(term, name), about)


def _compile_core(source: Source, name: str, overrides: Mapping[str, Any]) -> Compiled:
    # The parser is loaded for such files alone.
    parse = import_module("lambdagent.api.programs").parse_program
    term, program = parse(source, name, make_overrides(**overrides))
    return Compiled(program.name, term, program)


def build_agent(
    config: Mapping[str, object] | Config, *, discover: bool = False, **overrides: Any
) -> Term:
    """Compile a configuration that is a dict, with the overrides of `from_config`.

    Args:
        config: A dict; or what `load_config` returns, whose relative paths start at its file.
        discover: Ask MCP servers, as in `from_config`.
        **overrides: As for `from_config`.

    Raises:
        CompileError: The configuration does not compile.
    """
    if isinstance(config, Config):
        overrides["base_dir"] = _folder(config.source.name)
        return _compiled(config, [], config.source, overrides, discover=discover)[1]
    source = Source("", "")
    read = read_config(tree_of(config), source, os.environ)
    return _compiled(*read, source, overrides, discover=discover)[1]


def _compiled(
    config: Config | None,
    findings: list[Diagnostic],
    source: Source,
    given: Mapping[str, Any],
    *,
    discover: bool | Discover,
) -> tuple[Config, Term]:
    """Return the configuration and its term.

    Args:
        config: What `read_config` returns, with its `findings`.
        findings: What the checker says.
        source: Where it was read from.
        given: The overrides.
        discover: Ask the MCP servers that it has.

    Raises:
        CompileError: With what the checker says, and what is wrong with the overrides and with the
            parts that are sound.
    """
    try:
        overrides = make_overrides(**given)
    except SchemaError as error:
        overrides, findings = NO_OVERRIDES, [*error.diagnostics, *findings]
    if config is None or findings:
        more = [] if config is None else more_findings(config, overrides)
        raise compile_error(in_file_order([*findings, *more]), source)
    if discover is False:
        return config, _built(config, overrides)
    # What connects is loaded for that alone.
    ask = import_module("lambdagent.effects.mcp").discover if discover is True else discover
    overrides = _discovered(config, overrides, ask)
    return config, _built(config, overrides, None if discover is True else [])


def _discovered(config: Config, overrides: Overrides, ask: Discover) -> Overrides:
    """Return `overrides` with what the servers of `config` say of their tools.

    Raises:
        CompileError: The agent cannot be built, whatever they say.
        EffectError: One cannot be used.
    """
    servers: list[Server] = []
    build_term(config, overrides, asked=servers)
    if not servers:
        return overrides
    found = ask(servers, os.environ)
    return attrs.evolve(overrides, declared={**overrides.declared, **found})


def _built(config: Config, overrides: Overrides, unasked: list[Server] | None = None) -> Term:
    """Return the term of `config`, and remember what its file asks of its runs."""
    term = build_term(config, overrides, asked=unasked)
    asked: dict[str, Any] = {}
    runtime, checkpoint = config.data.get("runtime"), config.data.get("checkpoint")
    if runtime is not None and "engine" in runtime:
        asked["engine"] = str(runtime["engine"])
    if checkpoint is not None and checkpoint["enabled"]:
        asked["checkpoints"] = Checkpoints(
            checkpoint["directory"], checkpoint["autoSaveSteps"], checkpoint["maxCheckpoints"]
        )
    limits = run_limits(config.data)
    if limits is not None:
        asked["limits"] = limits
    if asked:
        _ASKED.put(term, asked)
    return term


def _folder(name: str) -> str | None:
    """Return the folder of a source that is a file."""
    path = Path(name)
    try:
        return str(path.parent) if name and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


@relaxed()
def compile_term(term: Term, name: str = "agent") -> Program:
    """Return the core program that `term` means. Deterministic, without effect.

    Raises:
        ExpressionError: An expression in a term that was built in Python is not valid.
    """
    known = _PROGRAMS.get(term)
    if known is not None and known.name == name:
        return known
    program = desugar(term, parse_expression, name)
    asked = _ASKED.get(term)
    if asked is not None:
        program = attrs.evolve(program, **asked)
    _PROGRAMS.put(term, program)
    return program
