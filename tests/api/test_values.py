"""Answers of any shape: deep, shared, huge."""

import pytest

from lambdagent import Compose, Lam, Loop, Model, Pair, Scripted, Tool, run
from lambdagent.ir.registry import register

SCRIPT = Model(provider="scripted", binding=register(Scripted(["one"] * 5)))


@pytest.mark.parametrize("rounds", [5, 250, pytest.param(1_200, marks=pytest.mark.slow)])
def test_a_deep_answer_comes_out_whole(rounds):
    result = run(Loop(Pair(Compose(), Tool("one", lambda _: 1)), "False", rounds), "x")
    value, depth = result.value, 0
    while isinstance(value, tuple):
        value, depth = value[0], depth + 1
    assert (value, depth) == ("x", rounds)


def test_the_text_of_a_deep_answer_is_json():
    nested = run(Loop(Compose(Pair(Compose(), Compose()), Tool("first", first)), "False", 3), "x")
    assert nested.value == "x"
    assert run(Loop(Pair(Tool("first", lambda _: 1), Compose()), "False", 300), "x").text


def first(value):
    return value[0]


def test_a_number_of_thousands_of_digits_is_passed_on_as_text():
    agent = Compose(Tool("big", lambda _: 10**5_000), Tool("same", lambda value: value))
    result = run(agent, "x")
    assert result.value == hex(10**5_000)
    assert result.trace[1].input == hex(10**5_000)


def test_a_method_has_one_key_however_often_it_is_looked_up():
    class Counter:
        def add(self, value):
            return value

    counter = Counter()
    assert Tool("t", counter.add).implementation == Tool("t", counter.add).implementation
    assert Tool("t", counter.add).implementation != Tool("t", Counter().add).implementation


def test_notes_of_a_guard_stay_in_their_branch():
    from lambdagent import Guard, Par

    agent = Par(Lam("a", "p", SCRIPT), Guard(Compose(), "1/0", 0, "last"))
    (record,) = run(agent, "x").trace
    assert (record.term, record.notes) == ("a", ())
