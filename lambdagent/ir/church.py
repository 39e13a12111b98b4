"""Church encodings as closed core terms of variables, abstractions and applications alone.

    true = λa b. a     ⟨p, q⟩ = λf. f p q     lᵢ⟨p⟩ of n labels = λk₁ … kₙ. kᵢ p
    k = λf x. f (… (f x))     [p, q] = λc n. c p (c q n)     byte = λk. k b₇ … b₀

Source: semantics.md §10.
"""

from functools import cache

from lambdagent.ir.core import App, Lam, Term, Var


def lams(names: str, body: Term) -> Term:
    """Return ``λ names. body``; the names stand apart by spaces."""
    for name in reversed(names.split()):
        body = Lam(body, name)
    return body


def apps(fun: Term, *args: Term) -> Term:
    """Return `fun` applied to `args`, one after the other."""
    for arg in args:
        fun = App(fun, arg)
    return fun


IDENTITY = lams("i", Var(0))
TRUE = lams("a b", Var(1))
FALSE = lams("a b", Var(0))
PAIR = lams("a b f", apps(Var(0), Var(2), Var(1)))
FST = lams("p", App(Var(0), TRUE))
SND = lams("p", App(Var(0), FALSE))
NIL = lams("c n", Var(0))
CONS = lams("h t c n", apps(Var(1), Var(3), apps(Var(2), Var(1), Var(0))))
IF = lams("c a b", apps(Var(2), Var(1), Var(0), IDENTITY))
SUCC = lams("k f x", App(Var(1), apps(Var(2), Var(1), Var(0))))
# λf xs. xs (λh k _. (λy. cons y (k i)) (f h)) (λ_. nil) i
PMAP = lams(
    "f xs",
    apps(
        Var(0),
        lams(
            "h k _",
            App(
                lams("y", apps(CONS, Var(0), App(Var(2), IDENTITY))),
                App(Var(4), Var(2)),
            ),
        ),
        lams("_", NIL),
        IDENTITY,
    ),
)


@cache
def numeral(count: int) -> Term:
    """Return ``λf x. f (… (f x))`` with `count` times ``f``."""
    body: Term = Var(0)
    for _ in range(count):
        body = App(Var(1), body)
    return lams("f x", body)


@cache
def injection(count: int, index: int) -> Term:
    """Return ``λp k₁ … kₙ. kᵢ p`` for `count` labels."""
    names = " ".join(f"k{i}" for i in range(1, count + 1))
    return lams(f"p {names}", App(Var(count - 1 - index), Var(count)))


@cache
def selection(count: int) -> Term:
    """Return ``λs b₁ … bₙ. s b₁ … bₙ``, the case of a sum with `count` labels."""
    names = " ".join(f"b{i}" for i in range(1, count + 1))
    return lams(f"s {names}", apps(*(Var(i) for i in range(count, -1, -1))))


@cache
def sequence(count: int) -> Term:
    """Return ``λt₁ … tₖ. ⟨t₁ i, … tₖ i⟩``, evaluated from the left."""
    names = " ".join(f"t{i}" for i in range(1, count + 1))
    result: Term = App(Var(0), IDENTITY)
    for i in range(1, count):
        result = apps(PAIR, App(Var(i), IDENTITY), result)
    return lams(names, result)


@cache
def guarded(retries: int) -> Term:
    """Return ``λf P h x. (r+1) (λs _. (λy. P y (λ_. y) (λ_. s y) i) (f x)) h i``."""
    check = apps(App(Var(5), Var(0)), lams("_", Var(1)), lams("_", App(Var(3), Var(1))), IDENTITY)
    again = lams("s _", App(lams("y", check), App(Var(5), Var(2))))
    body = apps(numeral(retries + 1), again, Var(1), IDENTITY)
    return lams("f p h x", body)


@cache
def text(value: str) -> Term:
    """Return the Church list of the UTF-8 bytes of `value`, each byte once under outer λs."""
    encoded = value.encode("utf-8", "surrogatepass")
    if not encoded:
        return NIL
    kinds = sorted(set(encoded))
    # λt f. (λbyte₁ … byteₖ. λc n. c byteᵢ (…)) (λk. k …) …
    body: Term = Var(0)
    for byte in reversed(encoded):
        body = apps(Var(1), Var(len(kinds) - kinds.index(byte) + 1), body)
    items = lams(" ".join(f"b{byte}" for byte in kinds) + " c n", body)
    bits = (
        lams("k", apps(Var(0), *(Var(2 if byte >> i & 1 else 1) for i in range(7, -1, -1))))
        for byte in kinds
    )
    return apps(lams("t f", apps(items, *bits)), TRUE, FALSE)
