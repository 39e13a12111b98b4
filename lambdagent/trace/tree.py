"""Core terms → trees of lines, one node a line; chains of abstractions and of arguments share one.

let r =
├─ llm.think
│  └─ "hello"
└─ if
   ├─ ‹r›
   …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from lambdagent.ir.core import App, Lam, Prim, Term, Var
from lambdagent.ir.printer import print_term

Scope: TypeAlias = tuple[str, ...]  # names of variables, the innermost first

# Lines of one tree; what is left out is marked.
_MOST = 400


class Branch(NamedTuple):
    """One line of a tree.

    Attributes:
        lead: The lines of the drawing that lead to it.
        text: What is written at the node.
        is_marked: It is the node that is to be seen first.
    """

    lead: str
    text: str
    is_marked: bool = False


class _Place(NamedTuple):
    term: Term
    scope: Scope
    lead: str
    below: str


def tree(root: Term, marked: Term | None, texts: Mapping[int, str]) -> list[Branch]:
    """Return `root` as a tree of at most `_MOST` lines.

    Args:
        root: Any term.
        marked: The node that is to be seen first.
        texts: What is written for some nodes instead of their parts, by identity.
    """
    branches: list[Branch] = []
    stack = [_Place(root, (), "", "")]
    while stack:
        if len(branches) == _MOST:
            branches.append(Branch(stack[-1].lead, "…"))
            break
        place = stack.pop()
        opened = _opened(place.term, place.scope, marked, texts)
        branches.append(Branch(place.lead, opened.text, place.term is marked))
        for i, (part, scope) in enumerate(reversed(opened.parts)):
            corner, line = ("├─ ", "│  ") if i else ("└─ ", "   ")
            stack.append(_Place(part, scope, place.below + corner, place.below + line))
    return branches


class _Opened(NamedTuple):
    """What is written at a node, and the nodes under it with the variables that they see."""

    text: str
    parts: Sequence[tuple[Term, Scope]] = ()


def _opened(term: Term, scope: Scope, marked: Term | None, texts: Mapping[int, str]) -> _Opened:
    def is_plain(inner: Term) -> bool:
        return inner is not marked and id(inner) not in texts

    if id(term) in texts:
        return _Opened(texts[id(term)])
    if type(term) is Lam:
        names = [term.name]
        inner = term.body
        while type(inner) is Lam and is_plain(inner):
            names.append(inner.name)
            inner = inner.body
        return _Opened(f"λ{' '.join(names)}.", [(inner, (*reversed(names), *scope))])
    if type(term) is App:
        if type(term.fun) is Lam and is_plain(term.fun):
            body = (term.fun.body, (term.fun.name, *scope))
            return _Opened(f"let {term.fun.name} =", [(term.arg, scope), body])
        arguments = [(term.arg, scope)]
        head = term.fun
        while type(head) is App and is_plain(head):
            arguments.append((head.arg, scope))
            head = head.fun
        arguments.reverse()
        if type(head) in {Var, Prim} and head is not marked:
            return _Opened(_leaf(head, scope, texts), arguments)
        return _Opened("apply", [(head, scope), *arguments])
    return _Opened(_leaf(term, scope, texts))


def _leaf(term: Term, scope: Scope, texts: Mapping[int, str]) -> str:
    if id(term) in texts:
        return texts[id(term)]
    if type(term) is not Var:
        return print_term(term)
    if term.index >= len(scope):
        return term.name or f"^{term.index}"
    name = scope[term.index]
    # A variable that another of the same name hides is told by its number.
    return name if scope.index(name) == term.index else f"{name}^{term.index}"
