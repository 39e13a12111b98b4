import pytest

from lambdagent.ir.alpha import alpha_equal, digest, digest_rows, same_data
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Var
from lambdagent.ir.data import Record


def test_names_do_not_count():
    assert alpha_equal(Lam(Var(0, "x"), "x"), Lam(Var(0, "y"), "y"))
    assert digest(Lam(Var(0, "x"), "x")) == digest(Lam(Var(0, "y"), "y"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Var(0), Var(1)),
        (Lit(1), Lit(1.0)),
        (Lit(1), Lit(True)),
        (Lit(0.0), Lit(-0.0)),
        (Lit(None), Lit(UNIT)),
        (Lit("1"), Lit(1)),
        (Lit((1,)), Lit((True,))),
        (Lam(Var(0)), Lam(Var(1))),
        (App(Var(0), Var(1)), App(Var(1), Var(0))),
        (Prim("fst"), Prim("snd")),
        (Prim("fix", (1,)), Prim("fix", (2,))),
        (Prim("site", ("a",)), Prim("site", ("b",))),
        (Lit("fst"), Prim("fst")),
    ],
)
def test_terms_that_differ_have_different_digests(left, right):
    assert not alpha_equal(left, right)
    assert digest(left) != digest(right)


def test_labels_count_unless_they_are_left_out():
    plain, labelled = App(Var(0), Var(1)), App(Var(0), Var(1), Label("llm", "w"))
    assert not alpha_equal(plain, labelled)
    assert alpha_equal(plain, labelled, labels=False)


def test_data_is_compared_by_type_inside_records_too():
    assert same_data(Record(a=1, b=2), Record(b=2, a=1))
    assert not same_data(Record(a=1), Record(a=1.0))
    assert not same_data(Record(a=1), Record(a=True))
    assert digest_rows([Record(a=1, b=2)]) == digest_rows([Record(b=2, a=1)])


def test_shared_terms_are_compared_in_linear_time():
    left = right = Lit(0)
    for _ in range(200):
        left, right = App(left, left), App(right, right)
    assert alpha_equal(left, right)


def test_a_digest_does_not_depend_on_sharing():
    once = Lit(("a", 1))
    shared = App(once, once)
    apart = App(Lit(("a", 1)), Lit(("a", 1)))
    assert digest(shared) == digest(apart)


def test_numbers_of_any_size_have_a_digest():
    huge = 1 << 20_000
    digests = {digest(Lit(n)) for n in (huge, huge + 1, -huge, hex(huge), (huge,), float(1))}
    assert len(digests) == 6
    assert digest_rows([Record(a=huge, b=2)]) == digest_rows([Record(b=2, a=huge)])


def test_texts_that_no_encoding_knows_have_a_digest():
    assert digest(Lit("\ud800")) != digest(Lit("\ud801"))
