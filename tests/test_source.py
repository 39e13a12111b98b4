"""Places in a text, and the excerpts that show them."""

import pytest

from lambdagent.source import Source, Span


def excerpt(text: str, *span: int) -> list[str]:
    return Source("a.yml", text).excerpt(Span(*span)).split("\n")


def test_an_excerpt_shows_the_line_and_a_caret_under_each_character():
    assert excerpt("a: 1\nbc: 22\n", 2, 5, 2, 7) == ["2 | bc: 22", "  |     ^^"]


def test_the_carets_stand_below_whatever_width_the_number_has():
    shown = excerpt("\n" * 99 + "key: x", 100, 1, 100, 4)
    assert shown == ["100 | key: x", "    | ^^^"]


def test_an_empty_span_gets_one_caret():
    assert excerpt("abc", 1, 2, 1, 2) == ["1 | abc", "  |  ^"]
    assert excerpt("", 1, 1, 1, 1) == ["1 | ", "  | ^"]


def test_a_span_over_several_lines_is_shown_to_the_end_of_its_first():
    assert excerpt("a: |\n  b\n  c\n", 1, 4, 3, 4) == ["1 | a: |", "  |    ^"]


def test_a_place_past_the_end_is_shown_as_an_empty_line():
    assert excerpt("a", 7, 1, 7, 1) == ["7 | ", "  | ^"]


@pytest.mark.parametrize("column", [1, 60, 150, 250, 300])
def test_of_a_long_line_the_part_around_the_place_is_shown(column: int):
    text = "".join(chr(ord("a") + i % 26) for i in range(300))
    line, carets = excerpt(text, 1, column, 1, column + 1)
    assert len(line) == len("1 | ") + 100
    assert line[carets.index("^")] == text[column - 1]


def test_control_characters_of_the_file_are_not_shown():
    assert excerpt("a\x1b[31m\tb\r\nc", 1, 8, 1, 9) == ["1 | a�[31m b", "  |        ^"]


@pytest.mark.parametrize(("number", "line"), [(0, ""), (1, "a"), (2, "b"), (3, ""), (4, "")])
def test_lines_count_from_one_and_have_no_break(number: int, line: str):
    assert Source("", "a\r\nb\n").line(number) == line
