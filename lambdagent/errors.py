"""What can go wrong, and how it is told.

    LambdagentError                 exit 1
    ├── CompileError                exit 2   the file is at fault
    │   ├── ConfigError                      it cannot be read as YAML
    │   ├── SchemaError                      a field is missing, unknown or of the wrong type
    │   ├── SemanticError                    the fields are well-formed, the agent is not
    │   ├── LambdaSyntaxError                a λ text cannot be read, or is no program
    │   └── NoSuchFileError         exit 4
    ├── UsageError                  exit 2   the command line is at fault
    ├── RunError                    exit 1   the run is at fault
    │   ├── EffectError                      a model, a tool, a store
    │   ├── GuardError                       no answer passed the guard
    │   ├── RouteError                       no route fits and there is no default
    │   └── BudgetError                      out of rounds, transitions or time
    ├── SuspendedError              exit 75  the run waits for a person
    ├── CheckpointError             exit 1   a kept run cannot be read, written or gone on with
    │   └── DivergenceError                  it asks something else than it did before
    └── StuckError                  exit 70  no rule applies: a fault of ours

Every error carries `Diagnostic`s; their texts stand in `messages`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lambdagent.messages import ENGLISH, Phrase, Text, phrase, recognized_values, text_of, told
from lambdagent.source import Source, Span

_SHOWN = 80
_SHOWN_OF_OURS = 240  # words of ours are cut only where values make them endless
_LIKE_JSON = (str, bool, int, float, list, tuple, Mapping, type(None))
# The end of a path says which file it is; a call is approved by who has seen all of it; a finding
# and a difference were cut when they were made.
_WHOLE = {"path", "call", "finding", "difference"}


# What findings are, and the words before their parts.
ERROR, WARNING, NOTE = phrase("error"), phrase("warning"), phrase("note")
WHY, FIX = phrase("why"), phrase("fix")


class Words(dict[str, Any]):
    """What was filled into the words of a diagnostic; never changed, so that it has a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))


class Diagnostic(NamedTuple):
    """One finding: what is wrong, where, why, and how to fix it.

    Attributes:
        code: Key of the tables in `messages`.
        what: One sentence, in the language of the reader; so are the other words.
        field: Path of the field, such as ``chain.steps[0].prompt``.
        expected: What the field may hold.
        actual: What it holds, shortened.
        instead: What to write in the place of `where`, if that is certain.
        values: What was filled into its words.
    """

    code: str
    what: str
    where: Span | None = None
    why: str = ""
    fix: str = ""
    field: str | None = None
    expected: str | None = None
    actual: Any = None
    instead: str | None = None
    values: Words = Words()


def plain(value: object) -> str:
    """Return `value` in words that belong to no programming language: as JSON, or by its type.

    >>> plain(("a", None)), plain(len)
    ('["a", null]', 'a value of type builtin_function_or_method')
    """
    if not isinstance(value, _LIKE_JSON):
        return f"a value of type {type(value).__name__}"
    try:
        return json.dumps(value, ensure_ascii=False, default=_unlike_json)
    except (TypeError, ValueError, RecursionError):
        return "a value that no text shows"


def _unlike_json(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else f"a value of type {type(value).__name__}"


def plain_text(value: object) -> str:
    """Return a text as it is, a path as people write it, and else what `plain` says."""
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        return str(value)
    return plain(value)


def shown(value: object) -> str:
    """Return `value` as people would write it, cut at 80 characters if it is not of ours."""
    text = plain_text(value)
    most = _SHOWN_OF_OURS if isinstance(value, Phrase) else _SHOWN
    return text if len(text) <= most else f"{text[: most - 1]}…"


def finding(code: str, where: Span | None = None, **values: Any) -> Diagnostic:
    """Return the diagnostic `code` with its text filled in from `values`.

    ``field``, ``expected``, ``actual`` and ``instead`` are also kept as attributes. `Phrase`s are
    told in the language of the reader.
    """
    given: dict[str, Any] = {name: told(value) for name, value in values.items()}
    what, why, fix = _filled(text_of(code), given)
    return Diagnostic(
        code,
        what,
        where,
        why,
        fix,
        given.get("field"),
        given.get("expected"),
        given.get("actual"),
        given.get("instead"),
        Words(values),
    )


def _filled(text: Text, values: Mapping[str, Any]) -> Iterator[str]:
    words = {n: plain_text(value) if n in _WHOLE else shown(value) for n, value in values.items()}
    return (part.format_map(words) if "{" in part else part for part in text)


def in_english(found: Diagnostic) -> dict[str, str]:
    """Return code, what, why and fix as the data of a run has them, whoever reads it."""
    words: Iterable[str] = found[1:2] + found[3:5]
    if found.values:
        words = _filled(text_of(found.code, ENGLISH), found.values)
    return dict(zip(("code", "what", "why", "fix"), (found.code, *words), strict=True))


def retold(code: str, what: str, why: str, fix: str) -> Diagnostic:
    """Return the diagnostic with these words, which are English, in the language of the reader.

    Words that are not those of `code`, such as of another version, stay as they are.
    """
    values: Mapping[str, Any] | None = recognized_values(
        zip(text_of(code, ENGLISH), (what, why, fix), strict=True)
    )
    if values is None:
        return Diagnostic(code, what, None, why, fix)
    found = finding(code, **values)
    if text_of(code) is text_of(code, ENGLISH):
        return found._replace(what=what, why=why, fix=fix)  # as they were cut when they were made
    return found


def render(diagnostic: Diagnostic, source: Source | None = None, *, word: Phrase = ERROR) -> str:
    """Return a finding as people read it: place, text, excerpt with caret, why and fix.

    Args:
        diagnostic: The finding.
        source: Where it was found.
        word: What it is.
    """
    where = diagnostic.where
    place = source.name if source else ""
    if where is not None:
        place = f"{place}:{where.line}:{where.column}".lstrip(":")
    head = f"{place}: " if place else ""
    lines = [f"{head}{told(word)}[{diagnostic.code}]: {diagnostic.what}"]
    if source is not None and where is not None:
        lines.append(source.excerpt(where))
    return "\n".join([*lines, *reasons(diagnostic)])


def reasons(diagnostic: Diagnostic) -> list[str]:
    """Return why the finding is one, and how to mend it, each on a line of its own."""
    told_of = ((WHY, diagnostic.why), (FIX, diagnostic.fix))
    return [f"{told(word)}: {text}" for word, text in told_of if text]


class LambdagentError(Exception):
    """The root of all errors that lambdagent raises on purpose."""

    exit_code = 1

    def __init__(
        self, diagnostics: Diagnostic | Sequence[Diagnostic], source: Source | None = None
    ) -> None:
        """Carry `diagnostics`, at least one, found in `source`."""
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics = found
        self.source = source
        super().__init__("\n".join(render(each, source) for each in found))

    @property
    def diagnostic(self) -> Diagnostic:
        """The first finding."""
        return self.diagnostics[0]


class CompileError(LambdagentError):
    """The file does not compile."""

    exit_code = 2


class ConfigError(CompileError):
    """The file cannot be read."""


class SchemaError(CompileError):
    """A field is missing, unknown, or of the wrong type."""

    @property
    def field(self) -> str | None:
        """Path of the field."""
        return self.diagnostic.field

    @property
    def expected(self) -> str | None:
        """What the field may hold."""
        return self.diagnostic.expected

    @property
    def actual(self) -> Any:
        """What it holds."""
        return self.diagnostic.actual


class SemanticError(CompileError):
    """The fields are well-formed, but they make no agent."""

    @property
    def rule(self) -> str:
        """The rule that is broken."""
        return self.diagnostic.code


class LambdaSyntaxError(CompileError):
    """A λ text cannot be read, or what it says is no program."""


class NoSuchFileError(CompileError):
    """There is no such file."""

    exit_code = 4


class UsageError(LambdagentError):
    """The command line does not say what to do, or a file of it cannot be used."""

    exit_code = 2


class RunError(LambdagentError):
    """The run failed.

    Attributes:
        trace: The macro trace up to the failure.
        execution: The run from its start, for `export_spans`; None if it did not begin.
    """

    trace: Sequence[Any] = ()
    execution: Any = None


class EffectError(RunError):
    """A model, a tool or a store failed."""


class GuardError(RunError):
    """No answer passed the guard."""


class RouteError(RunError):
    """No route fits, and there is no default."""


class BudgetError(RunError):
    """Out of rounds, transitions or time."""


class SuspendedError(LambdagentError):
    """The run cannot go on before a person has confirmed a call; it has not failed.

    Attributes:
        confirmations: The calls that wait, lowest key first.
        trace: The macro trace so far.
        execution: The run from its start, for `export_spans`.
    """

    exit_code = 75
    trace: Sequence[Any] = ()
    execution: Any = None

    def __init__(
        self,
        diagnostics: Diagnostic | Sequence[Diagnostic],
        confirmations: Sequence[Any] = (),
    ) -> None:
        """Carry `diagnostics`, one for each of `confirmations`."""
        super().__init__(diagnostics)
        self.confirmations = tuple(confirmations)


class CheckpointError(LambdagentError):
    """A kept run cannot be read or written, or does not fit the program."""


class DivergenceError(CheckpointError):
    """A program asks something else than the journal of its run says."""


class StuckError(LambdagentError):
    """No rule applies: a fault of ours."""

    exit_code = 70


def compile_error(diagnostics: Sequence[Diagnostic], source: Source | None = None) -> CompileError:
    """Return the error that carries all `diagnostics`, of the class of the first one."""
    code = diagnostics[0].code
    kind: type[CompileError]
    if code == "S012":
        kind = NoSuchFileError
    elif code.startswith("S0"):
        kind = ConfigError
    elif code.startswith("S1"):
        kind = SchemaError
    elif code.startswith("P"):
        kind = LambdaSyntaxError
    else:
        kind = SemanticError
    return kind(diagnostics, source)
