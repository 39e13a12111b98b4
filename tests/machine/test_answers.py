import pytest

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import VERDICT
from lambdagent.ir.sites import Site
from lambdagent.machine.answers import decode_answer, error_record, text_of, throw
from lambdagent.machine.state import (
    AWAIT_ARG,
    CATCH,
    OPAQUE,
    TAGGED,
    Fail,
    Return,
)

ERROR = error_record(Failure("ToolError", "broken"), "tool:t", (0,))


@pytest.mark.parametrize(
    ("decoder", "answer", "value"),
    [
        ("raw", "text", "text"),
        ("raw", (1, 2), (OPAQUE, (1, 2))),
        ("raw", Record(text="t"), Record(text="t")),
        ("text", Record(text="t", usage=1), "t"),
        ("text", "t", "t"),
        ("text", Record(other=1), ""),
        ("json", Record(text="[1]"), (OPAQUE, (1,))),
        ("number", Record(text="about 3"), 3),
        ("boolean", Record(text="Yes."), True),
    ],
)
def test_an_answer_is_decoded(decoder, answer, value):
    assert decode_answer(Site("s", "llm", decoder=decoder), answer) == value


@pytest.mark.parametrize(
    ("answer", "index", "payload"),
    [
        (True, 0, UNIT),
        (False, 1, "[DENIED: pay]"),
        ("", 1, "[DENIED: pay]"),
        ("too much", 1, "[DENIED: pay] too much"),
        ("true", 1, "[DENIED: pay] true"),
        (1, 1, "[DENIED: pay] 1"),
        (None, 1, "[DENIED: pay]"),
        (Record(approved=True), 1, "[DENIED: pay]"),
    ],
)
def test_nothing_but_true_approves_a_call(answer, index, payload):
    site = Site("confirm:pay", "confirm", Record(tool="pay"))
    assert decode_answer(site, answer) == (TAGGED, VERDICT, index, payload)


def test_an_answer_that_does_not_decode_is_a_failure_with_its_text():
    found = decode_answer(Site("s", "llm", decoder="number"), Record(text="none"))
    assert isinstance(found, Failure)
    assert (found.kind, found.data) == ("ValidationError", "none")


def test_a_failure_is_raised_or_is_text():
    failure = Failure("ToolError", "broken")
    assert decode_answer(Site("s", "tool"), failure) is failure
    assert decode_answer(Site("s", "tool", on_error="text"), failure) == "broken"


def test_an_answer_without_text_has_an_empty_one():
    assert text_of(None) == ""
    assert text_of(Record(text=None)) == ""
    assert text_of(7) == "7"


def test_an_error_skips_frames_up_to_a_handler():
    kont = (AWAIT_ARG, (CATCH, (AWAIT_ARG, (), "outer"), "handler"), "skipped")
    state = throw(ERROR, kont)
    assert isinstance(state, Return)
    assert (state.value, state.kont) == (ERROR, (AWAIT_ARG, (AWAIT_ARG, (), "outer"), "handler"))


def test_an_error_without_a_handler_fails():
    state = throw(ERROR, (AWAIT_ARG, (), "f"))
    assert isinstance(state, Fail)
    assert state.error == ERROR
