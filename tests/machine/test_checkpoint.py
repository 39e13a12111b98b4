import json

import msgpack
import pytest

from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.machine.checkpoint import (
    MalformedStateError,
    decode_machine,
    digest_machine,
    encode_machine,
)
from lambdagent.machine.state import Fail, Halt, Machine
from lambdagent.machine.step import requests, resume, run, runnable, start, step
from tests.machine.terms import FALSE, IDENTITY, INPUT, linked, prim, site, thunk

DEEP = 100_000
ASK = App(site("tool:t"), INPUT)


def waiting(body: Term):
    code = linked(body)
    return code, run(code, start(code, "input"))


def finished(code, machine: Machine) -> Machine:
    while requests(machine := run(code, machine)):
        for key, _ in requests(machine):
            machine = resume(code, machine, key, "answer")
    return machine


EVERY_FRAME = [
    ASK,
    App(ASK, Lit(1)),
    App(Lam(Var(0)), ASK),
    prim("pair", ASK, prim("pair", Lit(1), INPUT)),
    prim("pair", Lit(1), ASK),
    App(App(Lam(Lam(Var(1))), ASK), ASK),
    prim("catch", thunk(App(site("tool:t"), Var(1))), IDENTITY),
    App(prim("fix", Lam(Lam(App(Var(1), Var(0)))), site("tool:t"), params=(2,)), INPUT),
    App(prim("guard", site("tool:t"), thunk(FALSE), IDENTITY, params=(1,)), INPUT),
    App(prim("guard", IDENTITY, Lam(App(thunk(FALSE), ASK)), IDENTITY, params=(1,)), INPUT),
    App(Lam(Var(0)), ASK, Label("llm", "writer")),
    prim("pair", Lit(1), ASK, Lit(2)),
    App(App(Prim("pair"), Lit(1)), ASK, Label("llm", "writer")),
    prim("tag", ASK, params=(("a", "b"), 1)),
    prim("par", thunk(App(site("tool:t"), Var(1))), thunk(Lit((1, 2))), params=(2,)),
    prim(
        "par", thunk(App(site("fail:x"), Lit(1))), thunk(App(site("tool:t"), Lit(2))), params=(2,)
    ),
    prim("pmap", site("tool:t"), prim("cons", INPUT, prim("cons", INPUT, Prim("nil")))),
]


@pytest.mark.parametrize("body", EVERY_FRAME)
def test_a_stored_state_goes_on_as_the_first_would(body):
    code = linked(body)
    machine = start(code, "input")
    while True:
        stored = encode_machine(code, machine)
        copy = decode_machine(linked(body), stored)
        assert encode_machine(code, copy) == stored
        ends = [finished(code, each) for each in (machine, copy)]
        states = [end.root.state for end in ends]
        assert type(states[0]) is type(states[1])
        if isinstance(states[0], Halt | Fail):
            assert (
                encode_machine(code, ends[0])["threads"]
                == encode_machine(code, ends[1])["threads"]
            )
        assert ends[0].transitions == ends[1].transitions
        if runnable(machine):
            machine = step(code, machine)
        elif requests(machine):
            machine = resume(code, machine, requests(machine)[0][0], "answer")
        else:
            break


def test_a_state_is_plain_data():
    code, machine = waiting(prim("pair", Lit(Record(k=(1, None))), ASK))
    stored = encode_machine(code, machine)
    for packed in (
        json.loads(json.dumps(thaw(stored))),
        msgpack.unpackb(msgpack.packb(thaw(stored)), strict_map_key=False),
    ):
        copy = decode_machine(code, freeze(packed))
        assert encode_machine(code, copy) == stored


def test_a_state_of_another_program_is_refused():
    code, machine = waiting(ASK)
    other, _ = waiting(prim("pair", ASK, Lit(1)))
    with pytest.raises(MalformedStateError, match="another program"):
        decode_machine(other, encode_machine(code, machine))


def test_another_format_is_refused():
    code, machine = waiting(ASK)
    stored = encode_machine(code, machine)
    with pytest.raises(MalformedStateError, match="format"):
        decode_machine(code, Record(stored, format=99))


@pytest.mark.parametrize(
    "change",
    [
        {"rows": (("e", 5, 6),)},
        {"rows": ((99,),)},
        {"rows": ()},
        {"rows": 7},
        {"threads": ((),)},
        {"threads": (((), 0, (), ("eval", -1, -1, -1)),)},
        {"threads": (((), 0, (), ("sing",)),)},
        {"counters": None},
    ],
)
def test_what_is_no_state_is_refused(change):
    code, machine = waiting(prim("pair", ASK, Lit(1)))
    stored = Record(encode_machine(code, machine), **change)
    with pytest.raises(MalformedStateError):
        decode_machine(code, stored)


def test_constants_of_different_types_stay_different():
    for values in ((1, True, 1.0), (0, False, 0.0, -0.0), ("1", 1), (None, "None")):
        body: Term = Prim("nil")
        for value in values:
            body = prim("cons", Lit(value), body)
        code, machine = waiting(body)
        copy = decode_machine(code, encode_machine(code, machine))
        shown = [repr(each.root.state.value) for each in (machine, copy)]
        assert shown[0] == shown[1]


def test_states_differ_in_their_digests():
    code = linked(prim("pair", ASK, Lit(1)))
    machine, seen = start(code, "input"), []
    while runnable(machine):
        seen.append(digest_machine(code, machine))
        machine = step(code, machine)
    assert len(set(seen)) == len(seen)
    assert digest_machine(code, start(code, "input")) == seen[0]
    assert digest_machine(code, start(code, "other")) != seen[0]


def test_the_store_is_kept():
    code = linked(ASK)
    machine = run(code, start(code, "input", {"conv:c#1": (2,), "mem:m#1": (9, (1,))}))
    copy = decode_machine(code, encode_machine(code, machine))
    assert copy.root.store == machine.root.store


@pytest.mark.slow
def test_a_state_100_000_deep_is_stored():
    grow = Lam(Lam(prim("cons", Var(0), App(Var(1), Var(0)))))
    body = App(prim("fix", grow, Lam(App(Lam(Prim("nil")), ASK)), params=(DEEP,)), INPUT)
    code, machine = waiting(body)
    copy = decode_machine(code, encode_machine(code, machine))
    end, same = finished(code, copy), finished(code, machine)
    assert encode_machine(code, end)["rows"] == encode_machine(code, same)["rows"]
    assert len(encode_machine(code, end)["rows"]) < DEEP + 100
