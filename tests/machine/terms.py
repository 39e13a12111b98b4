"""What the machine tests share: small programs, and their runs to the end."""

from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import Fail, Halt, Machine
from lambdagent.machine.step import run, start

SITES = {
    "tool:t": Site("tool:t", "tool"),
    "tool:text": Site("tool:text", "tool", on_error="text"),
    "fail:x": Site("fail:x", "fail", Record(error="ValidationError", message="no")),
    "concat:c": Site("concat:c", "concat"),
}


def spine(head: Term, *operands: Term) -> Term:
    for operand in operands:
        head = App(head, operand)
    return head


def prim(name: str, *operands: Term, params: tuple[Data, ...] = ()) -> Term:
    return spine(Prim(name, params), *operands)


def site(name: str) -> Term:
    return Prim("site", (name,))


def thunk(term: Term) -> Lam:
    return Lam(term, "_")


def program(body: Term, sites: dict[str, Site] | None = None) -> Program:
    """The program ``λx. body``."""
    return Program(Lam(body, "x"), SITES if sites is None else sites)


def linked(body: Term, sites: dict[str, Site] | None = None) -> Linked:
    return link(program(body, sites))


def finish(body: Term, value: Data = "input") -> Machine:
    code = linked(body)
    return run(code, start(code, value))


def value_of(body: Term, value: Data = "input") -> object:
    state = finish(body, value).root.state
    assert isinstance(state, Halt), getattr(state, "error", state)
    return state.value


def error_of(body: Term, value: Data = "input") -> Record:
    state = finish(body, value).root.state
    assert isinstance(state, Fail), state
    return state.error


INPUT = Var(0, "x")
TRUE, FALSE = Lit(True), Lit(False)
IDENTITY = Lam(Var(0))
