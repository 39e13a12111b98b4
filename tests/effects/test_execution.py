"""One run between machine and world, without a driver: the test gives the answers and the time."""

import pytest

from lambdagent import BudgetError, Compose, Lam, Loop, Par, Tool, compile_term
from lambdagent.effects.budget import Meter
from lambdagent.effects.execution import Execution
from lambdagent.effects.protocol import Reply, Usage
from lambdagent.ir.exchange import Failure
from lambdagent.ir.limits import Budget
from lambdagent.ir.surface import Term
from lambdagent.machine.link import link
from lambdagent.machine.state import Fail, Halt
from lambdagent.machine.step import start


def begun(term: Term, **options: object) -> Execution:
    linked = link(compile_term(term))
    execution = Execution(linked, start(linked, "x"), **options)  # type: ignore[arg-type]
    execution.advance()
    return execution


TWO = Par(Tool("a"), Tool("b"))


def test_all_requests_that_wait_are_new_once_lowest_key_first():
    execution = begun(TWO)
    requests = execution.new_requests(1.0)
    assert [request.site.name for request in requests] == ["tool:a", "tool:b"]
    assert sorted(request.key for request in requests) == [request.key for request in requests]
    assert execution.new_requests(2.0) == []
    assert not execution.can_move
    assert not execution.finished


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_answers_may_come_in_any_order(order: tuple[int, int]):
    execution = begun(TWO)
    requests = execution.new_requests(0.0)
    for number in order:
        execution.complete(requests[number], f"answer {number}", 1.0)
        execution.advance()
    assert execution.finished
    state = execution.machine.root.state
    assert isinstance(state, Halt)
    assert state.value[1:] == ("answer 0", "answer 1")


def test_an_exchange_keeps_when_it_was_asked_and_answered():
    execution = begun(Tool("a"))
    (request,) = execution.new_requests(2.0)
    execution.complete(request, "yes", 5.0)
    (exchange,) = execution.exchanges.values()
    assert (exchange.argument, exchange.answer, exchange.failed) == ("x", "yes", False)
    assert (exchange.started_s, exchange.elapsed_s) == (2.0, 3.0)


def test_the_failure_of_a_tool_is_its_answer():
    execution = begun(Tool("a"))
    (request,) = execution.new_requests(0.0)
    execution.complete(request, Failure("ToolError", "it broke"), 1.0)
    execution.advance()
    (exchange,) = execution.exchanges.values()
    assert (exchange.answer.message, exchange.failed) == ("it broke", True)
    assert isinstance(execution.machine.root.state, Halt | Fail)


def test_cancel_tells_those_who_still_work():
    execution = begun(TWO)
    one, two = execution.new_requests(0.0)
    execution.complete(one, "done", 1.0)
    execution.cancel()
    assert (one.cancel.cancelled, two.cancel.cancelled) == (False, True)


def test_the_limit_of_transitions_counts_from_the_start():
    execution = begun(Loop(Compose(), "False", 10**9), transition_limit=50)
    assert execution.machine.transitions == 50
    with pytest.raises(BudgetError, match="50 transitions"):
        execution.advance()


def test_a_run_that_needs_no_more_than_its_limit_ends():
    whole = begun(Compose())
    assert begun(Compose(), transition_limit=whole.machine.transitions).finished


def test_the_watcher_sees_events_as_they_happen():
    seen: list[str] = []
    execution = begun(Tool("a"), watch=lambda event, exchanges: seen.append(event.name))
    assert seen == []
    (request,) = execution.new_requests(0.0)
    execution.complete(request, "yes", 1.0)
    execution.advance()
    assert seen == ["Tool:a"]


def test_what_is_under_way_is_waited_for_when_the_budget_is_used_up():
    """And told as spent; what came later does not go out, be it a tool."""
    execution = begun(Par(Lam("a"), Lam("b"), Lam("c"), Tool("d")))
    execution.meter = Meter(Budget(calls=2))
    one, two = execution.new_requests(0.0)
    assert (one.site.kind, two.site.kind) == ("llm", "llm")
    for request in (two, one):
        assert execution.new_requests(1.0) == []
        execution.complete(request, Reply("x", usage=Usage(3, 4)).to_data(), 2.0)
        execution.advance()
    with pytest.raises(BudgetError, match="R013") as caught:
        execution.new_requests(3.0)
    assert "2 model calls, 14 tokens" in caught.value.diagnostic.why
    assert len(execution.exchanges) == 2
