"""Findings: their texts, how they are shown, which exception carries them."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent import errors
from lambdagent.errors import (
    CompileError,
    ConfigError,
    Diagnostic,
    LambdagentError,
    NoSuchFileError,
    SchemaError,
    SemanticError,
    compile_error,
    finding,
    plain,
    render,
    shown,
)
from lambdagent.ir.data import Record
from lambdagent.messages.english import MESSAGES
from lambdagent.source import Source, Span

SOURCE = Source("agent.yml", "a: 1\nlocalTools: [search]\n")


class Anything(dict[str, str]):
    """Fills in whatever a text asks for."""

    def __missing__(self, key: str) -> str:
        return key


@pytest.mark.parametrize("code", MESSAGES)
def test_each_text_is_in_the_form_of_the_style_guide(code: str):
    text = MESSAGES[code]
    assert re.fullmatch(r"[A-Z]\d{3}", code)
    for part in (text.what, text.why, text.fix):
        filled = part.format_map(Anything())
        assert "\n" not in filled
        assert not filled.endswith(".") or filled.endswith("…")
    assert text.what
    assert not re.match(r"(?!CASE|Y)[A-Z]", text.what.format_map(Anything()))


@pytest.mark.parametrize("code", MESSAGES)
def test_a_finding_fills_in_every_name_of_its_text(code: str):
    text = MESSAGES[code]
    names = {
        name
        for part in (text.what, text.why, text.fix)
        for _, name, _, _ in Formatter().parse(part)
        if name
    }
    plain = {name for name in names if name.isidentifier()}
    found = finding(code, **dict.fromkeys(plain, "VALUE"))
    assert found.code == code
    assert "{" not in re.sub(r"\$\{|model: \{|memory: \{|tools=\{", "", found.what + found.why)


def test_a_finding_without_a_word_of_its_text_cannot_be_made():
    with pytest.raises(KeyError):
        finding("S103", field="f", expected="e")


def test_a_finding_keeps_field_expected_and_actual():
    found = finding("S103", field="react.maxSteps", expected="a whole number", actual=[1])
    assert found.what == "`react.maxSteps` must be a whole number, got [1]"
    assert (found.field, found.expected, found.actual) == ("react.maxSteps", "a whole number", [1])


def test_values_are_cut_at_80_characters():
    assert shown("x" * 80) == "x" * 80
    assert shown("x" * 81) == "x" * 79 + "…"
    assert shown(["a"]) == '["a"]'
    found = finding("S103", field="f", expected="e", actual="x" * 500)
    assert len(found.what) < 120


def test_braces_in_values_are_left_alone():
    assert "{0} {x}" in finding("S103", field="f", expected="e", actual="{0} {x}").what


def test_a_finding_is_shown_with_place_excerpt_why_and_fix():
    where = Span(2, 13, 2, 21)
    found = Diagnostic("L004", "no `terminate`", where, "Y never returns", "add it")
    assert render(found, SOURCE) == (
        "agent.yml:2:13: error[L004]: no `terminate`\n"
        "2 | localTools: [search]\n"
        "  |             ^^^^^^^^\n"
        "why: Y never returns\n"
        "fix: add it"
    )


def test_what_is_not_known_is_not_shown():
    found = Diagnostic("R001", "it failed")
    assert render(found) == "error[R001]: it failed"
    assert render(found, SOURCE) == "agent.yml: error[R001]: it failed"
    placed = Diagnostic("R001", "it failed", Span(1, 2, 1, 3))
    assert render(placed) == "1:2: error[R001]: it failed"


def test_an_error_shows_all_its_findings_in_order():
    found = [Diagnostic("S101", "one"), Diagnostic("S102", "two")]
    error = LambdagentError(found)
    assert str(error) == "error[S101]: one\nerror[S102]: two"
    assert error.diagnostics == tuple(found)
    assert error.diagnostic is found[0]
    assert LambdagentError(found[0]).diagnostics == (found[0],)


@pytest.mark.parametrize(
    ("code", "kind", "exit_code"),
    [
        ("S012", NoSuchFileError, 4),
        ("S001", ConfigError, 2),
        ("S101", SchemaError, 2),
        ("L003", SemanticError, 2),
        ("S202", SemanticError, 2),
    ],
)
def test_the_first_finding_decides_the_class(code: str, kind: type[CompileError], exit_code: int):
    error = compile_error([Diagnostic(code, "first"), Diagnostic("S101", "second")], SOURCE)
    assert type(error) is kind
    assert error.exit_code == exit_code
    assert error.source is SOURCE


def test_schema_and_semantic_errors_tell_what_the_specification_names():
    found = finding("S103", field="a.b", expected="a text", actual=7)
    error = SchemaError(found)
    assert (error.field, error.expected, error.actual) == ("a.b", "a text", 7)
    assert SemanticError(Diagnostic("L005", "empty")).rule == "L005"


def test_the_tree_in_the_docstring_is_the_tree():
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, LambdagentError)
    }
    drawn = re.findall(r"(\w+Error)\b", (errors.__doc__ or "").split("Every error")[0])
    assert sorted(drawn) == sorted(classes)
    parents: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ((?:[│├└─ ] ?)*)(\w+Error)\b(?:\s+exit (\d+))?", line)
        if match is None:
            continue
        depth = len(match[1]) // 4
        parents[depth:] = [match[2]]
        if depth:
            assert classes[match[2]].__base__ is classes[parents[depth - 1]]
        if match[3]:
            assert classes[match[2]].exit_code == int(match[3])


# --- no message speaks Python --------------------------------------------------------------------

PACKAGE = Path(errors.__file__).parent
PYTHON = re.compile(
    r"\('|,\)|'\]|\['|\{'|Record\(|\bNone\b|\bTrue\b|\bFalse\b| at 0x[0-9a-f]{6}"
    r"|<(?:class|function|built-in)"
)
# What writes code or bytes, and what people see only in a debugger.
WRITERS = {
    *("ir/python_source.py", "machine/direct.py", "machine/request_digest.py", "ir/codec.py"),
    *(
        "ir/alpha.py",
        "frontend/python_tree.py",
        "ir/model.py",
        "ir/surface.py",
        "ir/data.py",
        "source.py",
    ),
    "__init__.py",
    "ir/alpha.py",
    "frontend/python_tree.py",
    "ir/surface.py",
    "ir/data.py",
    "source.py",
}
VALUES = (
    *(("a",), ("a", None), (), Record(), Record(a=(True, None)), [1, "x"], {"k": ("v",)}),
    *(None, True, 1.5, 10**5_000, {1}, len, object(), Record, b"x", float("nan")),
)


class Filled(dict[str, object]):
    """Fills in one value whatever a text asks for."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value

    def __missing__(self, key: str) -> object:
        return self.value


def fields(code: str) -> set[str]:
    text = MESSAGES[code]
    parts = (text.what, text.why, text.fix)
    return {name for part in parts for _, name, _, _ in Formatter().parse(part) if name}


@pytest.mark.parametrize("code", MESSAGES)
def test_no_finding_shows_a_value_as_python_does(code: str):
    bare = PYTHON.findall(render(finding(code, **dict.fromkeys(fields(code), "x"))))
    for value in VALUES:
        text = render(finding(code, **dict.fromkeys(fields(code), value)))
        assert PYTHON.findall(text) == bare, text


# By number, since hypothesis shows its strategies in decimal.
@given(
    st.recursive(
        st.integers(0, len(VALUES) - 1).map(lambda number: VALUES[number]),
        lambda inner: st.lists(inner).map(tuple),
    )
)
def test_plain_words_are_no_python(value):
    assert not PYTHON.search(plain(value))


def test_no_message_is_made_with_the_words_of_python():
    for path in PACKAGE.rglob("*.py"):
        if str(path.relative_to(PACKAGE)) in WRITERS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            shows = isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
            calls = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "repr"
            assert (shows, calls) == (False, False), f"{path}:{node.lineno}"
    assert not any("!r" in part for text in MESSAGES.values() for part in text)
