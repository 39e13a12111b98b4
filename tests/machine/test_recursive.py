"""Direct style: values that are functions, what is stuck, and what is written."""

from typing import cast

import pytest

from lambdagent.effects.driver import drive
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers
from lambdagent.ir.alpha import digest
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.exchange import Failure
from lambdagent.machine.direct import write_direct
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import Linked
from lambdagent.machine.readback import Readback
from lambdagent.machine.recursive import HandOver, Recursive, Stopped, compiled
from lambdagent.machine.state import Fail, Halt, Machine
from lambdagent.machine.step import start
from tests.laws.observe import Answering
from tests.machine.terms import linked, prim, site, thunk

IDENTITY = Lam(Var(0))


def apart(term: Term) -> Term:
    """Return `term` where the writer cannot see what it is."""
    return App(IDENTITY, term)


def ended(code: Linked, engine: str) -> tuple[Machine, Choice]:
    execution = Execution(code, start(code, "input"), choice=Choice(engine, ""))
    drive(execution, cast(Handlers, Answering(lambda _: Failure("ToolError", "broken"))))
    return execution.machine, execution.choice


def both(body: Term) -> tuple[Machine, Choice]:
    """Run on both engines, which must agree; return the state and choice of direct style."""
    code = linked(body)
    direct, choice = ended(code, "recursive")
    stepped, _ = ended(code, "cek")
    assert direct.counters == stepped.counters
    reader = Readback.of(code)
    one, two = direct.root.state, stepped.root.state
    if isinstance(two, Halt):
        assert isinstance(one, Halt)
        assert digest(reader.term(one.value)) == digest(reader.term(two.value))
    else:
        assert isinstance(one, Fail)
        assert isinstance(two, Fail)
        assert one.error == two.error
    return direct, choice


@pytest.mark.parametrize(
    "body",
    [
        site("tool:t"),
        Prim("pair"),
        App(Prim("pair"), Var(0)),
        prim("fix", Lam(Lam(App(Var(1), Var(0)))), Lam(Var(1)), params=(3,)),
        prim("fix", apart(Lam(IDENTITY)), Lam(Var(1)), params=(3,)),
        prim("guard", Lam(Var(1)), Lam(Lit(True)), site("fail:x"), params=(2,)),
        prim("pair", Lam(Var(1)), prim("cons", Lam(Var(0)), Prim("nil"))),
        App(prim("fix", Lam(Lam(prim("pair", Var(1), Var(2)))), IDENTITY, params=(2,)), Var(0)),
        App(prim("fix", Lam(Lam(thunk(App(Var(2), Var(3))))), IDENTITY, params=(2,)), Var(0)),
        Lam(prim("par", thunk(Var(2)), params=(1,))),
        App(Lam(Lam(App(Lam(Lit(1)), Var(2)))), Lit(2)),
    ],
)
def test_a_function_in_direct_style_reads_back_as_what_it_is(body: Term):
    assert both(body)[1].engine == "recursive"


@pytest.mark.parametrize(
    "body",
    [
        prim("catch", apart(thunk(App(site("tool:t"), Lit(1)))), Lam(Lit("caught"))),
        prim("catch", thunk(App(site("tool:t"), Lit(1))), apart(Lam(Lit("caught")))),
        App(App(apart(Prim("catch")), thunk(App(site("fail:x"), Lit(1)))), Lam(Lit("caught"))),
        App(App(apart(Prim("catch")), thunk(Lit(1))), Lam(Lit("caught"))),
        App(apart(prim("fix", apart(Lam(IDENTITY)), IDENTITY, params=(3,))), Var(0)),
        App(App(App(apart(Prim("fix", (0,))), IDENTITY), Lam(Lit(5))), Var(0)),
        App(
            App(App(App(apart(Prim("guard", (1,))), IDENTITY), Lam(Lit(False))), Lam(Lit(1))),
            Var(0),
        ),
        prim("if", Lit(False), apart(thunk(Lit(1))), site("tool:text")),
        App(App(App(apart(Prim("if")), Lit(True)), thunk(Lit(1))), thunk(Lit(2))),
        prim("fst", App(App(apart(Prim("pair")), Var(0)), Lit(1))),
        App(apart(site("concat:c")), prim("pair", Lit("a"), Lit("b"))),
        App(site("tool:t"), Lam(Var(0))),
    ],
)
def test_what_the_writer_cannot_see_fires_the_rules_of_the_machine(body: Term):
    assert both(body)[1].engine == "recursive"


@pytest.mark.parametrize(
    "body",
    [
        App(Lit(3), Var(0)),
        prim("fst", Lit(1)),
        prim("succ", Lit("x")),
        prim("if", Lit(1), thunk(Lit(1)), thunk(Lit(2))),
        prim("case", Lit(1), IDENTITY, params=(("a",),)),
        App(prim("guard", IDENTITY, Lam(Lit(1)), IDENTITY, params=(0,)), Var(0)),
        App(apart(Prim("succ")), Lit("x")),
        prim("catch", thunk(App(Lit(3), Var(1))), Lam(Lit("caught"))),
    ],
)
def test_what_is_stuck_is_told_by_the_machine(body: Term):
    assert both(body)[1] == Choice("cek", "handed over to cek: no rule applies")


@pytest.mark.parametrize("form", [Prim("par", (1,)), apart(Prim("par", (1,)))])
def test_every_fork_is_handed_over(form: Term):
    assert both(App(form, thunk(Lit(1))))[1].reason.endswith("branches run at once")


def test_what_leaves_a_function_early_has_not_happened():
    late = prim("succ", prim("succ", App(Var(1), App(site("tool:t"), Lit(1)))))
    body = prim("catch", thunk(App(Lam(late), IDENTITY)), Lam(Lit("caught")))
    machine, _ = both(prim("pair", body, prim("succ", Lit(1))))
    assert machine.counters == (3, 1, 0, 0, 1, 0)


def test_equal_programs_are_written_once():
    code = linked(Var(0))
    assert compiled(code) is compiled(code)
    assert "def program(run):" in write_direct(code).text


def test_a_run_that_was_stopped_before_its_end_says_so():
    code = linked(App(Lam(Var(0)), Var(0)))
    run = Recursive(code, start(code, "x"), lambda *_: None, lambda _: None)
    run.stop()
    with pytest.raises(Stopped):
        run.run()


def test_a_run_that_was_stopped_too_late_says_so_too():
    runs: list[Recursive] = []
    code = linked(App(site("tool:t"), Var(0)))

    def ask(*_: object) -> None:
        runs[0].stop()

    runs.append(Recursive(code, start(code, "x"), ask, lambda _: None))
    with pytest.raises(Stopped):
        runs[0].run()


def test_nesting_beyond_what_python_takes_is_refused():
    term: Term = Lit(1)
    for _ in range(200):
        term = Lam(term)
    code = linked(term)
    with pytest.raises(HandOver, match="nested too deep"):
        Recursive(code, start(code, "x"), lambda *_: None, lambda _: None)
