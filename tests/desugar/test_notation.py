from lambdagent.desugar.notation import (
    UNIT_DRAFT,
    Draft,
    app,
    close,
    closed,
    if_,
    lam,
    let,
    lit,
    pair,
    prim,
    template,
    thunk,
)
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.codec import encode_term
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.walk import nodes


def test_variables_count_the_binders_between():
    term = close(lam("x", lambda x: lam("y", lambda y: app(app(x, y), lam("z", lambda _: x)))))
    assert alpha_equal(term, Lam(Lam(App(App(Var(1), Var(0)), Lam(Var(2))))))


def test_a_let_is_an_application():
    term = close(let("x", lit(1), lambda x: pair(x, x)))
    pair_of = App(App(Prim("pair"), Var(0)), Var(0))
    assert alpha_equal(term, App(Lam(pair_of), Lit(1)))


def test_lazy_operands_stand_under_a_lambda():
    term = close(lam("x", lambda x: if_(x, x, thunk(x))))
    branches = [Lam(Var(1)), Lam(Lam(Var(2)))]
    assert alpha_equal(term, Lam(App(App(App(Prim("if"), Var(0)), branches[0]), branches[1])))


def test_a_draft_may_be_used_at_several_depths():
    inner = prim("succ", lit(1))
    term = close(lam("x", lambda x: pair(inner, lam("y", lambda _: pair(inner, x)))))
    assert isinstance(term, Lam)


# --- templates -----------------------------------------------------------------------------------


def drawing(f: Draft, g: Draft) -> Draft:
    counted = pair(lit(1), prim("succ", lit(1)))
    return lam("x", lambda x: pair(app(f, x), thunk(app(app(g, UNIT_DRAFT), pair(x, counted)))))


def test_a_filled_template_is_what_was_drawn():
    fill = template()(drawing)
    for f, g in ((Prim("fst"), Prim("snd")), (Lam(Var(0)), Lit("text"))):
        expected = close(drawing(closed(f), closed(g)))
        assert encode_term(fill(f, g)) == encode_term(expected)


def test_fillings_share_what_depends_on_no_hole_but_no_number():
    fill = template()(lambda f: pair(f, pair(lam("y", lambda y: app(y, UNIT_DRAFT)), lit(1))))
    one, two = (list(nodes(fill(Prim(name)))) for name in ("fst", "snd"))
    again = {id(node) for node in two}
    assert all(id(node) in again for node in one if isinstance(node, Lam))
    assert not any(id(node) in again for node in one if isinstance(node, Lit) and node.value == 1)


def test_a_template_may_stand_under_binders():
    @template("x", "y")
    def fill(f: Draft, x: Draft, y: Draft) -> Draft:
        return lam("z", lambda z: app(app(app(f, x), y), z))

    term: Term = Lam(Lam(fill(Prim("if"))))
    applied = App(App(App(Prim("if"), Var(2)), Var(1)), Var(0))
    assert alpha_equal(term, Lam(Lam(Lam(applied))))
