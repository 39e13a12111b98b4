"""JSON → data: as Python's reader where that reads, with places where it does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.json_text import NoJsonError, _Reader, parse_json
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.codec import typed
from lambdagent.ir.core import Lam, Lit, Prim, Term
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.data_text import NUMBER_KEY, data_text
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import program_json
from lambdagent.source import Source
from tests.laws.terms import _collections, scalars

HUGE = 16**5_000
WORDS_OF_PYTHON = ("Expecting", "recursion", "line 1 column", "char", "digits) for", "delimiter")

# By name, since hypothesis shows its strategies in decimal.
NUMBERS = {
    "huge": HUGE,
    "less": -HUGE,
    "long": 10**4_000,
    **{name: float(name) for name in ("nan", "inf", "-inf")},
}
numbers = st.sampled_from([*NUMBERS]).map(lambda name: NUMBERS[name])
dollars = st.integers(0, 3).map(lambda n: "$" * n + NUMBER_KEY)
values = st.recursive(
    scalars | numbers,
    lambda inner: _collections(inner) | st.builds(lambda k, v: Record({k: v}), dollars, inner),
    max_leaves=6,
)


def no_word(name: str) -> None:
    raise AssertionError(name)


@given(values)
def test_strict_text_is_json_and_reads_back(value):
    text = data_text(value, strict=True)
    json.loads(text, parse_constant=no_word)
    assert typed(parse_json(text), 50) == typed(value, 50)
    assert typed(_Reader(text).read(), 50) == typed(value, 50)


@given(values, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_both_readers_agree(value, ascii_only, indent):
    plain = json.loads(data_text(value, strict=True))
    text = json.dumps(plain, ensure_ascii=ascii_only, indent=indent)
    assert typed(_Reader(text).read(), 50) == typed(parse_json(text), 50)


@given(st.text(alphabet='[]{}:,"\\u0 1e.-truefalsenNIy\n', max_size=12))
def test_what_python_does_not_read_has_a_place_and_no_words_of_python(text):
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(NoJsonError) as caught:
            parse_json(text)
        message = str(caught.value)
        assert caught.value.where.line >= 1
        assert not any(word in message for word in WORDS_OF_PYTHON)


@pytest.mark.parametrize(
    "depth", [199, 201, 20_000, pytest.param(100_000, marks=pytest.mark.slow)]
)
def test_depth_is_no_matter(depth):
    text = "[" * depth + "]" * depth
    assert data_text(parse_json(text)) == text
    text = '{"a":' * depth + "1" + "}" * depth
    assert data_text(parse_json(text)).replace(" ", "") == text


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"a": 1,\n "a": 2}', (2, 2), 'the key "a" appears twice in one object'),
        ('[{"b": {"a": 1, "a": 1}}]', (1, 17), 'the key "a" appears twice in one object'),
        ("[1, 2", (1, 6), "the text ends where `,` or `]` is expected"),
        ("[1 2]", (1, 4), "`2` stands where `,` or `]` is expected"),
        ("{'a': 1}", (1, 2), "`'` stands where a key in double quotes or `}` is expected"),
        ('{"a" 1}', (1, 6), "`1` stands where `:` is expected"),
        ("[1,]", (1, 4), "`]` stands where a value is expected"),
        ("[] []", (1, 4), "`[` stands where the end is expected"),
        ("", (1, 1), "the text ends where a value is expected"),
        ("[True]", (1, 2), "`True` stands where a value or `]` is expected"),
        ("[007]", (1, 2), "`007` stands where a value or `]` is expected"),
        ('["\\x"]', (1, 2), "a text holds an escape that does not exist"),
        (f"[{'1' * 5_000}]", (1, 2), "a number of more than 4,000 digits is written"),
        ('{"$number": 5}', (1, 14), '"$number" takes "0x…", "NaN", "Infinity" or "-Infinity"'),
    ],
)
def test_faults_have_their_place(text, place, words):
    with pytest.raises(NoJsonError) as caught:
        parse_json(text)
    assert caught.value.where[:2] == place
    assert str(caught.value).startswith(words)


def tables(**changes: Data) -> str:
    """Return the tables of ``λx. x`` with some keys changed."""
    made = {"lambdagent-program": 1, "name": "a", "core": [["v", 0, "x"], ["l", 0, "x"]]}
    return data_text(freeze({**made, "sites": [], **changes}))


def refusal(text: str) -> str:
    with pytest.raises(LambdaSyntaxError) as caught:
        parse_program_json(Source("t.json", text))
    return str(caught.value)


def test_every_integer_of_a_table_is_no_boolean_and_no_float():
    parse_program_json(Source("t.json", tables()))
    for wrong in (True, False, 1.0, 0.0, "0", None):
        assert "lambdagent-program" in refusal(tables(**{"lambdagent-program": wrong}))
        for rows in (
            [["v", wrong, "x"], ["l", 0, "x"]],
            [["v", 0, "x"], ["l", wrong, "x"]],
            [["v", 0, "x"], ["v", 0, "x"], ["a", wrong, 1], ["l", 2, "x"]],
            [["v", 0, "x"], ["v", 0, "x"], ["a", 0, wrong], ["l", 2, "x"]],
            [["p", "fix", [wrong]]],
            [["p", "par", [wrong]]],
            [["p", "guard", [wrong]]],
            [["p", "tag", [["a", "b"], wrong]]],
        ):
            assert "P032" in refusal(tables(core=rows))


@given(values)
def test_tables_hold_any_literal(value):
    program = Program(Lam(Lit(value), "x"), {})
    text = program_json(program)
    json.loads(text, parse_constant=no_word)
    again = parse_program_json(Source("t.json", text))
    assert alpha_equal(again.term, program.term)
    assert program_json(again) == text


def nested(depth: int) -> Data:
    value: Data = 1
    for _ in range(depth):
        value = (value,)
    return value


def test_tables_hold_what_nests_deeply_and_bounds_of_any_size():
    for term in (Lit(nested(20_000)), Prim("fix", (HUGE,))):
        root: Term = Lam(term, "x")
        text = program_json(Program(root, {}))
        assert (
            program_json(
                parse_program_json(Source("t", text)),
            )
            == text
        )
