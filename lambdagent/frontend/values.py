"""Single values: scalar node × kind → datum, or a finding.

A plain scalar is read as its field wants; a quoted one is text and nothing else. So `yes` is a
category named yes in one place and true in another, `010` is ten, and `true` is no number.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from lambdagent.errors import finding
from lambdagent.frontend.expression import ExpressionError, parse_expression
from lambdagent.frontend.kinds import (
    Choice,
    Expression,
    Flag,
    Integer,
    Number,
    Pattern,
    Remembered,
    Text,
)
from lambdagent.frontend.nodes import (
    BOOL,
    FLOAT,
    INT,
    NULLS,
    PLAIN,
    TEXT,
    Node,
    Scalar,
    is_null,
    is_refused,
    span_of,
)
from lambdagent.frontend.report import BAD, Path, Reporter, certain, nearest, written
from lambdagent.ir.strategies import WRITTEN
from lambdagent.messages import Phrase, phrase
from lambdagent.source import Span

_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_INT64 = range(-(2**63), 2**63)
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NUMBERED = ("sliding_window", "token_budget", "summary")
_REFERENCE = re.compile(r"\$(\$(?=\{))|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\})?")

_WORDS = (PLAIN, TEXT)

TEXT_WANTED = phrase("text")
REMEMBERED = phrase("true, false, full, sliding_window(n), token_budget(n) or summary(n)")
UNQUOTE = phrase("remove the quotes")
QUOTE = phrase("put quotes around it to mean the word")


def text_of(reporter: Reporter, node: Node, path: Path, expected: str = TEXT_WANTED) -> Any:
    """Return the text of `node`."""
    if node.__class__ is Scalar:
        if node.kind == TEXT or (node.kind == PLAIN and node.text not in NULLS):
            return node.text
        if is_refused(node):
            return BAD
        hint = QUOTE if is_null(node) and node.text else ""
        return reporter.wrong(node, path, expected, hint)
    return reporter.wrong(node, path, expected, phrase("put quotes around the text"))


def read_text(reporter: Reporter, kind: Text, node: Node, path: Path) -> Any:
    """Return a text, its variables expanded if it is a connection."""
    if kind.blank and is_null(node):
        return reporter.report(kind.blank, node, path, key=path[-1])
    text = text_of(reporter, node, path)
    return _expand(reporter, text, node, path) if kind.connection and text is not BAD else text


def _expand(reporter: Reporter, text: str, node: Node, path: Path) -> Any:
    """Return `text` with the values of the variables that it names; `$${` stands for `${`."""
    failed = False

    def value(match: re.Match[str]) -> str:
        nonlocal failed
        escaped, name, has_default, default = match.groups()
        if escaped:
            return "$"
        if name is None:
            failed = True
            expected = phrase("a text in which `${` begins `${NAME}` or `${NAME:-default}`")
            reporter.report(
                "S104",
                node,
                path,
                expected=expected,
                actual=phrase("another `${`"),
                hint=phrase("write `$${` for `${`"),
            )
            return ""
        found = reporter.environment.get(name)
        if not found and not has_default:
            failed = True
            reporter.report("S106", node, path, variable=name)
        return found or default or ""

    expanded = _REFERENCE.sub(value, text) if "$" in text else text
    return BAD if failed else expanded


def read_integer(reporter: Reporter, kind: Integer, node: Node, path: Path) -> Any:
    """Return a whole number in the range of `kind`."""
    text = _literal(reporter, kind, node, path, (INT,), _INTEGER)
    if text is BAD:
        return BAD
    number = int(text)
    if number == 0 and kind.zero:
        return reporter.report(kind.zero, node, path)
    high = kind.most is not None and number > kind.most
    if number not in _INT64 or number < kind.least or high:
        return reporter.wrong(node, path, _numbers(kind, most=number > 0))
    return number


def read_number(reporter: Reporter, kind: Number, node: Node, path: Path) -> Any:
    """Return a finite number in the range of `kind`."""
    text = _literal(reporter, kind, node, path, (INT, FLOAT), _NUMBER)
    if text is BAD:
        return BAD
    number = float(text)
    low = number <= kind.least if kind.open else number < kind.least
    if low or number == float("inf") or (kind.most is not None and number > kind.most):
        return reporter.wrong(node, path, _numbers(kind))
    return number + 0.0  # no -0.0


def _literal(
    reporter: Reporter,
    kind: Integer | Number,
    node: Node,
    path: Path,
    readings: tuple[str, ...],
    form: re.Pattern[str],
) -> Any:
    """Return the text of `node` if it has the `form` and may be read as one of `readings`."""
    if is_refused(node):
        return BAD
    if node.__class__ is Scalar:
        fits = form.fullmatch(node.text)
        if fits and (node.kind == PLAIN or node.kind in readings):
            return node.text
        if fits and node.kind == TEXT:
            return reporter.wrong(node, path, _numbers(kind), UNQUOTE, node.text)
    return reporter.wrong(node, path, _numbers(kind))


def _numbers(kind: Integer | Number, *, most: bool = False) -> Phrase:
    """Return which numbers `kind` means, in words for people; `most` tells the largest too."""
    if isinstance(kind, Integer):
        least = 1 if kind.zero else kind.least
        largest = _INT64.stop - 1 if kind.most is None and most else kind.most
        if largest is None:
            return phrase("a whole number from {least}", least=least)
        return phrase("a whole number from {least} to {most}", least=least, most=largest)
    if kind.least == float("-inf"):
        return phrase("a number that is not infinite")
    lowest = f"{kind.least:g}"
    if kind.most is not None:
        return phrase("a number from {least} to {most}", least=lowest, most=f"{kind.most:g}")
    if kind.open:
        return phrase("a number above {least}", least=lowest)
    return phrase("a number from {least}", least=lowest)


def any_scalar(reporter: Reporter, node: Node, path: Path) -> Any:
    """Return the text, number, boolean or null that `node` is: here its form decides which."""
    assert isinstance(node, Scalar)
    if is_refused(node):
        return BAD
    if is_null(node):
        return None
    if node.kind == TEXT:
        return node.text
    if node.kind == INT or _INTEGER.fullmatch(node.text):
        return read_integer(reporter, Integer(least=_INT64.start), node, path)
    if node.kind == FLOAT or _NUMBER.fullmatch(node.text):
        return read_number(reporter, Number(least=float("-inf")), node, path)
    if node.kind == BOOL or node.text.lower() in ("true", "false"):
        return read_flag(reporter, Flag(), node, path)
    return node.text


def read_flag(reporter: Reporter, _kind: Flag, node: Node, path: Path) -> Any:
    """Return whether yes is written."""
    if is_refused(node):
        return BAD
    if isinstance(node, Scalar) and node.text.lower() in _FLAGS:
        if node.kind in (PLAIN, BOOL):
            return _FLAGS[node.text.lower()]
        return reporter.wrong(node, path, phrase("true or false"), UNQUOTE, node.text)
    return reporter.wrong(node, path, phrase("true or false"))


def read_remembered(reporter: Reporter, _kind: Remembered, node: Node, path: Path) -> Any:
    """Return whether yes is written, or the strategy that is."""
    if is_refused(node):
        return BAD
    if isinstance(node, Scalar) and node.text.lower() in _FLAGS:
        return read_flag(reporter, Flag(), node, path)
    if isinstance(node, Scalar) and node.kind in _WORDS and re.fullmatch(WRITTEN, node.text):
        return node.text
    hint = ""
    if isinstance(node, Scalar) and node.text.startswith(_NUMBERED):
        hint = phrase("write a number from 1 in parentheses, as in `sliding_window(20)`")
    return reporter.wrong(node, path, REMEMBERED, hint)


def read_choice(reporter: Reporter, kind: Choice, node: Node, path: Path) -> Any:
    """Return one of the words of `kind`."""
    if node.__class__ is Scalar and node.kind in _WORDS and node.text in kind.words:
        return node.text
    expected = phrase("one of {words}", words=", ".join(kind.words))
    text = text_of(reporter, node, path, expected)
    if text is BAD:
        return BAD
    meant = nearest(text, kind.words)
    hint = phrase("write `{meant}`", meant=meant) if meant else ""
    return reporter.wrong(node, path, expected, hint, certain(text, meant, kind.words))


def read_pattern(reporter: Reporter, _kind: Pattern, node: Node, path: Path) -> Any:
    """Return the text of a regular expression."""
    text = text_of(reporter, node, path, phrase("a regular expression"))
    if text is BAD:
        return BAD
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        return reporter.wrong(
            node, path, phrase("a regular expression"), phrase("repair it: {error}", error=error)
        )
    return text


def read_expression(reporter: Reporter, kind: Expression, node: Node, path: Path) -> Any:
    """Return the text of an expression over the names of `kind`."""
    text = text_of(reporter, node, path, phrase("an expression"))
    if text is BAD:
        return BAD
    try:
        parse_expression(text, kind.names)
    except ExpressionError as error:
        where = _inside(reporter, node, text, error.column)
        hint = phrase("docs/language.md lists what may be used")
        found = finding("S107", where, field=written(path), reason=error.message, hint=hint)
        reporter.findings.append(found)
        return BAD
    return text


def _inside(reporter: Reporter, node: Node, text: str, column: int) -> Span | None:
    """Return where character `column` of `text` is; all of `node` if it is written otherwise."""
    span = span_of(node, reporter.source)
    if span is None or span.line != span.end_line:
        return span
    shown = reporter.source.line(span.line)[span.column - 1 : span.end_column - 1]
    before = shown.find(text)
    if before < 0 or column > len(text):
        return span
    at = span.column + before + column - 1
    return Span(span.line, at, span.line, at + 1)


READERS: Mapping[type, Callable[..., Any]] = {
    Text: read_text,
    Integer: read_integer,
    Number: read_number,
    Flag: read_flag,
    Remembered: read_remembered,
    Choice: read_choice,
    Pattern: read_pattern,
    Expression: read_expression,
}
