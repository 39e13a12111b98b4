import pytest

from lambdagent.ir.alpha import alpha_equal, digest
from lambdagent.ir.codec import MalformedRowsError, RowTable, decode_term, encode_term
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.walk import size

DEEP = 100_000


def test_children_stand_before_their_parents():
    term = App(Lam(Var(0, "x"), "x"), Lit(1), Label("llm", "w"))
    assert encode_term(term) == [
        ("v", 0, "x"),
        ("l", 0, "x"),
        ("c", 1),
        ("a", 1, 2, "llm", "w"),
    ]


def test_equal_nodes_share_a_row():
    term: Term = Lit(0)
    for _ in range(60):
        term = App(App(Prim("pair"), term), term)
    rows = encode_term(term)
    assert len(rows) == 2 + 2 * 60
    assert size(decode_term(rows)) == len(rows)


@pytest.mark.slow
def test_a_term_100_000_deep_is_encoded_and_decoded():
    term: Term = Var(0)
    for _ in range(DEEP // 2):
        term = Lam(App(term, Lit(UNIT)))
    copy = decode_term(encode_term(term))
    assert alpha_equal(copy, term)
    assert digest(copy) == digest(term)


def test_constants_of_different_types_have_different_rows():
    values = [0, 0.0, -0.0, False, None, "", (), ((),), "0"]
    terms = [Lit(value) for value in values]
    table = RowTable()
    assert len({table.add(term) for term in terms}) == len(values)


def test_records_that_differ_in_a_type_have_different_rows():
    values = [Record(a=1), Record(a=True), Record(a=1.0), Record(a=(1,)), Record(a=(True,))]
    term: Term = Prim("nil")
    for value in values:
        term = App(App(Prim("cons"), Lit(value)), term)
    copy = decode_term(encode_term(term))
    assert digest(copy) == digest(term)
    assert alpha_equal(copy, term)
    assert RowTable().add(Lit(Record(a=1, b=2))) == RowTable().add(Lit(Record(b=2, a=1)))


def test_a_table_gives_equal_terms_the_same_number():
    table = RowTable()
    first = table.add(App(Prim("fst"), Lit(1)))
    assert table.add(App(Prim("fst"), Lit(1))) == first
    assert table.add(Lit(1)) < first


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("l", 0, "x")],
        [("v", -1, "x")],
        [("v", 0)],
        [("v", 0, "x"), ("a", 0, 1)],
        [("v", 0, "x"), ("a", 0, -1)],
        [("p", "sing", ())],
        [("p", "fix", ())],
        [("z",)],
        [7],
        ["row"],
        [("c",)],
    ],
)
def test_rows_that_are_no_term_are_refused(rows):
    with pytest.raises(MalformedRowsError):
        decode_term(rows)
