import itertools

import pytest

from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.exchange import Failure
from lambdagent.machine.checkpoint import decode_machine, digest_machine, encode_machine
from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    CONS,
    NIL_VALUE,
    PAIR,
    Halt,
    Join,
    Machine,
)
from lambdagent.machine.step import requests, resume, run, start
from lambdagent.machine.values import project
from tests.machine.terms import error_of, finish, linked, prim, site, thunk, value_of


def par(*branches: Term) -> Term:
    return prim("par", *map(thunk, branches), params=(len(branches),))


def listed(*items: Term) -> Term:
    result: Term = Prim("nil")
    for item in reversed(items):
        result = prim("cons", item, result)
    return result


def fails(text: str) -> Term:
    return App(site("fail:x"), Lit(text))


def test_the_answers_of_branches_are_nested_to_the_right():
    assert value_of(par(Lit(1))) == 1
    assert value_of(par(Lit(1), Lit(2))) == (PAIR, 1, 2)
    assert value_of(par(Lit(1), Lit(2), Lit(3))) == (PAIR, 1, (PAIR, 2, 3))


def test_pmap_answers_in_the_order_of_its_list():
    succ = Lam(prim("succ", Var(0)))
    mapped = value_of(prim("pmap", succ, listed(Lit(1), Lit(2))))
    assert mapped == (CONS, 2, (CONS, 3, NIL_VALUE))
    assert value_of(prim("pmap", succ, Prim("nil"))) == NIL_VALUE


def test_forks_nest():
    assert value_of(par(par(Lit(1), Lit(2)), par(Lit(3)))) == (PAIR, (PAIR, 1, 2), 3)


def test_a_join_raises_the_error_of_the_lowest_branch():
    assert error_of(par(Lit(1), fails("second"), fails("third")))["data"] == "second"
    assert error_of(par(Lit(1), par(fails("inner"), Lit(2)), fails("third")))["data"] == "inner"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_join_raises_the_lowest_error_whichever_comes_first(order):
    ask = [App(site("tool:t"), Lit(i)) for i in range(3)]
    code = linked(prim("catch", thunk(par(*ask)), Lam(Var(0))))
    machine = run(code, start(code, "input"))
    keys = [key for key, _ in requests(machine)]
    for index in order:
        answer = "fine" if index == 0 else Failure("ToolError", f"broken {index}")
        machine = run(code, resume(code, machine, keys[index], answer))
        if index != order[-1]:
            assert isinstance(machine.root.state, Join)  # it waits for all of them
    assert machine.root.state.value["message"] == "broken 1"


def test_a_branch_can_catch_its_own_error():
    caught = prim("catch", thunk(fails("why")), Lam(Lit("caught")))
    assert value_of(par(caught, Lit(2))) == (PAIR, "caught", 2)


def test_a_handler_around_a_fork_catches_for_all_of_it():
    assert (
        value_of(prim("catch", thunk(par(Lit(1), fails("why"))), Lam(Lit("caught")))) == "caught"
    )
    assert value_of(par(prim("catch", thunk(par(fails("a"), Lit(1))), Lam(Lit(0))), Lit(2))) == (
        PAIR,
        0,
        2,
    )


def test_a_thread_is_gone_after_its_join():
    machine = finish(par(par(Lit(1), Lit(2)), Lit(3)))
    assert set(machine.threads) == {()}
    machine = finish(prim("catch", thunk(par(fails("a"), par(fails("b")))), Lam(Lit(0))))
    assert set(machine.threads) == {()}


def test_branches_wait_at_the_same_time():
    code = linked(par(*(App(site("tool:t"), Lit(i)) for i in range(5))))
    machine = run(code, start(code, "input"))
    assert [key for key, _ in requests(machine)] == [(0, i, 0) for i in range(5)]
    assert [request.argument for _, request in requests(machine)] == list(range(5))


def test_requests_are_told_by_key_though_inner_forks_come_later():
    ask = App(site("tool:t"), Lit("q"))
    code = linked(par(par(ask, ask), ask))
    asked = [key for key, _ in requests(run(code, start(code, "input")))]
    assert asked == [(0, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 1, 0)]


def test_a_lazy_operand_of_par_may_be_any_function():
    term = prim("par", App(Prim("pair"), Lit(1)), Lam(Var(0)), params=(2,))
    assert value_of(term) == (PAIR, (PAIR, 1, UNIT), UNIT)


def test_a_fork_may_have_500_branches():
    wide = value_of(prim("pmap", Lam(Var(0)), listed(*map(Lit, range(500)))))
    count = 0
    while wide != NIL_VALUE:
        assert wide[1] == count
        wide, count = wide[2], count + 1
    assert count == 500


def test_a_deep_nest_of_forks_joins():
    term: Term = Lit(0)
    for _ in range(300):
        term = par(term)
    machine: Machine = finish(term)
    assert isinstance(machine.root.state, Halt)
    assert machine.counters[5] == 300


def test_many_forks_of_one_thread_have_their_own_keys():
    body: Term = Var(0)
    for _ in range(50):
        body = App(Lam(body), par(App(site("tool:t"), Lit("q"))))
    code = linked(body)
    machine, keys = start(code, "input"), []
    while requests(machine := run(code, machine)):
        for key, _ in requests(machine):
            keys.append(key)
            machine = resume(code, machine, key, "a")
    assert keys == [(i, 0, 0) for i in range(50)]


def mapped_over(count: int, *params: int) -> tuple[Linked, Machine]:
    """The state in which ``pmap[params]`` has asked what it may for a list of so many numbers."""
    items = listed(*map(Lit, range(count)))
    code = linked(prim("pmap", site("tool:t"), items, params=params))
    return code, run(code, start(code, "input"))


def test_only_so_many_items_of_a_list_ask_the_world_at_once():
    code, machine = mapped_over(5, 9, 2)
    seen = []
    while asked := requests(machine):
        seen.append([request.argument for _, request in asked])
        key, request = asked[-1]  # whichever ends first, the next one in line takes its place
        machine = run(code, resume(code, machine, key, f"answer {request.argument}"))
    assert seen == [[0, 1], [0, 2], [0, 3], [0, 4], [0]]
    assert project(machine.root.state.value) == tuple(f"answer {i}" for i in range(5))


def test_branches_that_wait_for_their_turn_do_so_after_a_reload_too():
    code, machine = mapped_over(3, 9, 1)
    again = decode_machine(code, encode_machine(code, machine))
    assert [request.argument for _, request in requests(again)] == [0]
    assert digest_machine(code, again) == digest_machine(code, machine)


def test_what_branches_fork_themselves_waits_with_them():
    both = Lam(prim("par", *[thunk(App(site("tool:t"), Var(1)))] * 2, params=(2,)), "x")
    code = linked(prim("pmap", both, listed(Lit(1), Lit(2)), params=(9, 1)))
    asked = requests(run(code, start(code, "input")))
    assert [request.argument for _, request in asked] == [1, 1]


def test_a_list_that_is_longer_than_pmap_allows_is_stuck():
    items = listed(Lit(1), Lit(2), Lit(3))
    assert error_of(prim("pmap", Lam(Var(0)), items, params=(2,)))["kind"] == "Stuck"
    assert project(value_of(prim("pmap", Lam(Var(0)), items, params=(3,)))) == (1, 2, 3)
