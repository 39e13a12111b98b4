"""Traversals of core terms, all with an explicit stack: terms may be 100,000 levels deep."""

from collections.abc import Callable, Iterator
from typing import Any

from lambdagent.ir.core import App, Lam, Prim, Term, Var


def children(term: Term) -> tuple[Term, ...]:
    """Return the direct subterms of `term`, left to right."""
    if type(term) is App:
        return (term.fun, term.arg)
    return (term.body,) if type(term) is Lam else ()


def nodes(root: Term) -> Iterator[Term]:
    """Yield each distinct node of `root` once, children before parents, left to right."""
    seen: set[int] = set()
    stack: list[Any] = [root]  # in a tuple: what is yielded when it is its turn again
    while stack:
        term = stack.pop()
        kind = type(term)
        if kind is tuple:
            yield term[0]
        elif id(term) not in seen:
            seen.add(id(term))
            if kind is App:
                stack += ((term,), term.arg, term.fun)
            elif kind is Lam:
                stack += ((term,), term.body)
            else:
                yield term


def size(root: Term) -> int:
    """Return the number of nodes of `root`, shared ones counted once."""
    return sum(1 for _ in nodes(root))


def reaches(root: Term) -> dict[int, int]:
    """Return how many enclosing binders each node of `root` needs, by identity."""
    reach: dict[int, int] = {}
    for term in nodes(root):
        if type(term) is App:
            fun, arg = reach[id(term.fun)], reach[id(term.arg)]
            reach[id(term)] = fun if fun > arg else arg  # noqa: FURB136 - `max` takes twice as long
        elif type(term) is Var:
            reach[id(term)] = term.index + 1
        elif type(term) is Lam:
            body = reach[id(term.body)]
            reach[id(term)] = body - 1 if body else 0
        else:
            reach[id(term)] = 0
    return reach


def free_reach(root: Term) -> int:
    """Return how many enclosing binders `root` needs: 0 when it is closed."""
    return reaches(root)[id(root)]


def site_names(root: Term) -> set[str]:
    """Return the names of the effect sites that `root` mentions."""
    return {
        str(term.params[0]) for term in nodes(root) if type(term) is Prim and term.name == "site"
    }


def rebuild(root: Term, replace: Callable[[Var, int], Term]) -> Term:
    """Return `root` with each variable `v` under `d` binders replaced by ``replace(v, d)``.

    Nodes that do not change, and shared ones, stay shared. Linear in nodes times depths at which
    a shared node occurs.
    """
    done: dict[tuple[int, int], Term] = {}
    stack: list[tuple[Term, int, bool]] = [(root, 0, False)]
    while stack:
        term, depth, ready = stack.pop()
        key = (id(term), depth)
        if key in done:
            continue
        if type(term) is Var:
            done[key] = replace(term, depth)
        elif type(term) is Lam:
            if ready:
                body = done[id(term.body), depth + 1]
                done[key] = term if body is term.body else Lam(body, term.name)
            else:
                stack += [(term, depth, True), (term.body, depth + 1, False)]
        elif type(term) is App:
            if ready:
                fun, arg = done[id(term.fun), depth], done[id(term.arg), depth]
                same = fun is term.fun and arg is term.arg
                done[key] = term if same else App(fun, arg, term.label)
            else:
                stack += [(term, depth, True), (term.arg, depth, False), (term.fun, depth, False)]
        else:
            done[key] = term
    return done[id(root), 0]


def shift(root: Term, by: int) -> Term:
    """Return `root` with its free variables moved `by` binders outwards."""
    if by == 0:
        return root
    return rebuild(
        root,
        lambda var, depth: Var(var.index + by, var.name) if var.index >= depth else var,
    )


def instantiate(body: Term, argument: Term) -> Term:
    """Return the body of a lambda with its variable replaced by `argument`, without capture.

    The β rule: ``(λx. body) argument ⟶ body[x := argument]``.
    """
    shifted: dict[int, Term] = {}

    def replace(var: Var, depth: int) -> Term:
        if var.index == depth:
            if depth not in shifted:
                shifted[depth] = shift(argument, depth)
            return shifted[depth]
        return Var(var.index - 1, var.name) if var.index > depth else var

    return rebuild(body, replace)
