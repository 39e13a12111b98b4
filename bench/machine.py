"""Transitions and β-reductions per second, against the same terms as nested Python lambdas."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.timing import Row, beside, best_of
from lambdagent.desugar.notation import Draft, app, close, lam, lit, prim, thunk
from lambdagent.effects.collector import relaxed
from lambdagent.ir.core import Term
from lambdagent.ir.data import Data
from lambdagent.ir.program import Program
from lambdagent.machine.link import Linked, link
from lambdagent.machine.recursive import Recursive
from lambdagent.machine.state import Halt, Kind, Machine
from lambdagent.machine.step import run, start, step

_DEEP = 100_000


def _apply(fun: Draft, *args: Draft) -> Draft:
    for arg in args:
        fun = app(fun, arg)
    return fun


def _church(n: int) -> Draft:
    def body(f: Draft, x: Draft) -> Draft:
        for _ in range(n):
            x = app(f, x)
        return x

    return lam("f", lambda f: lam("x", lambda x: body(f, x)))


def _counted(numeral: Draft) -> Term:
    """Return the program that counts a Church numeral."""
    succ = lam("i", lambda i: prim("succ", i))
    return close(thunk(_apply(numeral, succ, lit(0))))


def power() -> Term:
    """``2¹²`` by Church exponentiation."""
    return _counted(app(_church(12), _church(2)))


def ackermann() -> Term:
    """Ackermann(3, 3) on Church numerals."""
    succ = lam("n", lambda n: lam("f", lambda f: lam("x", lambda x: app(f, _apply(n, f, x)))))
    again = lam("g", lambda g: lam("n", lambda n: _apply(n, g, app(g, _church(1)))))
    return _counted(_apply(_church(3), again, succ, _church(3)))


def fibonacci(n: int = 18) -> Term:
    """``fib n`` by Z: Scott numerals in, a Church numeral out."""

    def z(f: Draft) -> Draft:
        return lam("x", lambda x: app(f, lam("v", lambda v: _apply(x, x, v))))

    fix = lam("f", lambda f: app(z(f), z(f)))
    scott = lam("s", lambda _: lam("z", lambda z_: z_))
    for _ in range(n):
        scott = _scott_succ(scott)
    add = lam(
        "m",
        lambda m: lam(
            "n",
            lambda k: lam("f", lambda f: lam("x", lambda x: _apply(m, f, _apply(k, f, x)))),
        ),
    )

    def body(self_: Draft, number: Draft) -> Draft:
        both = lam(
            "p",
            lambda p: _apply(
                p,
                lam("q", lambda q: _apply(add, app(self_, p), app(self_, q))),
                _church(1),
            ),
        )
        return _apply(number, both, _church(0))

    fib = app(fix, lam("self", lambda self_: lam("n", lambda number: body(self_, number))))
    return _counted(app(fib, scott))


def _scott_succ(number: Draft) -> Draft:
    return lam("s", lambda s: lam("z", lambda _: app(s, number)))


def tail_loop(n: int) -> Term:
    """``Yₙ`` that calls itself in tail position to the end."""
    body = lam("self", lambda self_: lam("x", lambda x: app(self_, x)))
    return close(prim("fix", body, lam("x", lambda x: x), params=(n,)))


def deep(n: int) -> Term:
    """``Yₙ`` that conses after its recursive call: `n` frames at the bottom."""
    body = lam("self", lambda self_: lam("x", lambda x: prim("succ", app(self_, x))))
    return close(prim("fix", body, lam("_", lambda _: lit(0)), params=(n,)))


# --- the same as Python lambdas ------------------------------------------------------------------


def native_church(n: int) -> Callable[[Any], Any]:
    """Return a Church numeral as a Python function with its applications written out."""
    inner = "x"
    for _ in range(n):
        inner = f"f({inner})"
    numeral: Callable[[Any], Any] = eval(f"lambda f: lambda x: {inner}")
    return numeral


def native_power() -> int:
    """``2¹²``."""
    counted: int = native_church(12)(native_church(2))(lambda i: i + 1)(0)
    return counted


def native_ackermann() -> int:
    """Ackermann(3, 3)."""
    one, three = native_church(1), native_church(3)
    succ = lambda n: lambda f: lambda x: f(n(f)(x))
    again = lambda g: lambda n: n(g)(g(one))
    counted: int = three(again)(succ)(three)(lambda i: i + 1)(0)
    return counted


def native_fibonacci(n: int = 18) -> int:
    """``fib n`` by Z."""
    fix = lambda f: (lambda x: f(lambda v: x(x)(v)))(lambda x: f(lambda v: x(x)(v)))
    scott: Any = lambda s: lambda z: z
    for _ in range(n):
        scott = (lambda p: lambda s: lambda z: s(p))(scott)
    add = lambda m: lambda k: lambda f: lambda x: m(f)(k(f)(x))
    one, zero = native_church(1), native_church(0)
    fib = fix(lambda me: lambda k: k(lambda p: p(lambda q: add(me(p))(me(q)))(one))(zero))
    counted: int = fib(scott)(lambda i: i + 1)(0)
    return counted


# --- measuring -----------------------------------------------------------------------------------


def _linked(term: Term) -> Linked:
    return link(Program(term, {}))


def _finished(linked: Linked, engine: str = "cek") -> Machine:
    with relaxed():
        machine = start(linked, 0)
        if engine == "cek":
            machine = run(linked, machine)
        else:
            machine = Recursive(linked, machine, _nobody, _unseen).run()
    if not isinstance(machine.root.state, Halt):
        raise TypeError(machine.root.state)
    return machine


def _nobody(*_: object) -> Data:
    raise LookupError


def _unseen(_: object) -> None:
    pass


def rows() -> list[Row]:
    """Measure the machine and direct style."""
    found = []
    for name, term, native in (
        ("Church 2¹²", power(), native_power),
        ("Ackermann(3,3)", ackermann(), native_ackermann),
        ("fib 18 by Z", fibonacci(), native_fibonacci),
    ):
        linked = _linked(term)
        machine = _finished(linked)
        if _finished(linked, "recursive").counters != machine.counters:
            raise AssertionError(name)
        beta = machine.counters[Kind.BETA]
        theirs = best_of(9, native)
        for engine, goal in (("cek", "≥ 0.08, aim 0.2"), ("recursive", "≥ 0.3, aim 0.75")):
            ours = best_of(9, partial(_finished, linked, engine))
            rate, native_rate = beta / ours / 1e6, beta / theirs / 1e6
            steps = f", {machine.transitions / ours / 1e6:.2f} M transitions/s"
            found.append(
                Row(
                    f"{engine}, {name}",
                    f"{rate:.2f} M β/s{steps if engine == 'cek' else ''}",
                    f"native {native_rate:.1f} M β/s",
                    f"{theirs / ours:.3f}",
                    goal,
                )
            )
    return [*found, *_depth_rows(), _step_row()]


def _depth_rows() -> list[Row]:
    loop = _linked(tail_loop(1_000_000))
    seconds = best_of(1, lambda: _finished(loop))
    per_level = _bytes_a_level(_linked(deep(_DEEP)))
    nested = _linked(deep(_DEEP * 10))
    deep_seconds = best_of(1, lambda: _finished(nested))
    direct = best_of(3, lambda: _finished(loop, "recursive"))
    return [
        Row("cek, tail loop of 1,000,000", f"{seconds:.2f} s", "", "", "≤ 1 s"),
        Row("recursive, tail loop of 1,000,000", f"{direct:.2f} s", "", "", "≤ 1 s"),
        Row(
            "cek, non-tail depth 1,000,000",
            f"{deep_seconds:.2f} s",
            f"{per_level:.0f} B a level",
            "",
            "≤ 400 B a level",
        ),
    ]


def _bytes_a_level(linked: Linked) -> float:
    tracemalloc.start()
    _finished(linked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / _DEEP


def _step_row() -> Row:
    linked = _linked(power())

    def walk() -> int:
        machine = start(linked, 0)
        while not isinstance(machine.root.state, Halt):
            machine = step(linked, machine, ())
        return machine.transitions

    transitions = walk()
    taken = beside(5, lambda: best_of(1, walk), lambda: best_of(1, native_fibonacci))
    beta = _finished(_linked(fibonacci())).counters[Kind.BETA]
    steps, native = transitions / taken.ours / 1e6, beta / taken.theirs / 1e6
    return Row(
        "step(), a state each",
        f"{steps:.2f} M/s",
        f"native {native:.1f} M β/s",
        f"{steps / native:.3f}",
        # 1 and 5 M/s on a machine where the native program does 19 M β/s
        "≥ 0.053, aim 0.26",
    )
