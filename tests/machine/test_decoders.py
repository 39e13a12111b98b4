from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.data import freeze, thaw
from lambdagent.machine.decoders import DecodeError, decode_label, decode_output
from tests.cases import load_cases


@pytest.mark.parametrize("case", load_cases("router"), ids=lambda case: case["id"])
def test_a_shared_router_case_gives_its_route(case: dict[str, Any]):
    index = decode_label(case["reply"], case["categories"])
    route = case["expect"]["route"]
    assert index == (None if route == "default" else case["categories"].index(route))


@pytest.mark.parametrize("case", load_cases("outputparser"), ids=lambda case: case["id"])
def test_a_shared_output_case_gives_its_value(case: dict[str, Any]):
    assert thaw(decode_output(case["kind"], case["text"])) == case["expect"]["value"]


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("billing", 0),
        (" BILLING\n", 0),
        ("**Billing.**", 0),
        ('"billing"', 0),
        ("Category: billing", 0),
        ("billing\n\nThis is not tech or sales.", 0),
        ("This is a billing question.", 0),
        ("billing or tech", None),
        ("tech support", 3),
        ("I think tech-support", 1),
        ("The label is tech support!", 3),
        ("tech support, or just tech", None),
        ("", None),
        ("billings", None),
        ("the 退款 label", 4),
        ("用户要退款。", 4),
        ("「退款」", 4),
        ("C++", 5),
        ("It is about C++, I think", 5),
        ("Straße", 6),
        ("STRASSE", 6),
    ],
)
def test_a_label_is_found_as_a_whole_word_or_not_at_all(text: str, index: int | None):
    labels = ["billing", "tech", "sales", "tech support", "退款", "C++", "Straße"]
    assert decode_label(text, labels) == index


def test_labels_that_differ_in_case_are_told_apart_when_written_exactly():
    assert decode_label("US", ["us", "US"]) == 1
    assert decode_label("Us", ["us", "US"]) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1]}', {"a": [1]}),
        (" [1, 2] ", [1, 2]),
        ("3", 3),
        ('Here you are:\n```json\n{"a": 1}\n```\nBye', {"a": 1}),
        ('```\n[{"a": 1}, {"a": 2}]\n```', [{"a": 1}, {"a": 2}]),
        ('The list: [{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ("Take {'a': 'b',} please", {"a": "b"}),
        ('a {b} {"c": "```"}', {"c": "```"}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ("see [1] and {}", {}),
        ("```json\n[1, 2.5, true]\n```", [1, 2.5, True]),
        ("So:\n```\n[]\n```", []),
        ("```json\n3\n```", 3),
        ('```json\n"a"\n```', "a"),
        ('Exit code ```0``` and {"a": 1}', {"a": 1}),
        ('"half \\ud83d"', "half \ufffd"),
    ],
)
def test_json_is_found_in_fences_and_prose(text: str, value: Any):
    assert decode_output("json", text) == freeze(value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "none", "{", '{"a": ', "[" * 5000, '{"a" 1}', "NaN", "[1e999]", "-Infinity"),
        *("True", "```\nnone\n```", "```\n1\n``` or ```\n2\n```"),
    ],
)
def test_a_text_without_json_is_refused(text: str):
    with pytest.raises(DecodeError):
        decode_output("json", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("It is 42.", 42),
        ("**-3.5**", -3.5),
        ("−7", -7),
        ("$1,234,567.50", 1234567.5),
        ("1'000", 1000),
        ("about 45%", 45),
        ("6.02e23", 6.02e23),
        (".5", 0.5),
        ("42, so 42", 42),
        ("x2 is 7", 7),
    ],
)
def test_a_number_is_read_with_its_separators(text: str, value: float):
    found = decode_output("number", text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    ["", "none", "5 or 6", "5-10", "2024-05-01", "3,14", "1.234.567", "1e999", "9" * 5000, "v1"],
)
def test_a_text_without_exactly_one_number_is_refused(text: str):
    with pytest.raises(DecodeError):
        decode_output("number", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False.", False),
        ("**Yes**", True),
        ("no\n\nIt is true that nothing came.", False),
        ("Yes, it is.", True),
        ("No - it is true that it failed", False),
        ("The statement is true.", True),
        ("是。", True),
        ("否", False),
    ],
)
def test_a_truth_value_is_read_as_a_whole_word(text: str, value: bool):
    assert decode_output("boolean", text) is value


@pytest.mark.parametrize(
    "text", ["", "maybe", "untrue", "There is no doubt", "true or false", "notrue"]
)
def test_a_text_that_is_neither_true_nor_false_is_refused(text: str):
    with pytest.raises(DecodeError):
        decode_output("boolean", text)


def test_text_stays_as_it_is():
    assert decode_output("text", " a\n") == " a\n"


@given(st.text() | st.text(alphabet="{}[]\"':,.0123456789-+e%truefalsyno \n`\\"))
def test_no_text_raises_anything_but_a_decode_error(text: str):
    decode_label(text, ["yes", "no", "{", "1"])
    for kind in ("text", "json", "number", "boolean"):
        with suppress(DecodeError):
            hash(decode_output(kind, text))  # type: ignore[arg-type]
