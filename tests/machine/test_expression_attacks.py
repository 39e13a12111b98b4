"""No expression breaks out or keeps the machine busy, whichever engine asks for its value."""

import time
import tracemalloc
from functools import cache
from typing import Any

import pytest

from lambdagent import GuardError, build_agent, run
from lambdagent.frontend.expression import ExpressionError, parse_expression
from lambdagent.machine.engines import ENGINES
from lambdagent.machine.expression import EvaluationError, evaluate
from tests.machine.attacks import ATTACKS, EACH, LONG

each_attack = pytest.mark.parametrize(
    ("text", "x"), EACH, ids=[f"{i} {text[:40]!a}" for i, (text, _) in enumerate(EACH)]
)


def failure(text: str, x: Any) -> str | None:
    """Return why `text` has no value, None if it has one."""
    try:
        evaluate(parse_expression(text, ["x"]), {"x": x})
    except (EvaluationError, ExpressionError) as error:
        return str(error)
    return None


def cpu_s(text: str, x: Any) -> float:
    """Return the least of three times that it takes."""
    times = []
    for _ in range(3):
        parse_expression.__globals__["_rows"].cache_clear()
        started = time.process_time()
        failure(text, x)
        times.append(time.process_time() - started)
    return min(times)


def test_there_are_many_attacks_of_many_kinds():
    assert len(set(map(repr, EACH))) > 100
    assert min(map(len, ATTACKS.values())) >= 10


@each_attack
def test_no_attack_succeeds(text: str, x: Any):
    assert failure(text, x)


@cache
def longest_loop_s() -> float:
    """Return what it takes to use up all steps by the simplest loop: 0.04 s on an idle machine."""
    return cpu_s("[c for c in x]", LONG)


@pytest.mark.slow
@each_attack
def test_no_attack_takes_much_longer_than_a_loop_that_uses_up_all_steps(text: str, x: Any):
    # So none takes 0.2 s where the loop takes 0.04 s; a ratio, since machines differ.
    assert cpu_s(text, x) < 5 * longest_loop_s()


@pytest.mark.slow
@each_attack
def test_no_attack_takes_much_space(text: str, x: Any):
    tracemalloc.start()
    try:
        failure(text, x)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def is_expression(text: str) -> bool:
    try:
        parse_expression(text, ["x"])
    except ExpressionError:
        return False
    return True


def guarded(text: str, reply: str) -> Any:
    model = {"provider": "scripted", "script": {"replies": [reply]}}
    guard = {"validator": text, "retry": 0, "fallback": "error"}
    held = {"type": "simple", "systemPrompt": "p", "model": model, "guard": guard}
    return build_agent(held)


RUNNING = [
    (text, x)
    for text, x in EACH
    if isinstance(x, str) and 0 < len(x) < 20_000 and is_expression(text)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "x"), RUNNING, ids=[f"{i} {text[:40]!a}" for i, (text, _) in enumerate(RUNNING)]
)
def test_each_engine_says_the_same_of_an_attack(text: str, x: str):
    agent = guarded(text, x)
    said = []
    for engine in ENGINES:
        with pytest.raises(GuardError) as caught:
            run(agent, "go", engine=engine)
        said.append([each.notes for each in caught.value.trace])
    reason = failure(text, x)
    assert reason
    assert said[0][0][0] == f"predicate:guard: {reason}"
    assert said == [said[0]] * len(ENGINES)
