import pytest

from lambdagent.desugar.compose import lower_compose
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.program import Program
from lambdagent.machine.checkpoint import encode_machine
from lambdagent.machine.link import link
from lambdagent.machine.state import (
    PAIR,
    Fail,
    Halt,
    Kind,
    Return,
    Suspend,
)
from lambdagent.machine.step import requests, resume, run, runnable, start, step
from tests.machine.terms import (
    FALSE,
    IDENTITY,
    INPUT,
    error_of,
    finish,
    linked,
    prim,
    site,
    thunk,
    value_of,
)

FAILING = App(site("fail:x"), Lit("why"))


def fix(n: int, body: Term, exhausted: Term) -> Term:
    return prim("fix", body, exhausted, params=(n,))


def frames(kont: tuple) -> int:
    count = 0
    while kont:
        count, kont = count + 1, kont[1]
    return count


# --- depth ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_recursion_that_is_no_tail_call_may_be_100_000_deep():
    count = Lam(Lam(prim("succ", App(Var(1, "self"), Var(0, "q")))))
    assert value_of(App(fix(100_000, count, Lam(Lit(0))), INPUT)) == 100_000


def test_a_chain_of_10_000_stages_runs():
    term = lower_compose([Lam(prim("succ", Var(0)))] * 10_000)
    code = link(Program(term, {}))
    state = run(code, start(code, 0)).root.state
    assert isinstance(state, Halt)
    assert state.value == 10_000


@pytest.mark.slow
def test_a_tail_loop_takes_no_more_space_the_longer_it_runs():
    loop = Lam(Lam(App(Var(1, "self"), prim("succ", Var(0, "q")))))
    code = linked(App(fix(1_000_000, loop, IDENTITY), Lit(0)))
    machine = start(code, "input")
    sizes, depths = set(), set()
    while runnable(machine):
        machine = run(code, machine, budget=500_001)
        if isinstance(machine.root.state, Halt):
            break
        depths.add(frames(machine.root.state.kont))
        sizes.add(len(encode_machine(code, machine)["rows"]))
    assert machine.root.state.value == 1_000_000
    assert machine.counters[Kind.MU] == 1_000_001
    assert max(depths) <= 4
    assert max(sizes) <= 20


def test_a_tail_call_in_a_branch_pushes_no_frame():
    loop = Lam(
        Lam(
            prim(
                "if",
                FALSE,
                thunk(Var(1)),
                thunk(App(Lam(App(Var(3, "self"), Var(0))), Var(1, "q"))),
            )
        )
    )
    code = linked(App(fix(2_000, loop, IDENTITY), Lit(0)))
    machine = start(code, "input")
    while runnable(machine):
        machine = run(code, machine, budget=97)
        if not isinstance(machine.root.state, Halt):
            assert frames(machine.root.state.kont) <= 4
    assert machine.root.state.value == 0


# --- budget --------------------------------------------------------------------------------------


def test_a_budget_is_kept_to_the_transition():
    code = linked(prim("pair", prim("succ", Lit(0)), App(IDENTITY, INPUT)))
    total = run(code, start(code, "input")).transitions
    for budget in range(total + 3):
        machine = run(code, start(code, "input"), budget=budget)
        assert machine.transitions == min(budget, total)
        assert isinstance(machine.root.state, Halt) == (budget >= total)
        assert bool(runnable(machine)) == (budget < total)


def test_a_budget_is_kept_across_threads():
    branches = [thunk(prim("succ", Lit(i))) for i in range(3)]
    code = linked(prim("par", *branches, params=(3,)))
    total = run(code, start(code, "input")).transitions
    for budget in range(total + 2):
        first = run(code, start(code, "input"), budget=budget)
        assert first.transitions == min(budget, total)
        assert run(code, first).transitions == total


def test_a_step_is_one_transition():
    code = linked(prim("par", thunk(prim("succ", Lit(1))), thunk(INPUT), params=(2,)))
    machine, count = start(code, "input"), 0
    while runnable(machine):
        machine, count = step(code, machine), count + 1
        assert machine.transitions == count
    assert count == run(code, start(code, "input")).transitions


def test_a_thread_that_has_ended_keeps_its_clock():
    ask = App(site("tool:t"), INPUT)
    for body, ended in ((ask, Halt), (App(site("fail:x"), ask), Fail)):
        code = linked(body)
        machine = run(code, resume(code, run(code, start(code, "q")), (0,), "a"))
        assert isinstance(machine.root.state, ended)
        assert machine.root.clock == 1


def test_nothing_moves_when_all_is_over():
    code = linked(INPUT)
    machine = run(code, start(code, "input"))
    assert run(code, machine).transitions == machine.transitions
    assert requests(machine) == []


# --- states are not changed ----------------------------------------------------------------------


def test_a_state_can_be_continued_twice():
    code = linked(App(site("tool:t"), INPUT))
    machine = run(code, start(code, "input"))
    [(key, _)] = requests(machine)
    one = run(code, resume(code, machine, key, "one"))
    two = run(code, resume(code, machine, key, "two"))
    assert (one.root.state.value, two.root.state.value) == ("one", "two")
    assert isinstance(machine.root.state, Suspend)


# --- effects -------------------------------------------------------------------------------------


def test_an_oracle_suspends_and_its_answer_is_counted():
    code = linked(App(site("tool:t"), INPUT))
    machine = run(code, start(code, "question"))
    [(key, request)] = requests(machine)
    assert (key, request.site, request.argument) == ((0,), "tool:t", "question")
    assert machine.counters[Kind.EPSILON] == 0
    after = resume(code, machine, key, ("an", "array"))
    assert after.counters[Kind.EPSILON] == 1
    assert after.transitions == machine.transitions + 1
    assert isinstance(after.root.state, Return)
    assert after.root.clock == 1


def test_an_answer_nobody_waits_for_is_refused():
    code = linked(App(site("tool:t"), App(site("tool:t"), INPUT)))
    machine = run(code, start(code, "question"))
    for key in ((1,), (0, 0, 0), (7,)):
        with pytest.raises(KeyError):
            resume(code, machine, key, "answer")
    again = run(code, resume(code, machine, (0,), "answer"))
    with pytest.raises(KeyError):
        resume(code, again, (0,), "answer")


def test_keys_tell_threads_and_their_clocks():
    ask = App(site("tool:t"), Lit("q"))
    twice = App(Lam(ask), ask)
    body = App(Lam(twice), prim("par", thunk(twice), thunk(ask), params=(2,)))
    code = linked(App(Lam(body), ask))
    machine, keys = start(code, "input"), []
    while True:
        machine = run(code, machine)
        asked = requests(machine)
        if not asked:
            break
        for key, _ in asked:
            keys.append(key)
            machine = resume(code, machine, key, "a")
    assert sorted(keys) == [(0,), (1, 0, 0), (1, 0, 1), (1, 1, 0), (2,), (3,)]


# --- failure -------------------------------------------------------------------------------------


def test_an_error_goes_to_the_nearest_handler():
    inner = prim("catch", thunk(prim("pair", Lit(1), FAILING)), Lam(Lit("inner")))
    assert value_of(prim("catch", thunk(inner), Lam(Lit("outer")))) == "inner"


def test_a_handler_gets_the_error():
    error = value_of(prim("catch", thunk(FAILING), IDENTITY))
    assert error == Record(
        kind="ValidationError", message="no", site="fail:x", key=(0,), data="why"
    )


def test_an_error_in_a_handler_is_not_caught_by_it():
    body = prim("catch", thunk(FAILING), Lam(App(site("fail:x"), Lit("again"))))
    assert error_of(body)["data"] == "again"
    assert value_of(prim("catch", thunk(body), Lam(Lit("outer")))) == "outer"


def test_a_handler_is_gone_once_its_body_has_a_value():
    body = App(Lam(FAILING), prim("catch", thunk(Lit(1)), Lam(Lit("caught"))))
    assert error_of(body)["data"] == "why"


def test_a_handler_is_evaluated_before_its_body():
    assert error_of(prim("catch", thunk(Lit(1)), FAILING))["data"] == "why"


def test_a_failed_answer_is_raised_or_made_text():
    for name, expected in (("tool:t", "caught"), ("tool:text", "went wrong")):
        code = linked(prim("catch", thunk(App(site(name), Lit(1))), Lam(Lit("caught"))))
        machine = run(code, start(code, "input"))
        machine = run(code, resume(code, machine, (0,), Failure("ToolError", "went wrong")))
        assert machine.root.state.value == expected


def test_a_failure_that_nothing_catches_ends_the_run():
    machine = finish(App(Lam(Lit("never")), FAILING))
    assert isinstance(machine.root.state, Fail)
    assert runnable(machine) == []


def test_a_run_without_a_root_answer_is_told():
    machine = finish(prim("pair", Lit(1), App(Prim("succ"), Lit(1))))
    assert machine.root.state.value == (PAIR, 1, 2)
