import pytest

from lambdagent.ir.alpha import alpha_equal, digest
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.walk import nodes, size
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Kind
from lambdagent.machine.step import resume, run, runnable, start, step
from tests.machine.terms import FALSE, IDENTITY, INPUT, linked, prim, site, thunk

DEEP = 100_000


def states(body: Term):
    code = linked(body)
    machine = start(code, "input")
    yield code, machine
    while runnable(machine):
        machine = step(code, machine)
        yield code, machine


def unloaded(body: Term, *, at: int = -1) -> Term:
    code, machine = list(states(body))[at]
    return Readback.of(code).unload(machine)


def test_the_first_state_is_the_program_applied_to_its_input():
    body = prim("pair", INPUT, INPUT)
    assert alpha_equal(unloaded(body, at=0), App(Lam(body), Lit("input")))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (INPUT, Lit("input")),
        (Lit(UNIT), Lit(UNIT)),
        (Lit((1, 2)), Lit((1, 2))),
        (prim("pair", Lit(1), INPUT), prim("pair", Lit(1), Lit("input"))),
        (prim("cons", Lit(1), Prim("nil")), prim("cons", Lit(1), Prim("nil"))),
        (prim("tag", INPUT, params=(("a",), 0)), prim("tag", Lit("input"), params=(("a",), 0))),
        (Lam(Var(1)), Lam(Lit("input"))),
        (Lam(Lam(App(Var(2), Var(0)))), Lam(Lam(App(Lit("input"), Var(0))))),
        (App(Prim("if"), INPUT), App(Prim("if"), Lit("input"))),
        (
            prim("fix", Lam(Var(1)), IDENTITY, params=(2,)),
            prim("fix", Lam(Lit("input")), IDENTITY, params=(2,)),
        ),
        (
            prim("guard", IDENTITY, IDENTITY, Lam(Var(1)), params=(2,)),
            prim("guard", IDENTITY, IDENTITY, Lam(Lit("input")), params=(2,)),
        ),
        (site("tool:t"), site("tool:t")),
    ],
)
def test_values_are_read_back(body, value):
    assert alpha_equal(unloaded(body), value)


def test_what_waits_is_read_as_its_call():
    body = prim("pair", Lit(1), App(site("tool:t"), INPUT))
    expected = prim("pair", Lit(1), App(site("tool:t"), Lit("input")))
    assert alpha_equal(unloaded(body), expected)


def test_a_fork_is_read_as_its_branches():
    ask = App(site("tool:t"), INPUT)
    body = prim("par", thunk(Lit(1)), thunk(App(site("tool:t"), Var(1))), params=(2,))
    asked = App(site("tool:t"), Lit("input"))
    assert alpha_equal(unloaded(body), prim("par", thunk(Lit(1)), thunk(asked), params=(2,)))
    listed = prim("cons", INPUT, Prim("nil"))
    mapped = unloaded(prim("pmap", site("tool:t"), listed))
    assert alpha_equal(mapped, prim("cons", asked, Prim("nil")))
    assert not alpha_equal(mapped, ask)


def test_a_running_guard_is_read_as_a_retry_or_a_check():
    guard = prim("guard", site("tool:t"), site("tool:t"), IDENTITY, params=(2,))
    code = linked(App(guard, INPUT))
    reader = Readback.of(code)
    machine = run(code, start(code, "input"))
    operands = (site("tool:t"), site("tool:t"), IDENTITY, Lit("input"))
    running = App(site("tool:t"), Lit("input"))
    retry = prim("retry", *operands, running, params=(2,))
    assert alpha_equal(reader.unload(machine), retry)
    machine = run(code, resume(code, machine, (0,), "answer"))
    checking = App(site("tool:t"), Lit("answer"))
    check = prim("check", *operands, Lit("answer"), checking, params=(2,))
    assert alpha_equal(reader.unload(machine), check)
    assert machine.counters[Kind.GAMMA] == 0


def test_a_body_under_a_handler_is_read_as_a_catch():
    body = prim("catch", thunk(App(site("tool:t"), Lit(1))), IDENTITY)
    assert alpha_equal(unloaded(body), body)


def test_labels_are_left_out():
    body = App(site("tool:t"), INPUT, Label("llm", "w"))
    assert all(getattr(node, "label", None) is None for node in nodes(unloaded(body)))


def test_a_failed_run_is_read_as_its_error():
    read = unloaded(App(site("fail:x"), Lit("why")))
    assert isinstance(read, App)
    assert isinstance(read.fun, Prim)
    assert read.fun.name == "fail"


@pytest.mark.slow
def test_a_value_100_000_deep_is_read_back():
    # λself. λq. pair q (self q)
    grow = Lam(Lam(prim("pair", Var(0), App(Var(1), Var(0)))))
    code = linked(App(prim("fix", grow, Lam(Prim("nil")), params=(DEEP,)), INPUT))
    machine = run(code, start(code, "input"))
    term = Readback.of(code).term(machine.root.state.value)
    assert size(term) >= DEEP
    assert digest(term)
    assert alpha_equal(term, Readback.of(code).term(machine.root.state.value))


@pytest.mark.slow
def test_a_continuation_100_000_deep_is_read_back():
    grow = Lam(Lam(prim("succ", App(Var(1), Var(0)))))
    ask = Lam(App(site("tool:t"), Var(0)))
    code = linked(App(prim("fix", grow, ask, params=(DEEP,)), INPUT))
    machine = run(code, start(code, "input"))
    assert size(Readback.of(code).unload(machine)) >= DEEP


def test_shared_values_are_read_once():
    body: Term = Var(0)
    for _ in range(60):
        body = App(Lam(body), prim("pair", Var(0), Var(0)))
    code = linked(body)
    machine = run(code, start(code, "input"))
    assert size(Readback.of(code).term(machine.root.state.value)) < 300


def test_a_branch_that_is_not_taken_is_not_read():
    body = prim("if", FALSE, thunk(Lit("unlikely")), thunk(App(site("tool:t"), Lit(1))))
    values = [node.value for node in nodes(unloaded(body)) if isinstance(node, Lit)]
    assert values == [1]
