import pytest

from lambdagent.ir.data import Record
from lambdagent.machine.state import OPAQUE
from lambdagent.machine.text import MEMORY, TRANSCRIPT, cut, newest_text, text_of_value
from lambdagent.machine.values import list_value, pair, tagged


def memory(*rows: Record):
    return tagged(MEMORY, 0, (OPAQUE, rows))


def transcript(original: object, *entries: tuple[object, object, object]):
    steps = [pair(thought, pair(tool, seen)) for thought, tool, seen in reversed(entries)]
    return tagged(TRANSCRIPT, 0, pair(original, list_value(steps)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        (pair("a", 1), '["a", 1]'),
        (list_value(["é"]), '["é"]'),
        ((OPAQUE, ("a", None)), '["a", null]'),
        (Record(k="v"), '{"k": "v"}'),
    ],
)
def test_values_are_text_or_json(value, text):
    assert text_of_value(value) == text


@pytest.mark.parametrize(
    ("age", "shown"),
    [(0, "0s"), (59, "59s"), (60, "1min"), (3599, "59min"), (7200, "2h"), (172_800, "2d")],
)
def test_ages_of_memories_are_in_the_largest_unit(age, shown):
    value = pair(memory(Record(key="k", value="v", age=age)), "input")
    assert (
        text_of_value(value) == f"[Memory Context]\n- k: v ({shown} ago)\n\n[Current Input]\ninput"
    )


def test_a_transcript_has_the_layout_of_the_specification():
    value = transcript("task", ("t1", "search", "o1"), ("t2", "look", "o2"))
    assert text_of_value(value) == (
        "[Previous Context]\ntask\n\n"
        "[Step 1]\nThought: t1\nAction: search\nObservation: o1\n\n"
        "[Step 2]\nThought: t2\nAction: look\nObservation: o2"
    )
    assert newest_text(value) == "o2"


def test_a_transcript_may_start_from_a_memory():
    value = transcript(pair(memory(Record(key="k", value="v", age=None)), "task"))
    assert text_of_value(value) == (
        "[Previous Context]\n[Memory Context]\n- k: v\n\n[Current Input]\ntask"
    )


def test_a_cut_text_is_one_line_and_says_that_it_is_cut():
    assert cut("a\n b", 10) == "a b"
    assert cut("abcdef", 4) == "abc…"
    assert len(cut("x" * 1000, 60)) == 60
