"""λ text → term: forms, names, sites, depth, and the text of every syntax error."""

import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import Lam, Lit, Term, Var
from lambdagent.ir.printer import print_term
from lambdagent.ir.sites import KINDS
from lambdagent.ir.spelling import KEYWORDS
from lambdagent.machine.link import link
from lambdagent.source import Source

DEEP = 100_000
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "lambda-errors.txt"


def read(text: str) -> Term:
    term = parse_lambda(Source("t.lam", text)).term
    assert term is not None
    return term


# What is read, and how the same term is printed.
FORMS = [
    ("λx. x", "λx. x"),
    ("\\x y -> x", "λx y. x"),
    ("lambda x → x", "λx. x"),
    ("λx.x", "λx. x"),
    ("λ问题 x'. 问题 x'", "λ问题 x'. 问题 x'"),
    ("λ`my agent` `case`. `case` `my agent`", "λ`my agent` `case`. `case` `my agent`"),
    ("λf x. f x λy. y", "λf x. f x λy. y"),
    ("λf. f λx. x :: f", "λf. f λx. x :: f"),
    ("λf g. f >> g", "λf g x. g (f x)"),
    ("fst >> snd >> λx. x", "λx. let x₁ = snd (fst x) in x₁"),
    ("λx. (fst >> λ_. x)", "λx x₁. let _ = fst x₁ in x"),
    ("1 :: 2 :: nil", "[1, 2]"),
    ('"a" ⊕ "b" ++ "c"', 'concat.join ⟨concat.join ⟨"a", "b"⟩, "c"⟩'),
    ("let x = 1 in λ_. x", "let x = 1 in λ_. x"),
    ("λc. IF c THEN 1 ELSE 2", "λc. if c then 1 else 2"),
    ("if true then λx. x else fst 1", "if true then λx. x else fst 1"),
    ('CASE 1 OF {a => fst | "b c" ⇒ snd, _ => λx. x,}', None),
    ("case (1) of {if ⇒ fst}", 'case 1 of {"if" ⇒ fst}'),
    ("⟨1, 2, 3⟩", "⟨1, 2, 3⟩"),
    ("((1, 2), ())", "⟨⟨1, 2⟩, ()⟩"),
    ("[]", "nil"),
    ("Y_20 Y₃ Y[4]", "Y[20] Y[3] Y[4]"),
    ("guard[0] par[2] pmap", "guard[0] par[2] pmap"),
    ('case["a"] tag["a", "b", 1] site["odd"]', None),
    ("cond catch pair cons succ", "cond catch pair cons succ"),
    ("church[2]", "λf x. f (f x)"),
    ("church[0]", "λf x. x"),
    ("llm.think tool.`a#b` conv.read.x", "llm.think tool.`a#b` conv.read.x"),
    ("λx.llm.think x", "λx. llm.think x"),
    ("@llm.think (fst 1)", "@llm.think (fst 1)"),
    ("@`a.b`.`c` (fst 1)", "@`a.b`.c (fst 1)"),
    ("@step (fst 1)", "@mark.step (fst 1)"),
    ("@`a.b` (fst 1)", "@mark.`a.b` (fst 1)"),
    ("-2 0x1F 1.5e3 NaN Infinity -Infinity null", "-2 31 1500.0 NaN Infinity -Infinity null"),
    ('"a\\n\\u00e9"', '"a\\né"'),
    ('json[1, {"a": null, b: []}]', 'json[1, {"a": null, "b": []}]'),
    ("λ_. ^0", "λx. x"),
    ("λx. if x then ^1 else ^0", None),
    ("1 # comment λ (\n -- another", "1"),
    ("\ufeff1", "1"),
    ("a = 1; b = ⟨a, a⟩; b", "⟨1, 1⟩"),
    ("λx. (λ`x₁`. x x₁) x", "λx. let x₁ = x in x x₁"),
]


@pytest.mark.parametrize(("text", "printed"), FORMS, ids=[text for text, _ in FORMS])
def test_a_text_reads_as(text: str, printed: str | None):
    again = print_term(read(text))
    assert again == (printed or again)
    assert alpha_equal(read(again), read(text))


def test_definitions_share_their_terms_and_keep_their_names():
    file = parse_lambda(Source("t", "two = church[2]; id = λx. x; two id"))
    assert [*file.definitions] == ["two", "id"]
    assert file.term.fun is file.definitions["two"]
    assert file.term.arg is file.definitions["id"]


def test_a_file_may_hold_definitions_alone():
    file = parse_lambda(Source("t", "k = λx y. x; s = k k"))
    assert file.term is None
    assert print_term(file.definitions["s"]) == "let x = λx y. x in λy. x"


def test_names_may_be_known_from_elsewhere():
    known = {"one": Lit(1), "two": Lit(2)}
    file = parse_lambda(Source("t", "two = 3; ⟨one, two⟩"), known)
    assert print_term(file.term) == "⟨1, 3⟩"


def test_inline_sites_get_names():
    text = 'llm{prompt: "a"} >> llm{agent: "w"} >> llm{agent: "w"} >> tool {name: "wc"}'
    file = parse_lambda(Source("t", text))
    assert [*file.rows] == ["llm:inline", "llm:w", "llm:w#2", "tool:wc"]
    assert print_term(file.term) == "λx. tool.wc (llm.`w#2` (llm.w (llm.inline x)))"


def test_free_indices_are_noted():
    assert parse_lambda(Source("t", "λx. ^1")).free is not None
    assert parse_lambda(Source("t", "λx y. ^1")).free is None
    assert alpha_equal(read("λx. ^3"), Lam(Var(3)))


def test_the_grammar_knows_the_kinds_of_sites():
    text = (resources.files("lambdagent.frontend") / "lambda.lark").read_text(encoding="utf-8")
    for terminal in ("SITE.3", "KIND.3"):
        (line,) = (line for line in text.splitlines() if line.startswith(f"{terminal}:"))
        found = re.search(r"\(\?:([a-z\\.|]+)\)", line)[1].replace("\\", "").split("|")
        assert found == [*KINDS]


def test_no_word_of_the_language_is_a_variable():
    for word in KEYWORDS:
        with pytest.raises(LambdaSyntaxError):
            read(f"λ{word}. {word}")
        assert alpha_equal(read(f"λ`{word}`. `{word}`"), Lam(Var(0)))


# --- errors --------------------------------------------------------------------------------------

WRONG = [
    *("λx x", "λx (x)", "λ", "(λx. x", "λx. x)", "(λx. x]", "1 }", "[1, (2", "x -> x"),
    *("fun x -> x", "def f = 1", "x. x", "lambda x: x", "λx. x - 3", "λx. x + 1", "λx. x == 1"),
    *("'a'", "“a”", '"abc', "`abc", '"\\q"', "λ`\\q`. 1", "λx. x ⊕", "1x", "\0", "^x", "@ 1"),
    *("let x = 1; x", "if true then 1", "letrec f = λx. f x in f", "λx. let rec f = 1 in f"),
    *("f = λx. f x; f", "a = b; b = 1; a", "a = 1; a = 2; a", "a = 1 b = 2", "λxs. sx", "x"),
    *("λ_. _", "Y (λx. x)", "par 1", "fail 3", "λnext. next", "llm 1", "in = 3;", "λx. fun x"),
    *("case 1 of {a 1}", "case 1 of {a ⇒ 1, a ⇒ 2}", "case 1 {a ⇒ 1}", "case 1 of {}"),
    *(
        "λλ. x",
        "λx λ. x",
        "lambda 1",
        "Y[-1]",
        "Y[true]",
        'case["a", "a"]',
        'tag["a", 1]',
        "par[0]",
        "pmap[0]",
        "church[-1]",
    ),
    *("church[1000000]", "@a.b 3", "@a.b @c.d (fst 1)", "^" + "9" * 5000, "json{a: 1, a: 2}"),
    *("memory.recent ()", "1 where", "1 where {", "1 where {llm.x = 3}", "1 where {x = {}}"),
    *("1 where {llm.x = {a: }}", "1 where {now.x = {}, now.x = {}}", "json{a 1}", "⟨1⟩"),
    *("True", "λx. match x", "1 2 ; 3", "a = 1; = 2", "(((\n((", "λx.\nx +\n1"),
]


def fault(text: str) -> LambdaSyntaxError:
    with pytest.raises(LambdaSyntaxError) as caught:
        parse_lambda(Source("t.lam", text))
    return caught.value


def test_syntax_errors_say_what_was_expected_and_what_was_meant(golden: Any):
    golden(GOLDEN, "\n\n".join(str(fault(text)) for text in WRONG) + "\n")


def test_syntax_errors_say_the_same_in_chinese(golden: Any, chinese: None):
    golden(GOLDEN.with_suffix(".zh.txt"), "\n\n".join(str(fault(text)) for text in WRONG) + "\n")


def test_all_undefined_names_are_told_in_order_and_once():
    error = fault("λx. a (x b) a\n(c)")
    assert [(each.code, each.where.line, each.where.column) for each in error.diagnostics] == [
        ("P023", 1, 5),
        ("P023", 1, 10),
        ("P023", 2, 2),
    ]


def test_a_syntax_error_has_exit_code_2():
    assert fault("(").exit_code == 2


WORDS_OF_THE_LANGUAGE = r"""
    λ x y . ( ) ⟨ ⟩ [ ] { } , case of if then else let in = ; :: >> ⊕ ++ ⇒ => | 1 -2 0x1f
    "a" " \ ` `a` @a @a.b llm.x llm{ tool{ predicate{ label{ where _ ^0 ^9 Y[ Y_2 Y₂ church[ tag[
    case[ json[ json{ site[ true null NaN - -- # static: text: model: labels: timeout: kind:
    "len(x)" fail. fail.x Y ' ٣ ½ λx. 1e999 : conv.read.a mem.read.b par[ decoder:
"""
WORDS = st.sampled_from(
    [*WORDS_OF_THE_LANGUAGE.split(), "\0", "\ud800", "\r", "\n", " ", "9" * 5000]
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(WORDS, max_size=25).map(" ".join),
    st.lists(WORDS, max_size=25).map("".join),
)


@given(TEXTS)
def test_any_text_is_a_program_or_a_syntax_error(text: str):
    try:
        program = lambda_program(parse_lambda(Source("t", text)))
    except LambdaSyntaxError:
        return
    link(program)


# --- depth ---------------------------------------------------------------------------------------


def test_20000_nested_parentheses_read():
    assert read("(" * 20_000 + "1" + ")" * 20_000).value == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "middle", "after"),
    [
        ("λx. ", "x", ""),
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("(snd >> ", "fst", ")"),
        ("1 :: ", "nil", ""),
        ("let x = 1 in ", "x", ""),
        ("if true then 1 else ", "x", ""),
        ("@a.b (fst ", "1", ")"),
        ('case 1 of {"a" ⇒ ', "1", "}"),
    ],
)
def test_100000_levels_read(before: str, middle: str, after: str):
    text = before * DEEP + middle + after * DEEP
    assert read(f"λx. {text}" if middle == "x" else text)


@pytest.mark.slow
def test_data_of_100000_levels_reads():
    assert print_term(read("json" + "[" * DEEP + "]" * DEEP)).startswith("json[[[")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["(" * DEEP, "λx." * DEEP + ")", "[" * DEEP + "}"])
def test_errors_in_deep_texts_are_told(text: str):
    assert fault(text).diagnostic.code in {"P004", "P005", "P006"}
