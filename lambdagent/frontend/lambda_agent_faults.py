"""What a tree that is no agent is called in a finding, and what its writer should write."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from lark import Token

from lambdagent.frontend.lambda_tree import (
    Abstraction,
    Applied,
    Asked,
    Choice,
    Equation,
    Form,
    Predicate,
    Tree,
    token_of,
)
from lambdagent.ir.core import UNIT, Lit
from lambdagent.ir.data_text import data_text
from lambdagent.messages import Phrase, phrase

ASKED_HINT: Final = phrase('write `λx. LLM_{model, "prompt", name}(x)`')
TOOL_HINT: Final = phrase('write `("name", λx. Tool("name", x))`')
TEST_HINT: Final = phrase("write `{x | …}`, or `Truth(f)` for what an agent `f` answers")
BRANCH_HINT: Final = phrase('write `[("label", f), (_, g)]`')

GUARDED: Final = phrase(
    "an agent, a condition `{x | …}` or `Truth(g)`, `retry=…` and `fallback=…`"
)
REMEMBERING: Final = phrase("an agent and a store, as in `Memory(f, Γ ∪ local{size=20, ttl=0})`")
THINKER: Final = phrase("what thinks in a loop")
NO_NAME: Final = phrase("a branch without a name")


def branch_called(label: str) -> Phrase:
    """Return what the branch with this label is called."""
    return phrase("the branch `{label}`", label=label)


def definition_hint(name: str, meant: str) -> Phrase:
    """Return what the writer of the undefined `name` should write; `meant` is near to it."""
    if meant:
        return phrase("write `{meant}`", meant=meant)
    return phrase("define it, as in `{name} = …;`", name=name)


def unknown_name(name: str, names: Collection[str]) -> Phrase:
    """Return the reason why an expression over `names` cannot use `name`."""
    known = ", ".join(sorted(names))
    return phrase("`{name}` is no name here; known are {known}", name=name, known=known)


def called(tree: Tree) -> str:
    """Return a name for `tree`, in back-quotes where it is text."""
    token = token_of(tree)
    match tree:
        case Token() | Form() | Predicate() | Equation():
            return f"`{token}`"
        case Asked():
            return "`LLM_{…}`"
        case Abstraction():
            return f"`λ{token}. …`"
        case Choice():
            return "`CASE …`"
        case Lit(value):
            return "`()`" if value is UNIT else f"`{data_text(value)}`"
    return phrase("this")


def hint_for(tree: Tree) -> str:
    """Return what the writer of `tree` should write."""
    match tree:
        case Asked() | Abstraction(_, Asked() | Applied([Asked(), *_])):
            return ASKED_HINT
        case Form("Tool") | Abstraction(_, Form("Tool")):
            return phrase('write `λx. Tool("name", x)`')
        case Choice() | Abstraction(_, Choice()):
            return phrase('write `λx. CASE (f x) [("label", g), (_, h)] x`')
        case Predicate():
            return phrase("a predicate stands in `Guard(f, {x | …})`, or `IF {x | …} x THEN …`")
    return phrase("agents are `λx. LLM_{…}(x)`, `f >> g`, `Guard(f, …)` and the like")
