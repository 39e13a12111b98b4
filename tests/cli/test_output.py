"""Where commands write, and what never gets there."""

import io
import json
import math
import sys
import unicodedata

import pytest
from hypothesis import given

from lambdagent.cli.output import Output, ReaderGoneError, json_text
from lambdagent.errors import UsageError
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.printer import View, print_marked, print_term
from lambdagent.source import Source, Span
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.text import render_record
from tests.laws.terms import STR, functions


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    """A stream that cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _text: str) -> int:
        raise self.error


HOSTILE = "a\x1b[31mred\x1b]0;title\x07\r\x08\x9bb\tc\nd\x00"


def test_control_characters_do_not_reach_a_terminal():
    out, err = Terminal(), Terminal()
    output = Output(out, err)
    output.answer(HOSTILE)
    output.error(HOSTILE)
    expected = "a�[31mred�]0;title����b\tc\nd�\n"
    assert out.getvalue() == err.getvalue() == expected


def test_a_pipe_gets_the_answer_as_it_is():
    out = io.StringIO()
    Output(out, io.StringIO()).answer(HOSTILE)
    assert out.getvalue() == f"{HOSTILE}\n"


def test_what_is_marked_is_bold_on_a_terminal_and_in_marks_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "")
    for out, expected in (
        (Terminal(), "a � \x1b[1;4mb �\x1b[0m c �\n"),
        (io.StringIO(), "a \x1b ‹b \x1b› c \x1b\n"),
    ):
        Output(out, io.StringIO()).marked("a \x1b ", "b \x1b", " c \x1b")
        assert out.getvalue() == expected


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("NO_COLOR", "1")])
def test_a_plain_terminal_gets_marks(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    out = Terminal()
    Output(out, io.StringIO()).marked("a ", "b", " c")
    assert out.getvalue() == "a ‹b› c\n"


def test_half_a_surrogate_pair_is_replaced():
    out = io.StringIO()
    Output(out, io.StringIO()).answer("a\ud800b")
    assert out.getvalue() == "a?b\n"


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("ascii", "λx₁ y₁₂. ⟨x₁, …⟩ ⇒ 你", r"\x_1 y_12. (x_1, ...) => ?"),
        ("latin-1", "λx. é → ∞ «β»", "\\x. é -> inf «beta»"),
        ("utf-8", "λx₁. ⟨你⟩", "λx₁. ⟨你⟩"),
    ],
)
def test_what_the_stream_cannot_encode_is_spelled_in_ascii(
    encoding: str, text: str, expected: str
):
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding=encoding), io.StringIO())
    output.answer(text)
    assert raw.getvalue() == f"{expected}\n".encode(encoding)


@given(functions(STR, STR))
def test_a_term_is_spelled_as_the_printer_does_in_ascii(term: Term):
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding="ascii"), io.StringIO())
    output.answer(print_term(term))
    assert raw.getvalue().decode() == print_term(term, ascii=True) + "\n"


def test_quiet_silences_notes_but_no_errors():
    err = io.StringIO()
    output = Output(io.StringIO(), err)
    output.quiet = True
    output.note("note")
    output.error("error")
    assert err.getvalue() == "error\n"


def test_a_reader_that_has_left_ends_the_command():
    with pytest.raises(ReaderGoneError):
        Output(Broken(BrokenPipeError()), io.StringIO()).answer("x")


def test_a_full_disk_is_told():
    full = OSError(28, "No space left on device")
    with pytest.raises(UsageError, match=r"`standard output` cannot be written: No space left"):
        Output(Broken(full), io.StringIO()).answer("x")


class Sips(io.RawIOBase):
    """An unbuffered file that takes seven bytes of each write, and in the end no more."""

    def __init__(self, most: int) -> None:
        self.taken, self.most = b"", most

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview) -> int:
        if len(self.taken) >= self.most:
            raise BrokenPipeError
        self.taken += bytes(data[:7])
        return len(data[:7])


def test_unbuffered_output_is_whole_or_an_error():
    """Python writes once and drops the rest where PYTHONUNBUFFERED is set."""
    sips = Sips(most=100)
    unbuffered = io.TextIOWrapper(sips, "utf-8", write_through=True)
    Output(unbuffered).answer("λx. x" * 10)
    assert sips.taken.decode() == "λx. x" * 10 + "\n"
    with pytest.raises(ReaderGoneError):
        Output(unbuffered).answer("more" * 30)


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "No space left on device")])
def test_errors_that_nobody_can_be_told_are_dropped(error: OSError):
    Output(io.StringIO(), Broken(error)).error("x")


def test_json_has_no_numbers_that_json_does_not_have():
    huge = -(1 << 20_000)
    value = {"a": [math.nan, (math.inf, -math.inf)], "b": 1.5, "c": [None, huge], "β": True}
    texts = {"a": ["NaN", ["Infinity", "-Infinity"]], "c": [None, hex(huge)]}
    expected = {**value, **texts}
    text = json_text(value)
    assert json.loads(text) == expected
    assert "β" in text


# --- hidden characters ---------------------------------------------------------------------------

# Format characters that people see: signs of Arabic, Syriac and Kaithi before numbers.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
CHARACTERS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in CATEGORIES and code not in SEEN
] + [*"\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0\ufe00\U000e0100"]
ALL = "".join(each for each in CHARACTERS if each not in "\n\t")
# Those that λ texts and files hold as they are.
HELD = "".join(each for each in ALL if each != "\r" and not 0xD800 <= ord(each) < 0xE000)


def is_clean(text: str) -> bool:
    return not {*text} & {*ALL}


def test_no_hidden_character_reaches_a_terminal_or_standard_error():
    out, err, pipe = Terminal(), Terminal(), io.StringIO()
    Output(out, err).answer(ALL)
    Output(out, err).marked(ALL, ALL, ALL)
    Output(out, err).error(ALL)
    Output(pipe, pipe).error(ALL)
    for stream in (err, pipe):
        assert is_clean(stream.getvalue())
    assert is_clean(out.getvalue().replace("\x1b[1;4m", "").replace("\x1b[0m", ""))


def test_what_people_read_is_left_alone():
    text = "λx. 你好 é e\u0301 👍\ufe0f שלום عربي\n\t\xa0½"
    out = Terminal()
    Output(out, out).answer(text)
    assert out.getvalue() == f"{text}\n"


def test_an_excerpt_shows_where_a_hidden_character_stands():
    line = f"{HELD}x"
    excerpt = Source("t", line).excerpt(Span(1, len(HELD) + 1, 1, len(HELD) + 2))
    assert is_clean(excerpt)
    shown, carets = excerpt.split("\n")
    assert shown[carets.index("^")] == "x"


def test_a_trace_is_clean():
    for kind in ("llm", "tool", "route", "confirm", "terminate"):
        record = TraceRecord(0, kind, ALL, ALL[:40], ALL[40:90], notes=(ALL, "a"))
        assert is_clean(render_record(record).replace("\n", ""))


@pytest.mark.parametrize("character", HELD)
def test_a_text_with_a_hidden_character_is_printed_clean_and_reads_back(character):
    name = f"a{character}b"
    term = Lam(App(App(Lit(name), Prim("site", (f"llm:{name}",))), Var(0, name)), name)
    for options in ({}, {"ascii": True}, {"lines": True}):
        text = print_term(term, **options)
        assert is_clean(text)
        again = parse_lambda(Source("t", text)).term
        assert again is not None
        assert alpha_equal(again, term)
    assert is_clean("".join(print_marked(term, View())))
