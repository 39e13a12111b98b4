"""What is written as YAML reads back as the same."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.frontend.yaml_text import comment, print_yaml, scalar

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PROSE = st.text("ab:#- \n\t'\"|>{}[],&*!%@`?=0.1~\\你\u2028\x85\r", max_size=30)
WORD = st.sampled_from(
    ["true", "No", "null", "~", "1", "1e3", "0x1", ".inf", "2020-01-01", "<<", "="]
)
TEXTS = st.one_of(TEXT, PROSE, WORD)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(-(10**18), 10**18), st.booleans()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def read(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_data_reads_back(data: dict[str, Any]):
    assert read(print_yaml(data)) == data or not data


@given(TEXTS)
def test_a_scalar_is_one_line(text: str):
    assert "\n" not in scalar(text)
    assert read(scalar(text)) == text


@given(st.dictionaries(st.sampled_from("abc"), VALUES, min_size=1), TEXTS)
def test_comments_change_nothing(data: dict[str, Any], note: str):
    notes = {(): [note], (next(iter(data)),): [note, note]}
    notes |= {("a", 0): [note], ("a", 0, "b"): [note]}
    assert read(print_yaml(data, notes)) == data


@pytest.mark.parametrize("text", ["a\nb", "a\n\nb", "- a\n- b", "# a\n  b", "你\n好"])
def test_several_lines_are_a_block(text: str):
    assert print_yaml({"a": text}).startswith("a: |-\n  ")
    assert read(print_yaml({"a": {"b": text}})) == {"a": {"b": text}}


def test_what_a_line_cannot_hold_is_quoted():
    for text in (" a\nb", "a\nb\n", "a\r\nb", "\na", "a \nb", "a\tb", ""):
        assert "|" not in print_yaml({"a": text})


def test_a_comment_is_one_line():
    assert comment("a\nb\u2028c\ufffe") == "# a b c"
