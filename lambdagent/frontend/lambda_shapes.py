"""The fixed λ around agents: a tree and a shape with holes → what fills the holes.

A shape is a text of the language; its names in capitals are holes. Names that the shape binds may
be others in the tree, the free ones (`history`, `classify`, `format`, `step`) are the same.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from lark import Token

from lambdagent.frontend.lambda_parser import parse_tree
from lambdagent.frontend.lambda_tree import (
    Abstraction,
    Applied,
    Asked,
    File,
    Form,
    Let,
    Predicate,
    Tree,
    name_of,
    parts,
    trees,
)
from lambdagent.ir import surface
from lambdagent.ir.core import Lit, Prim
from lambdagent.ir.labels import OTHER

NIL = Prim("nil")
_REACT = (
    "λself. λstate. let t = THINK state in CASE (classify t) TOOLS >> λobs. "
    "IF (obs = t) THEN t ELSE {stop}self(state ⊕ {shown})"
)
_STOP = "IF STOP THEN t ELSE "

# Each shape fits what the equation of its form in docs/desugar.md says in λ.
IDENTITY = "λx. x"
FST = "λp. fst p"
SND = "λp. snd p"
ASKED = ("λx. ASKED x", "λx. PARSER (ASKED x)")
HEARD = ("λx. ASKED (history ⊕ x)", "λx. PARSER (ASKED (history ⊕ x))")
ROUTE = "λx. CASE (CLASSIFIER x) ROUTES x"
IF = "λx. IF TEST x THEN YES x ELSE NO x"
ONCE = "λx. AGENT x"
LOOP = "λself. λx. let r = BODY x in IF TEST ⟨r, step⟩ THEN r ELSE self r"
ENDED = "⟨BODY, MaxTurns⟩"
# With and without observation, without and with an exit test.
REACT = tuple(
    (_REACT.format(stop=stop, shown=shown), observed)
    for shown, observed in (("format(t, obs)", True), ("format t", False))
    for stop in ("", _STOP)
)

_HOLES: dict[str, Any] = {
    **dict.fromkeys(
        ("THINK", "TOOLS", "CLASSIFIER", "ROUTES", "TEST", "YES", "NO", "AGENT", "BODY"), object
    ),
    "ASKED": Asked,
    "STOP": Predicate,
    "PARSER": Token,
}


def fill(shape: str, tree: Tree) -> dict[str, Any] | None:
    """Return what stands in the holes of `shape` if `tree` is of it, else None.

    The walk is as deep as the shape, not as the tree.
    """
    filler = _Filler()
    return filler.holes if filler.fits(_parsed(shape), tree) else None


@cache
def _parsed(shape: str) -> Tree:
    term = parse_tree(shape).term
    assert term is not None
    return term


def bodies(file: File) -> set[str]:
    """Return the names of definitions that are the body of a loop somewhere in `file`."""
    found: set[str] = set()
    for tree in trees(file):
        if isinstance(tree, Applied) and len(tree.items) == 2:
            ended = fill(ENDED, tree.items[1])
            loop = fill(LOOP, tree.items[1] if ended is None else ended["BODY"])
            if loop is not None and isinstance(loop["BODY"], Token):
                found.add(name_of(loop["BODY"]))
    for each in reversed(file.definitions):
        # ``b = a;`` is another name for the same agent.
        if isinstance(each.value, Token) and name_of(each.name) in found:
            found.add(name_of(each.value))
    return found


def as_body(agent: surface.Term) -> surface.Term:
    """Return `agent` as the body of a loop: a step right inside a loop would be a ReAct loop."""
    is_step = isinstance(agent, surface.ReActStep)
    return surface.Loop(agent, max_steps=1) if is_step else agent


def as_tool(agent: surface.Term) -> surface.Term:
    """Return the step of a loop that `as_body` made; others as they are."""
    match agent:
        case surface.Loop(surface.ReActStep() as step, max_steps=1, on_exhausted="last"):
            return step
    return agent


def misfit(shapes: Collection[str], tree: Tree) -> Tree:
    """Return what keeps `tree` from the one of `shapes` that it is most like."""
    fillers = [_Filler() for _ in shapes]
    for shape, filler in zip(shapes, fillers, strict=True):
        filler.fits(_parsed(shape), tree)
    return max(fillers, key=lambda filler: filler.seen).last


class _Filler:
    def __init__(self) -> None:
        self.seen = 0  # how many parts of the tree were looked at
        self.last: Tree = NIL  # and the last of them
        self.holes: dict[str, Any] = {}
        self.ours: dict[str, int] = {}  # the binder that binds a name, in the shape
        self.theirs: dict[str, int] = {}  # and in the tree
        self.bound = 0

    def fits(self, shape: Tree, tree: Tree) -> bool:
        self.seen, self.last = self.seen + 1, tree
        if isinstance(shape, Token):
            return self.leaf(shape, tree)
        if type(shape) is not type(tree):
            return False
        if isinstance(shape, Prim) and isinstance(tree, Prim):
            return (shape.name, shape.params) == (tree.name, tree.params)
        if isinstance(shape, Abstraction) and isinstance(tree, Abstraction):
            return self.abstraction(shape, tree)
        if isinstance(shape, Let) and isinstance(tree, Let):
            return self.fits(shape.value, tree.value) and self.under(
                shape.param, tree.param, shape.body, tree.body
            )
        ours, theirs = parts(shape), parts(tree)
        return len(ours) == len(theirs) and all(map(self.fits, ours, theirs))

    def leaf(self, shape: Token, tree: Tree) -> bool:
        name = str(shape)
        if name in _HOLES:
            self.holes[name] = tree
            return isinstance(tree, _HOLES[name])
        if not isinstance(tree, Token) or tree.type != shape.type:
            return False
        theirs = name_of(tree)
        ours = self.ours.get(name)
        return ours == self.theirs.get(theirs) and (ours is not None or name == theirs)

    def abstraction(self, shape: Abstraction, tree: Abstraction) -> bool:
        ours, theirs = shape.params[0], tree.params[0]
        return self.under(ours, theirs, _rest(shape), _rest(tree))

    def under(self, ours: Token, theirs: Token, shape: Tree, tree: Tree) -> bool:
        """Whether the bodies of two binders fit; a shape binds no name twice on its way."""
        self.bound += 1
        before = self.ours.copy(), self.theirs.copy()
        self.ours[str(ours)] = self.theirs[name_of(theirs)] = self.bound
        result = self.fits(shape, tree)
        self.ours, self.theirs = before
        return result


def _rest(tree: Abstraction) -> Tree:
    """Return what follows the first parameter: ``λx y. t`` is ``λx. λy. t``."""
    return Abstraction(tree.params[1:], tree.body) if len(tree.params) > 1 else tree.body


class Branch(NamedTuple):
    """A branch of a case; that of `_` has no label."""

    label: str
    is_rest: bool
    tree: Tree

    @property
    def is_other(self) -> bool:
        """Whether it goes to the default: ``("label", _)``."""
        return isinstance(self.tree, Token) and self.tree == OTHER


def link_of(tree: Tree, name: str) -> tuple[Tree, Tree] | None:
    """Return ``(a, b)`` if `tree` is the constant `name`, ``pair`` or ``cons``, of both."""
    match tree:
        case Applied([Prim(head), first, rest]) if head == name:
            return first, rest
    return None


def branch_of(item: Tree) -> Branch | None:
    """Return the branch that ``("label", tree)`` or ``(_, tree)`` is."""
    match link_of(item, "pair"):
        case (Lit(str(label)), tree):
            return Branch(label, is_rest=False, tree=tree)
        case (Token() as label, tree) if label == OTHER:
            return Branch(OTHER, is_rest=True, tree=tree)
    return None


def tool_key(tree: Abstraction) -> str | None:
    """Return what ``λx. Tool("key", x)`` names."""
    match tree:
        case Abstraction([param], Form("Tool", [Lit(str(key)), Token() as argument])):
            return key if argument == param else None
    return None
