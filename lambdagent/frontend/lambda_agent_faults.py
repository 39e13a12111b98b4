"""What a tree that is no agent is called in a finding, and what its writer should write."""

from __future__ import annotations

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

ASKED_HINT: Final = 'write `λx. LLM_{model, "prompt", name}(x)`'
TOOL_HINT: Final = 'write `("name", λx. Tool("name", x))`'
TEST_HINT: Final = "write `{x | …}`, or `Truth(f)` for what an agent `f` answers"
BRANCH_HINT: Final = 'write `[("label", f), (_, g)]`'


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
    return "this"


def hint_for(tree: Tree) -> str:
    """Return what the writer of `tree` should write."""
    match tree:
        case Asked() | Abstraction(_, Asked() | Applied([Asked(), *_])):
            return ASKED_HINT
        case Form("Tool") | Abstraction(_, Form("Tool")):
            return 'write `λx. Tool("name", x)`'
        case Choice() | Abstraction(_, Choice()):
            return 'write `λx. CASE (f x) [("label", g), (_, h)] x`'
        case Predicate():
            return "a predicate stands in `Guard(f, {x | …})`, or `IF {x | …} x THEN …`"
    return "agents are `λx. LLM_{…}(x)`, `f >> g`, `Guard(f, …)` and the like"
