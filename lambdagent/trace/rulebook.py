"""The rules of the machine as people read them: a name, its line of the calculus, a sentence.

Source: semantics.md §3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """What one transition does.

    Attributes:
        kind: The kind of reduction: β δ μ γ ε π; empty for administrative transitions.
        line: The rule in the notation of docs/machine.md.
        sentence: What it does, for people who do not know the notation.
    """

    name: str
    kind: str
    line: str
    sentence: str


_ROWS = (
    ("beta", "β", "(λx. t) v ⟶ t[x := v]", "The argument takes the place of the variable."),
    ("fst", "δ", "fst ⟨a, b⟩ ⟶ a", "The first part of the pair is taken."),
    ("snd", "δ", "snd ⟨a, b⟩ ⟶ b", "The second part of the pair is taken."),
    ("if", "δ", "if true (λ_.a) (λ_.b) ⟶ a", "The condition decides which branch goes on."),
    ("case", "δ", "case[L] l⟨v⟩ … (λx.t) … ⟶ t[x := v]", "The label chooses the branch."),
    ("succ", "δ", "succ i ⟶ i + 1", "One is added."),
    ("host", "δ", "s v ⟶ Δₛ(v)", "A function of the machine itself answers; nobody is asked."),
    ("unroll", "μ", "fix_{n+1}(g, e) v ⟶ g (fix_n(g, e)) v", "One more round of the loop begins."),
    ("exhausted", "μ", "fix_0(g, e) v ⟶ e v", "No rounds are left, so the last word is taken."),
    ("accept", "γ", "check[r] f P h x y, true ⟶ y", "The guard lets the answer through."),
    ("retry", "γ", "check[r+1] f P h x y, false ⟶ retry[r] f P h x", "The guard asks once more."),
    ("fall back", "γ", "check[0] f P h x y, false ⟶ h y", "The guard gives up and falls back."),
    ("answer", "ε", "susp(s, v, κ), w ⟶ w", "The answer of the world arrives."),
    ("store", "ε", "s v, σ ⟶ w, σ′", "The store is read or changed."),
    ("fork", "π", "par[k] t₁ … tₖ ⟶ join(t₁ … tₖ)", "The branches begin, each a thread."),
    ("join", "", "join(v₁ … vₖ) ⟶ ⟨v₁, … vₖ⟩", "All branches are done; their answers meet."),
    ("ask", "", "s v ⟶ susp(s, v, κ)", "The thread waits for the world to answer."),
    ("fail", "", "fail e, K[catch □ h] ⟶ h e", "An error looks for its handler."),
    ("stuck", "", "no rule ⟶ fail Stuck", "No rule fits, which is an error."),
    ("run guarded", "", "guard[r] f P h x ⟶ retry[r] f P h x (f x)", "The guarded agent runs."),
    (
        "check",
        "",
        "retry[r] f P h x y ⟶ check[r] f P h x y (P y)",
        "The guard looks at the answer.",
    ),
    ("catch", "", "catch (λ_.t) h ⟶ t, catch □ h", "What follows has a handler for errors."),
    ("no error", "", "catch (λ_.v) h ⟶ v", "Nothing failed, so the handler is dropped."),
    ("label", "", "label⟨k, n⟩ v ⟶ v", "What is named has ended; steps go into the trace."),
    ("variable", "", "⟨x, ρ, κ⟩ ⟶ ⟨ρ(x), κ⟩", "The variable is looked up."),
    ("closure", "", "⟨λx.t, ρ, κ⟩ ⟶ ⟨clo(x, t, ρ), κ⟩", "The function keeps its environment."),
    ("constant", "", "⟨c, ρ, κ⟩ ⟶ ⟨c, κ⟩", "A constant is a value."),
    ("function", "", "⟨t u, ρ, κ⟩ ⟶ ⟨t, ρ, (□ u)ρ : κ⟩", "First the function is evaluated."),
    ("argument", "", "⟨f, (□ u)ρ : κ⟩ ⟶ ⟨u, ρ, (f □) : κ⟩", "Next the argument is evaluated."),
    ("operand", "", "⟨c v₁ … tᵢ …⟩ ⟶ ⟨tᵢ, (c v₁ … □ …) : κ⟩", "An operand is evaluated."),
    ("build", "", "c v₁ … vₖ ⟶ value", "A constant and its operands are a value."),
    ("done", "", "⟨v, ()⟩ ⟶ done v", "Nothing is left to do."),
)

RULES: Mapping[str, Rule] = {row[0]: Rule(*row) for row in _ROWS}
