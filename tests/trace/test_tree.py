"""Terms as trees: what shares a line, what is marked, how hidden variables are told apart."""

from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.trace.tree import tree


def drawn(term: Term, marked: Term | None = None, texts: dict[int, str] | None = None) -> str:
    rows = tree(term, marked, texts or {})
    return "\n".join(f"{row.lead}{'>' if row.is_marked else ''}{row.text}" for row in rows)


def test_chains_of_binders_and_of_arguments_share_a_line():
    term = Lam(Lam(App(App(Var(1, "f"), Var(0, "x")), Lit(1)), "x"), "f")
    assert drawn(term) == "λf x.\n└─ f\n   ├─ x\n   └─ 1"


def test_a_marked_part_has_a_line_of_its_own():
    inner = App(Var(1, "f"), Var(0, "x"))
    term = Lam(Lam(App(inner, Lit("a")), "x"), "f")
    assert drawn(term, inner) == 'λf x.\n└─ apply\n   ├─ >f\n   │  └─ x\n   └─ "a"'
    assert drawn(term, term.body) == 'λf.\n└─ >λx.\n   └─ f\n      ├─ x\n      └─ "a"'
    head = Var(0, "f")
    assert drawn(Lam(App(head, Lit(1)), "f"), head) == "λf.\n└─ apply\n   ├─ >f\n   └─ 1"


def test_a_function_that_is_applied_is_a_let():
    term = App(Lam(Var(0, "x"), "x"), Lit(1))
    assert drawn(term) == "let x =\n├─ 1\n└─ x"
    assert drawn(term, term.fun) == "apply\n├─ >λx.\n│  └─ x\n└─ 1"


def test_known_terms_are_shown_by_name_and_free_variables_by_what_they_are():
    known = Lam(Var(0, "x"), "x")
    term = App(App(Prim("pair"), known), App(Var(3, "free"), Var(4, "")))
    assert drawn(term, None, {id(known): "I"}) == "pair\n├─ I\n└─ free\n   └─ ^4"


def test_a_variable_behind_another_of_its_name_is_told_by_its_number():
    term = Lam(Lam(App(Var(1, "x"), Var(0, "x")), "x"), "x")
    assert drawn(term) == "λx x.\n└─ x^1\n   └─ x"


def test_a_large_or_deep_term_ends_in_a_mark():
    wide: Term = Prim("nil")
    for i in range(1000):
        wide = App(wide, Lit(i))
    rows = tree(wide, None, {})
    assert len(rows) == 401
    assert rows[-1].text == "…"
    deep: Term = Lit(0)
    for _ in range(100_000):
        deep = App(Prim("succ"), deep)
    assert len(tree(deep, None, {})) == 401
