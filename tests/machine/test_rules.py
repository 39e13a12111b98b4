import pytest

from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.machine.rules import APPLY, FIRE, RETURN
from lambdagent.machine.state import (
    CATCH,
    CONS,
    FIXPOINT,
    GUARD_CHECK,
    GUARD_RUN,
    GUARDED,
    NIL_VALUE,
    PAIR,
    TAGGED,
    Kind,
)
from tests.machine.terms import (
    FALSE,
    IDENTITY,
    INPUT,
    TRUE,
    error_of,
    finish,
    prim,
    site,
    thunk,
    value_of,
)

AB = (("a", "b"),)
SUCC = Lam(prim("succ", Var(0)))


def fix(n: int, body: Term, exhausted: Term) -> Term:
    return prim("fix", body, exhausted, params=(n,))


def guard(r: int, agent: Term, predicate: Term, fallback: Term) -> Term:
    return prim("guard", agent, predicate, fallback, params=(r,))


def tag(index: int, payload: Term) -> Term:
    return prim("tag", payload, params=(*AB, index))


def case(subject: Term, *branches: Term) -> Term:
    return prim("case", subject, *branches, params=AB)


# The name of each rule, a program in which it fires, and its value.
FIRING = [
    ("pair", prim("pair", Lit(1), Lit(2)), (PAIR, 1, 2)),
    ("fst", prim("fst", prim("pair", Lit(1), Lit(2))), 1),
    ("snd", prim("snd", prim("pair", Lit(1), Lit(2))), 2),
    ("cons", prim("cons", Lit(1), Prim("nil")), (CONS, 1, NIL_VALUE)),
    ("tag", tag(1, INPUT), (TAGGED, ("a", "b"), 1, "input")),
    ("if", prim("if", TRUE, thunk(Lit(1)), thunk(Lit(2))), 1),
    ("if", prim("if", FALSE, thunk(Lit(1)), thunk(Lit(2))), 2),
    ("case", case(tag(0, Lit(1)), IDENTITY, SUCC), 1),
    ("case", case(tag(1, Lit(1)), IDENTITY, SUCC), 2),
    ("fix", App(fix(0, IDENTITY, SUCC), Lit(1)), 2),
    ("guard", App(guard(0, SUCC, thunk(TRUE), IDENTITY), Lit(1)), 2),
    ("catch", prim("catch", thunk(Lit(1)), IDENTITY), 1),
    ("succ", prim("succ", Lit(0)), 1),
    (FIXPOINT, App(fix(2, Lam(Lam(App(Var(1), prim("succ", Var(0))))), IDENTITY), Lit(0)), 2),
    (GUARDED, App(guard(2, SUCC, thunk(FALSE), SUCC), Lit(0)), 2),
    (GUARD_RUN, App(guard(0, SUCC, thunk(TRUE), IDENTITY), Lit(0)), 1),
    (GUARD_CHECK, App(guard(0, SUCC, thunk(FALSE), SUCC), Lit(0)), 2),
    (CATCH, prim("catch", thunk(prim("succ", Lit(0))), IDENTITY), 1),
]


@pytest.mark.parametrize(("rule", "term", "value"), FIRING)
def test_a_rule_fires(rule, term, value):
    assert value_of(term) == value


def test_each_rule_of_the_tables_has_an_example():
    assert {rule for rule, *_ in FIRING} == {*FIRE, *APPLY, *RETURN}


# Operands that no rule fits; a lowered program has none of these.
MISFITS = [
    prim("fst", Lit(1)),
    prim("fst", Prim("nil")),
    prim("fst", IDENTITY),
    prim("snd", Lit(("an", "array"))),
    prim("if", Lit(1), thunk(Lit(1)), thunk(Lit(2))),
    prim("if", Lit("true"), thunk(Lit(1)), thunk(Lit(2))),
    prim("if", Lit(UNIT), thunk(Lit(1)), thunk(Lit(2))),
    case(Lit("a"), IDENTITY, IDENTITY),
    case(prim("tag", Lit(1), params=(("a",), 0)), IDENTITY, IDENTITY),
    prim("succ", Lit(-1)),
    prim("succ", Lit(1.0)),
    prim("succ", TRUE),
    prim("succ", Lit("1")),
    App(Lit(1), Lit(2)),
    App(Lit("f"), Lit(2)),
    App(Lit(UNIT), Lit(2)),
    App(Prim("nil"), Lit(2)),
    App(Lit(("opaque",)), Lit(2)),
    prim("pair", Lit(1), Lit(2), Lit(3)),
    App(guard(0, IDENTITY, IDENTITY, IDENTITY), Lit(1)),
    App(guard(0, IDENTITY, thunk(Lit(1)), IDENTITY), Lit(1)),
    prim("pmap", IDENTITY, Lit(1)),
    prim("pmap", IDENTITY, prim("pair", Lit(1), Lit(2))),
    prim("pmap", IDENTITY, prim("cons", Lit(1), Lit(2))),
    prim("pmap", IDENTITY, IDENTITY),
]


@pytest.mark.parametrize("term", MISFITS)
def test_operands_that_fit_no_rule_are_a_failure_and_no_exception(term):
    assert error_of(term)["kind"] == "Stuck"


def test_operands_are_evaluated_from_the_left():
    first, second = App(site("fail:x"), Lit("first")), App(site("fail:x"), Lit("second"))
    for form in ("pair", "cons"):
        assert error_of(prim(form, first, second))["data"] == "first"
    assert error_of(App(first, second))["data"] == "first"
    assert error_of(guard(0, IDENTITY, first, second))["data"] == "first"
    assert error_of(fix(0, first, second))["data"] == "first"


def test_branches_that_are_not_taken_are_not_evaluated():
    bad = thunk(App(site("fail:x"), Lit("bad")))
    assert value_of(prim("if", TRUE, thunk(Lit(1)), bad)) == 1
    assert value_of(prim("if", FALSE, bad, thunk(Lit(2)))) == 2
    assert value_of(case(tag(0, Lit(1)), IDENTITY, bad)) == 1


def test_a_lazy_operand_may_be_any_function():
    to_unit = Lam(Lam(Var(0)))  # λx. λu. u
    assert value_of(prim("if", TRUE, App(to_unit, Lit(1)), thunk(Lit(2)))) is UNIT
    assert value_of(prim("if", FALSE, thunk(Lit(1)), App(to_unit, Lit(2)))) is UNIT
    assert value_of(prim("catch", App(Prim("pair"), Lit(1)), IDENTITY)) == (PAIR, 1, UNIT)
    assert value_of(case(tag(0, Lit(1)), Prim("succ"), IDENTITY)) == 2


def test_constants_may_be_given_their_operands_one_by_one():
    pair = App(Lam(App(Var(0), Lit(2))), App(Prim("pair"), Lit(1)))
    assert value_of(pair) == (PAIR, 1, 2)
    condition = App(Lam(App(App(Var(0), thunk(Lit(1))), thunk(Lit(2)))), App(Prim("if"), FALSE))
    assert value_of(condition) == 2


@pytest.mark.parametrize(
    ("term", "kind", "count"),
    [
        (App(IDENTITY, Lit(1)), Kind.BETA, 2),
        (prim("if", TRUE, thunk(Lit(1)), thunk(Lit(2))), Kind.BETA, 1),
        (prim("if", TRUE, thunk(Lit(1)), thunk(Lit(2))), Kind.DELTA, 1),
        (prim("fst", prim("pair", Lit(1), Lit(2))), Kind.DELTA, 1),
        (prim("pair", Lit(1), Lit(2)), Kind.DELTA, 0),
        (App(site("concat:c"), Lit("a")), Kind.DELTA, 1),
        (App(fix(3, Lam(Lam(App(Var(1), Var(0)))), IDENTITY), Lit(1)), Kind.MU, 4),
        (App(guard(2, IDENTITY, thunk(FALSE), IDENTITY), Lit(1)), Kind.GAMMA, 3),
        (App(guard(2, IDENTITY, thunk(TRUE), IDENTITY), Lit(1)), Kind.GAMMA, 1),
        (prim("par", thunk(Lit(1)), thunk(Lit(2)), params=(2,)), Kind.PI, 1),
        (prim("pmap", IDENTITY, Prim("nil")), Kind.PI, 1),
    ],
)
def test_reductions_are_counted_by_kind(term, kind, count):
    assert finish(term).counters[kind] == count


def test_a_guard_uses_the_last_answer_for_its_fallback():
    # each try adds one to what the fallback sees once
    assert value_of(App(guard(3, SUCC, thunk(FALSE), SUCC), Lit(5))) == 7


def test_being_stuck_is_an_error_that_a_handler_may_take():
    stuck = prim("fst", Lit(1))
    handled = prim("catch", thunk(stuck), Lam(Lit("handled")))
    assert value_of(handled) == "handled"
    assert error_of(stuck)["message"] == "fst applied to 1"
    assert error_of(App(Lit(1), Lit(2)))["message"] == "1 applied to 2"
