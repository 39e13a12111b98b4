"""What a run spends of its budget."""

import asyncio
import threading
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent import Lam, Model, build_agent, compile_term
from lambdagent.effects.budget import Meter, Spent, meter_of, within_budget
from lambdagent.effects.journal import Intent, Recorded, Told
from lambdagent.effects.protocol import Reply, Usage
from lambdagent.errors import BudgetError, finding
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.known_models import Price
from lambdagent.ir.limits import Budget, Limits, RunLimits
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from tests.effects.agents import MODEL, PATIENCE_S, Face, face

__all__ = ["face"]

LLM = compile_term(Lam("a", "p")).sites["llm:a"]
TOOL = Site("tool:t", "tool", Record())
REPLY = Reply("x", usage=Usage(6, 4, usd=0.25)).to_data()


def program(**budget: Any) -> Program:
    made = compile_term(Lam("a", "p"))
    return attrs.evolve(made, limits=RunLimits(Budget(**budget)))


def rounds(meter: Meter) -> int:
    """How many calls are made until the budget is used up; 100 if it never is."""
    for done in range(100):
        try:
            meter.begin(LLM)
        except BudgetError:
            return done
        meter.end(LLM, REPLY)
    return 100


@pytest.mark.parametrize(
    ("budget", "most"),
    [
        (Budget(calls=3), 3),
        (Budget(tokens=10), 1),
        (Budget(tokens=11), 2),
        (Budget(usd=0.5), 2),
        (Budget(usd=0.51), 3),
        (Budget(tokens=1000, calls=7), 7),
        (Budget(seconds=1), 100),
    ],
)
def test_no_call_is_begun_once_a_limit_is_reached(budget: Budget, most: int):
    assert rounds(Meter(budget)) == most


def test_calls_at_the_same_time_are_counted_when_they_begin():
    meter = Meter(Budget(calls=2))
    meter.begin(LLM)
    meter.begin(LLM)
    with pytest.raises(BudgetError, match=r"R013.*`budget.calls` is 2"):
        meter.begin(LLM)


def test_tools_cost_nothing_and_failures_are_calls():
    meter = Meter(Budget(calls=1))
    for _ in range(3):
        meter.begin(TOOL)
        meter.end(TOOL, "x")
    meter.begin(LLM)
    meter.end(LLM, Failure("ProviderError", "no"))
    with pytest.raises(BudgetError):
        meter.begin(LLM)


@pytest.mark.parametrize(
    ("second", "told"),
    [(Usage(6, 4), "2 model calls, 20 tokens; no further"), (None, "2 model calls; no further")],
)
def test_what_is_not_known_is_not_told(second: Usage | None, told: str):
    meter = Meter(Budget(calls=2))
    for usage in (Usage(6, 4, usd=0.25), second):
        meter.begin(LLM)
        meter.end(LLM, Reply("x", usage=usage).to_data())
    with pytest.raises(BudgetError) as caught:
        meter.begin(LLM)
    assert told in caught.value.diagnostic.why


def test_what_was_spent_is_told():
    meter = Meter(Budget(calls=1))
    meter.begin(LLM)
    meter.end(LLM, REPLY)
    with pytest.raises(BudgetError) as caught:
        meter.begin(LLM)
    assert "1 model call, 10 tokens, $0.25" in caught.value.diagnostic.why


def test_numbers_are_told_with_every_digit():
    meter = Meter(Budget(tokens=1_234_567, usd=12345.67, seconds=0.4))
    meter.spent = Spent(3, 7_654_321, 12345.678)
    told = meter.exhausted("tokens").diagnostic.why
    assert "3 model calls, 7654321 tokens, $12,345.68" in told
    limits = [str(meter.exhausted(name)) for name in ("tokens", "usd", "seconds")]
    for text, limit in zip(limits, ("1234567", "12345.67", "0.4"), strict=True):
        assert f"is {limit}\n" in text


@pytest.mark.parametrize(
    ("usage", "limits", "told"),
    [
        (None, {"tokens": 100}, True),
        (None, {"usd": 1}, True),
        (Usage(3, 4), {"usd": 1}, True),
        (Usage(3, 4), {"tokens": 100}, False),
        (Usage(3, 4, usd=0.0), {"usd": 1, "tokens": 100}, False),
        (None, {"calls": 7, "seconds": 7}, False),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "scripted"])
def test_what_an_answer_does_not_tell_is_never_guessed(
    usage: Usage | None, limits: dict[str, Any], told: bool, provider: str
):
    """Those of a script took nothing that is paid for."""
    site = compile_term(Lam("a", "p", Model(provider=provider, name="m"))).sites["llm:a"]
    meter = Meter(Budget(**limits))
    meter.begin(site)
    meter.end(site, Reply("x", usage=usage).to_data())
    if told and provider != "scripted":
        with pytest.raises(BudgetError, match=r"R016.*`m` does not say"):
            meter.begin(site)
    else:
        meter.begin(site)


def test_no_budget_needs_no_meter():
    assert meter_of(program()) is None


def test_earlier_processes_have_spent_too():
    answers = {
        (0,): Recorded(REPLY, 0.0, 2.0),
        (1,): Recorded(True, 2.0, 100.0),
        (2,): Recorded("x", 102.0, 3.0),
    }
    sites = {(0,): "llm:a", (1,): "confirm:t", (2,): "tool:t", (3,): "llm:a"}
    intents = {key: Intent(site, 0, 0.0) for key, site in sites.items()}
    meter = meter_of(program(seconds=7, calls=2), Told(intents, answers, None, 0))
    assert meter is not None
    assert (meter.spent.calls, meter.spent.tokens, meter.spent.usd) == (1, 10, 0.25)
    assert meter.left_s == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("budget_s", "limit_s", "expected"),
    [(None, None, None), (None, 5, 5), (3, None, 3), (3, 5, 3), (5, 3, 3), (4, 4, 4)],
)
def test_the_shorter_time_holds(
    budget_s: float | None, limit_s: float | None, expected: float | None
):
    with within_budget(Meter(Budget(seconds=budget_s)), limit_s) as found:
        assert found == expected


@pytest.mark.parametrize(
    ("budget_s", "limit_s", "code"), [(3, 5, "R013"), (5, 3, "R006"), (None, 3, "R006")]
)
def test_the_end_of_time_is_told_as_what_it_is(budget_s: float | None, limit_s: float, code: str):
    with (
        pytest.raises(BudgetError, match=code),
        within_budget(Meter(Budget(seconds=budget_s)), limit_s),
    ):
        raise BudgetError(finding("R006", limit="3"))


NUMBERS = st.none() | st.integers(0, 10**9)
BUDGETS = st.builds(Budget, NUMBERS, NUMBERS | st.floats(0, 1e9), NUMBERS, st.floats(0, 1e9))
DOLLARS = st.floats(0, 1e9)
LIMITS = st.builds(
    RunLimits,
    BUDGETS,
    st.dictionaries(st.text(), st.builds(Limits, NUMBERS, NUMBERS)),
    st.dictionaries(st.text(), st.builds(Price, DOLLARS, DOLLARS, st.none() | DOLLARS)),
)


@given(LIMITS)
def test_limits_read_back(limits: RunLimits):
    assert RunLimits.from_data(limits.to_data()) == limits


@pytest.mark.parametrize(
    "data",
    [
        None,
        Record(),
        Record(budget=Record(), rates=()),
        Record(budget=Record(calls="1"), rates=Record()),
        Record(budget=Record(calls=True), rates=Record()),
        Record(budget=Record(calls=-1), rates=Record()),
        Record(budget=Record(calls=1.5), rates=Record()),
        Record(budget=Record(usd=float("nan")), rates=Record()),
        Record(budget=Record(dollars=1), rates=Record()),
        Record(budget=Record(), rates=Record(openai=1)),
        Record(budget=Record(), rates=Record(), prices=1),
        Record(budget=Record(), rates=Record(), prices=Record(m=Record(input=1))),
        Record(budget=Record(), rates=Record(), prices=Record(m=Record(input=1, output=-1))),
        Record(budget=Record(), rates=Record(openai=Record(calls=1))),
    ],
)
def test_other_data_is_refused(data: object):
    with pytest.raises(ValueError, match="no"):
        RunLimits.from_data(data)  # type: ignore[arg-type]


class Meeting:
    """A provider that answers no call before two are under way."""

    instant = False

    def __init__(self) -> None:
        self.threads, self.tasks = threading.Barrier(2), asyncio.Barrier(2)
        self.answered: list[str] = []

    def chat(self, call: Any) -> Reply:
        self.threads.wait(PATIENCE_S)
        return self.answer(call)

    async def achat(self, call: Any) -> Reply:
        async with asyncio.timeout(PATIENCE_S):
            await self.tasks.wait()
        return self.answer(call)

    def answer(self, call: Any) -> Reply:
        self.answered.append(call.agent)
        return Reply("x", usage=Usage(3, 4, usd=0.5))

    def close(self) -> None:
        pass


def test_calls_that_a_budget_allows_are_made_and_their_answers_kept(face: Face):
    """Though a branch that it does not allow waits beside them."""
    branches = [{"type": "simple", "name": f"b{i}", "systemPrompt": "p"} for i in range(3)]
    config = {
        "type": "parallel",
        "name": "council",
        "systemPrompt": "All.",
        "model": MODEL,
        "parallel": {"agents": branches, "merge": "tuple"},
        "budget": {"calls": 2},
    }
    model = Meeting()
    with pytest.raises(BudgetError, match="R013") as caught:
        face.ask(build_agent(config, providers={"openai": model}), "x")
    assert "2 model calls, 14 tokens, $1.00" in caught.value.diagnostic.why
    assert sorted(model.answered) == ["b0", "b1"]
