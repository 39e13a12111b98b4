"""Known terms found again by α-equality."""

import pytest

from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import Term
from lambdagent.ir.folding import Folding, Numbering
from lambdagent.ir.printer import View, print_marked
from lambdagent.source import Source

KNOWN = "TRUE = λt f. t; FALSE = λt f. f; K = λx y. x; zero = 0; open = ^0; `a b` = λq. q q;"


def read(text: str) -> Term:
    term = parse_lambda(Source("t", text)).term
    assert term is not None
    return term


def folded(text: str) -> str:
    folding = Folding(parse_lambda(Source("t", KNOWN)).definitions)
    term = read(text)
    return "".join(
        print_marked(term, View(folding.folded(term, set()), None, False), folding.names)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("λt f. t", "TRUE"),
        ("λx y. x", "K"),
        ("λa b. a", "K"),
        ("λf x. x", "church[0]"),
        ("λa b. b", "FALSE"),
        ("λa b. a b", "church[1]"),
        ("λa b. a (a (a b))", "church[3]"),
        ("λa b. b (a b)", "λa b. b (a b)"),
        ("λc. c λa b. b", "λc. c FALSE"),
        ("0", "0"),
        ("⟨1, ⟨2, λq. q q⟩⟩", "⟨1, 2, `a b`⟩"),
        ("λK. K λx y. x", "λK₁. K₁ K"),
        ("(λa b. a) 1", "K 1"),
    ],
)
def test_a_known_term_is_written_by_name(text: str, expected: str):
    assert folded(text) == expected


def test_numbers_are_equal_just_for_equal_terms():
    numbering = Numbering()
    texts = ["λx. x", "λy. y", "1", "1.0", "true", '"1"', "()", "null", "fst", "Y[1]", "Y[2]"]
    terms = [read(text) for text in [*texts, "λx y. x", "λx. x x"]]
    for left in terms:
        for right in terms:
            same = numbering.number(left) == numbering.number(right)
            assert same == alpha_equal(left, right)
