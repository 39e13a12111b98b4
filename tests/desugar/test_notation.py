from lambdagent.desugar.notation import app, case, close, if_, lam, let, lit, pair, prim, thunk
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import App, Lam, Lit, Prim, Var


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


def test_a_case_has_its_labels_as_parameters():
    term = close(case(lit(1), ("a", "b"), [lam("x", lambda x: x), lam("y", lambda y: y)]))
    identity = Lam(Var(0))
    expected = App(App(App(Prim("case", (("a", "b"),)), Lit(1)), identity), identity)
    assert alpha_equal(term, expected)


def test_a_draft_may_be_used_at_several_depths():
    inner = prim("succ", lit(1))
    term = close(lam("x", lambda x: pair(inner, lam("y", lambda _: pair(inner, x)))))
    assert isinstance(term, Lam)
