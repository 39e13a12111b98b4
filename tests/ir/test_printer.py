import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lambdagent.desugar.passes import desugar
from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir import surface
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record, freeze
from lambdagent.ir.printer import print_term
from lambdagent.ir.sites import KINDS
from lambdagent.ir.spelling import KEYWORDS
from lambdagent.source import Source

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
DEEP = 100_000


def ap(*terms: Term, label: Label | None = None) -> Term:
    head, *args = terms
    for arg in args[:-1]:
        head = App(head, arg)
    return App(head, args[-1], label)


def p(name: str, *params: Any) -> Prim:
    return Prim(name, params)


def thunk(term: Term) -> Term:
    return Lam(term, "_")


x, y = Var(0), Var(1)


# --- a reader for what is printed ----------------------------------------------------------------

KIND = "|".join(sorted(map(re.escape, KINDS), key=len, reverse=True))
NAME = r"`[^`]*`|[^\W\d_λ](?:[^\Wλ]|')*"
TOKEN = re.compile(
    rf"""\s*(?: (?P<string>"(?:[^"\\]|\\.)*") | (?P<label>@(?:{NAME})\.(?:{NAME}))
    | (?P<site>(?:{KIND})\.(?:{NAME})) | (?P<indexed>(?:Y|guard|par|case|tag|site|json)(?=[\[{{]))
    | (?P<number>-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)|NaN) | (?P<free>\^\d+)
    | (?P<name>{NAME}|_) | (?P<sign>::|⇒|=>|[λ\\.,()⟨⟩\[\]{{}}=]) )""",
    re.VERBOSE,
)
BARE = ("pair", "fst", "snd", "nil", "cons", "succ", "catch", "pmap")
CONSTANTS = {**{name: name for name in BARE}, "cond": "if"}
STOPS = {")", "⟩", "]", "}", ",", "::", "in", "then", "else", "of", ""}


def plain(name: str) -> str:
    if not name.startswith("`"):
        return name
    quoted = name[1:-1].replace('"', '\\"')
    return json.loads(f'"{quoted}"')


class Reader:
    """Recursive descent over lambda-syntax; names are resolved on the way."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.scope = text, 0, []
        self.next()

    def next(self) -> None:
        if not self.text[self.at :].strip():
            self.kind, self.word = "end", ""
            return
        match = TOKEN.match(self.text, self.at)
        assert match, self.text[self.at :]
        self.at, self.kind = match.end(), match.lastgroup
        self.word = match[self.kind]

    def take(self, word: str | None = None) -> str:
        taken = self.word
        assert word in (None, taken), (word, taken, self.text[self.at :])
        self.next()
        return taken

    def under(self, names: list[str]) -> Term:
        self.scope += names
        body = self.term()
        del self.scope[len(self.scope) - len(names) :]
        return body

    def term(self) -> Term:
        left = self.binder() or self.apply()
        if self.word == "::":
            self.take()
            return ap(p("cons"), left, self.term())
        return left

    def binder(self) -> Term | None:
        if self.word in ("λ", "\\"):
            self.take()
            names = []
            while self.word != ".":
                names.append(plain(self.take()))
            self.take(".")
            body = self.under(names)
            for name in reversed(names):
                body = Lam(body, name)
            return body
        if self.word == "let":
            self.take()
            name = plain(self.take())
            self.take("=")
            value = self.term()
            self.take("in")
            return App(Lam(self.under([name]), name), value)
        if self.word == "if":
            self.take()
            parts = [self.term()]
            for word in ("then", "else"):
                self.take(word)
                parts.append(thunk(self.under(["_"])))
            return ap(p("if"), *parts)
        return None

    def apply(self) -> Term:
        term = self.atom()
        while self.word not in STOPS:
            binder = self.binder()
            term = App(term, binder or self.atom())
            if binder:
                break
        return term

    def items(self, end: str) -> list[Term]:
        found = []
        while self.word != end:
            found.append(self.term())
            if self.word != end:
                self.take(",")
        self.take(end)
        return found

    def atom(self) -> Term:  # noqa: C901 - one line for each kind of atom
        kind, word = self.kind, self.word
        if kind == "indexed" and not (word == "case" and self.text[self.at] != "["):
            value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            self.next()
            return self.indexed(word, value)
        self.take()
        if kind == "string":
            return Lit(json.loads(word))
        if kind == "number":
            return Lit(int(word, 16) if "0x" in word else json.loads(word))
        if kind == "free":
            return Var(int(word[1:]))
        if kind == "site":
            site, name = re.fullmatch(rf"({KIND})\.({NAME})", word).groups()
            return p("site", f"{site}:{plain(name)}")
        if kind == "label":
            where, name = re.fullmatch(rf"@({NAME})\.({NAME})", word).groups()
            marked = self.atom()
            assert type(marked) is App
            return App(marked.fun, marked.arg, Label(plain(where), plain(name)))
        if word in ("(", "⟨"):
            items = self.items({"(": ")", "⟨": "⟩"}[word])
            if not items:
                return Lit(UNIT)
            return nested("pair", items[:-1], items[-1])
        if word == "[":
            return nested("cons", self.items("]"), p("nil"))
        if word == "case":
            return self.case()
        return self.name(word)

    def indexed(self, word: str, value: Any) -> Term:
        if word == "json":
            return Lit(freeze(value))
        if word == "case":
            return p("case", tuple(value))
        if word == "tag":
            return p("tag", tuple(value[:-1]), value[-1])
        return p("fix" if word == "Y" else word, *value)

    def case(self) -> Term:
        subject = self.term()
        self.take("of")
        self.take("{")
        labels, arms = [], []
        while self.word != "}":
            label = self.take()
            labels.append("_" if label == "_" else json.loads(label))
            self.next()
            arms.append(self.term())
            if self.word != "}":
                self.take(",")
        self.take("}")
        return ap(p("case", tuple(labels)), subject, *arms)

    def name(self, word: str) -> Term:
        fixed = {"true": True, "false": False, "null": None}
        if word in fixed:
            return Lit(fixed[word])
        if word in CONSTANTS:
            return p(CONSTANTS[word])
        assert word not in KEYWORDS, word
        return Var(self.scope[::-1].index(plain(word)), plain(word))


def nested(name: str, items: list[Term], last: Term) -> Term:
    for item in reversed(items):
        last = ap(p(name), item, last)
    return last


def read(text: str) -> Term:
    reader = Reader(text)
    term = reader.term()
    assert reader.kind == "end", reader.word
    return term


# --- terms ---------------------------------------------------------------------------------------

HINTS = st.sampled_from(
    ["x", "x", "y", "x₁", "_", "", "思考", "case", "Y_20", "llm", "my agent", "λx", "a`b\\", "_x"]
)
TEXTS = st.one_of(
    st.text(max_size=6), st.sampled_from(["_", "a b", "`", "\\u0041", "数", "\u202e"])
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
).map(freeze)
LABELS = st.lists(TEXTS, min_size=1, max_size=3, unique=True).map(tuple)
PRIMS = st.one_of(
    st.sampled_from(["pair", "fst", "snd", "nil", "cons", "if", "pmap", "catch", "succ"]).map(p),
    st.builds(p, st.sampled_from(["fix", "guard"]), st.integers(0, 9)),
    st.integers(1, 3).map(lambda n: p("par", n)),
    LABELS.map(lambda labels: p("case", labels)),
    LABELS.map(lambda labels: p("tag", labels, len(labels) - 1)),
    st.builds(lambda kind, text: p("site", f"{kind}:{text}"), st.sampled_from([*KINDS]), TEXTS),
    TEXTS.map(lambda text: p("site", text)),
)
LEAVES = st.one_of(
    st.integers(0, 4).map(Var),
    DATA.map(Lit),
    st.just(Lit(UNIT)),
    PRIMS,
    st.builds(Var, st.just(0)),
)


def forms(inner: Any) -> Any:
    label = st.none() | st.builds(Label, TEXTS, TEXTS)
    branch = st.builds(lambda body: Lam(body, "_"), inner)
    return st.one_of(
        st.builds(Lam, inner, HINTS),
        st.builds(Lam, inner, HINTS),
        st.builds(App, inner, inner, label),
        st.builds(App, inner, inner),
        st.builds(lambda body, hint, value: App(Lam(body, hint), value), inner, HINTS, inner),
        st.builds(lambda a, b, t: ap(p("pair"), a, b, label=t), inner, inner, label),
        st.builds(lambda a, b: ap(p("cons"), a, b), inner, inner | st.just(p("nil"))),
        st.builds(lambda a, b, c: ap(p("if"), a, b, c), inner, branch, branch),
        st.builds(lambda a, b, c: ap(p("case", ("l", "_")), a, b, c), inner, inner, inner),
    )


TERMS = st.recursive(LEAVES, forms, max_leaves=25)


@pytest.mark.parametrize("style", [{}, {"ascii": True}, {"de_bruijn": True}])
@given(term=TERMS)
@example(Lam(Lam(App(Lam(App(y, x), "x"), y), "x"), "x"))
def test_what_is_printed_reads_back_equal_and_prints_the_same(style: dict[str, bool], term: Term):
    text = print_term(term, **style)
    again = read(text)
    assert alpha_equal(again, term), text
    assert print_term(again, **style) == text
    assert "\n" not in text
    assert text.isascii() or not style.get("ascii")


@given(TERMS, st.integers(0, 40))
def test_a_limit_cuts_the_same_text(term: Term, limit: int):
    whole, text = print_term(term), print_term(term, limit=limit)
    if len(whole) <= limit:
        assert text == whole
    else:
        assert text == (whole[: limit - 1] + "…" if limit else "")


SAMPLES = [
    (Lam(Lam(App(y, x), "y")), "λx y. x y"),
    (Lam(Lam(Lam(ap(Var(2), y, x)))), "λx x₁ x₂. x x₁ x₂"),
    (Lam(Lam(ap(y, Lam(ap(Var(2), x)), x), "f"), "g"), "λg f. g (λx. g x) f"),
    (Lam(App(Lam(App(x, y)), x)), "λx. let x₁ = x in x₁ x"),
    (Lam(ap(x, Lam(x), Lam(x))), "λx. x (λx. x) λx. x"),
    (Lam(Lit(1), "_"), "λ_. 1"),
    (Lam(x, "_"), "λx. x"),
    (Lam(x, "case"), "λ`case`. `case`"),
    (Lam(x, "我的 agent"), "λ`我的 agent`. `我的 agent`"),
    (Lam(Var(3)), "λx. ^3"),
    (Var(-1), "^-1"),
    (ap(p("pair"), Lit(1), ap(p("pair"), Lit("two"), Lit(None))), '⟨1, "two", null⟩'),
    (ap(p("pair"), ap(p("pair"), Lit(1), Lit(2)), Lit(3)), "⟨⟨1, 2⟩, 3⟩"),
    (ap(p("cons"), Lit(1), ap(p("cons"), Lit(2.0), p("nil"))), "[1, 2.0]"),
    (ap(p("cons"), Lit(1), ap(p("cons"), Lit(2), Lit(3))), "1 :: 2 :: 3"),
    (Lit((1, Record(a=()))), 'json[1, {"a": []}]'),
    (Lit(Record()), "json{}"),
    (ap(p("fst"), ap(p("pair"), Lit(1), Lit(2))), "fst ⟨1, 2⟩"),
    (ap(p("if"), Lit(True), thunk(Lit(1)), thunk(Lit(2))), "if true then 1 else 2"),
    (ap(p("if"), Lit(True), Lam(x), thunk(Lit(2))), "cond true (λx. x) λ_. 2"),
    (
        ap(p("if"), Lit(True), thunk(Lam(Var(1))), thunk(Lam(Var(0)))),
        "cond true (λx x₁. x) λ_ x. x",
    ),
    (
        ap(p("if"), Lit(True), thunk(p("fst")), thunk(p("snd")), Lit(3)),
        "(if true then fst else snd) 3",
    ),
    (ap(p("case", ("a", "_")), Lit(1), Lam(x), p("fst")), 'case 1 of {"a" ⇒ λx. x, _ ⇒ fst}'),
    (ap(p("case", ("a",)), Lit(1), Lam(x), Lit(2)), '(case 1 of {"a" ⇒ λx. x}) 2'),
    (ap(p("case", ("a", "b")), Lit(1)), 'case["a", "b"] 1'),
    (ap(p("tag", ("a", "b"), 1), Lit(UNIT)), 'tag["a", "b", 1] ()'),
    (ap(p("fix", 20), Lam(x), p("fst")), "Y[20] (λx. x) fst"),
    (ap(p("guard", 2), p("fst"), p("snd")), "guard[2] fst snd"),
    (ap(p("par", 1), thunk(Lit(1))), "par[1] λ_. 1"),
    (ap(p("site", "conv.read:writer"), Lit(UNIT)), "conv.read.writer ()"),
    (p("site", "tool:search#2"), "tool.`search#2`"),
    (p("site", "llm:a`b\\c\n"), "llm.`a\\u0060b\\\\c\\u000a`"),
    (p("site", "odd"), 'site["odd"]'),
    (ap(p("fst"), Lit(1), label=Label("llm", "think")), "@llm.think (fst 1)"),
    (ap(p("pair"), Lit(1), Lit(2), label=Label("a", "b c")), "@a.`b c` ⟨1, 2⟩"),
    (ap(ap(p("pair"), Lit(1), label=Label("a", "b")), Lit(2)), "@a.b (pair 1) 2"),
    (Lit(-0.0), "-0.0"),
    (Lit(float("inf")), "Infinity"),
    (Lit("\u202e\ud800\x7f"), '"\\u202e\\ud800\\u007f"'),
    (p("fix", -1), "Y[-1]"),
    (ap(p("weird", 1, "a"), Lit(2)), 'weird[1, "a"] 2'),
]


@pytest.mark.parametrize(("term", "text"), SAMPLES, ids=[text for _, text in SAMPLES])
def test_a_term_prints_as(term: Term, text: str):
    assert print_term(term) == text


def test_ascii_spells_everything_with_ascii():
    term = Lam(Lam(ap(p("pair"), x, ap(p("site", "llm:写手"), y)), "思"), "x₁")
    assert print_term(term, ascii=True) == "\\x_1 x. (x, llm.`\\u5199\\u624b` x_1)"


def test_de_bruijn_hides_no_binder():
    term = Lam(ap(p("if"), x, thunk(y), thunk(Lit(1))))
    assert print_term(term, de_bruijn=True) == "λ_. cond ^0 (λ_. ^1) λ_. 1"


def test_labels_can_be_left_out():
    term = ap(p("pair"), Lit(1), Lit(2), label=Label("a", "b"))
    assert print_term(term, labels=False) == "⟨1, 2⟩"


def test_a_number_of_10000_digits_prints():
    assert print_term(Lit(10**10_000)) == hex(10**10_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrap",
    [
        Lam,
        lambda t: App(t, Lit(1)),
        lambda t: App(p("succ"), t),
        lambda t: ap(p("pair"), Lit(1), t),
        lambda t: ap(p("pair"), t, Lit(1)),
        lambda t: ap(p("cons"), Lit(1), t),
        lambda t: ap(p("cons"), t, p("nil")),
        lambda t: App(Lam(t), Lit(1)),
        lambda t: App(Lam(x), t),
        lambda t: ap(p("if"), Lit(True), thunk(t), thunk(Lit(1))),
        lambda t: ap(p("case", ("l",)), t, Lam(x)),
        lambda t: ap(p("fst"), t, label=Label("a", "b")),
    ],
)
def test_a_term_100000_levels_deep_prints(wrap: Any):
    term: Term = Var(DEEP - 1)
    for _ in range(DEEP):
        term = wrap(term)
    assert len(print_term(term)) > DEEP
    assert len(print_term(term, limit=80)) == 80


@pytest.mark.parametrize("wrap", ["pair", "cons", "succ"])
def test_a_term_that_shares_its_halves_prints_up_to_a_limit(wrap: str):
    term: Term = Lit(1)
    for _ in range(200):
        term = ap(p(wrap), term, term)
    assert len(print_term(term, limit=500)) == 500


def test_lowered_agents_print(golden: Any):
    lam = surface.Lam("writer", "Write.")
    think = surface.ConversationLam("helper.think", "Help.")
    tools = [surface.Tool("search"), surface.Tool("terminate")]
    react = surface.Loop(surface.ReActStep("helper", think=think, tools=tools), max_steps=3)
    agents = {
        "simple": lam,
        "react": surface.Memory(react),
        "chain": lam >> surface.Guard(lam, "len(x) > 50", 2) >> lam,
        "router": surface.Route(lam, {"code": lam, "math": lam >> lam}, lam),
        "parallel": (lam | lam) >> surface.Concat(),
        "if": surface.If("len(x) > 3", lam),
        "loop": surface.Loop(lam, "step > 2", 4, on_exhausted="error"),
    }
    parts = []
    for name, agent in agents.items():
        term = desugar(agent, parse_expression).term
        text = print_term(term)
        assert alpha_equal(read(text), term)
        parts.append(f"{name}\n{text}\n{print_term(term, ascii=True)}\n")
    golden(GOLDEN / "printer.txt", "\n".join(parts))


LINES = [
    ('λa b. a ⊕ b ⊕ "c"', 'λa b. a ⊕ b ⊕ "c"'),
    ("λa b. a ⊕ (b ⊕ a) :: nil", "λa b. [a ⊕ (b ⊕ a)]"),
    ("λa f. (f a ⊕ λx. x) :: a", "λa f. f a ⊕ (λx. x) :: a"),
    ("λx. let y = x in y", "λx.\n  let y = x in\n  y"),
    ("λx. if x then 1 else 2", "λx. if x then 1 else 2"),
    ("λf. f (let y = f in y) f", "λf. f\n  (let y = f in\n    y)\n  f"),
    (
        f'λx. if x then "{"a" * 60}" else "{"b" * 60}"',
        f'λx.\n  if x\n    then "{"a" * 60}"\n    else "{"b" * 60}"',
    ),
    ("Y[3] (λself x. self x) (λx. x)", "Y₃ (λself x. self x) λx. x"),
]


@pytest.mark.parametrize(("text", "lines"), LINES, ids=[text[:40] for text, _ in LINES])
def test_lines_break_where_people_break_them(text: str, lines: str):
    assert print_term(parse_lambda(Source("t", text)).term, lines=True) == lines
