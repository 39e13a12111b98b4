"""States that are stored are exact: α-equal programs, orders of keys, digests, damaged rows."""

import pytest

from lambdagent.ir.core import App, Lam, Lit, Var
from lambdagent.ir.data import Record, freeze
from lambdagent.machine.checkpoint import (
    MalformedStateError,
    decode_machine,
    digest_machine,
    encode_machine,
)
from lambdagent.machine.link import link
from lambdagent.machine.state import Halt, Machine
from lambdagent.machine.step import requests, resume, run, runnable, start, step
from lambdagent.machine.values import project
from tests.machine.terms import INPUT, linked, prim, program, site

ASK = App(site("tool:t"), INPUT)


def waiting(code) -> Machine:
    return run(code, start(code, "input"))


def answer_of(code, machine: Machine, answer: object = "K"):
    while requests(machine):
        for key, _ in requests(machine):
            machine = resume(code, machine, key, freeze(answer))
        machine = run(code, machine)
    state = machine.root.state
    assert isinstance(state, Halt)
    return project(state.value)


def test_a_state_goes_on_under_another_spelling_of_its_program():
    def body(second: str):
        one, two = App(Lam(Var(0), "a"), Lit("one")), App(Lam(Var(0), second), Lit("two"))
        return prim("pair", one, prim("pair", two, ASK))

    code, other = link(program(body("a"))), link(program(body("b")))
    assert code.digest == other.digest
    stored = encode_machine(code, waiting(code))
    assert answer_of(other, decode_machine(other, stored)) == ("one", "two", "K")


def test_objects_keep_the_order_of_their_keys():
    first, second = Record(a=1, b=2), Record(b=2, a=1)
    code = linked(prim("pair", Lit(first), prim("pair", Lit(second), ASK)))
    machine = decode_machine(code, encode_machine(code, waiting(code)))
    shown = answer_of(code, machine, {"b": 1, "a": 2})
    assert [list(each) for each in shown] == [["a", "b"], ["b", "a"], ["b", "a"]]


def test_storing_and_loading_changes_no_digest():
    nil = prim("nil")
    code = linked(
        prim("pair", nil, prim("pair", prim("cons", INPUT, nil), prim("pair", nil, nil)))
    )
    machine = start(code, "input")
    while runnable(machine):
        again = decode_machine(code, encode_machine(code, machine))
        assert digest_machine(code, again) == digest_machine(code, machine)
        machine = step(code, again)


def test_a_row_of_the_wrong_sort_is_refused():
    code = linked(prim("pair", Lit(1), ASK))
    stored = encode_machine(code, waiting(code))
    (path, clock, cells, state) = stored["threads"][0]
    value = next(i for i, row in enumerate(stored["rows"]) if row[0] == "c")
    changed = Record(stored, threads=((path, clock, cells, (*state[:3], value)),))
    with pytest.raises(MalformedStateError, match="belongs"):
        decode_machine(code, changed)
