"""Which transitions show a text: in the rule, the site, the redex or what it becomes."""

from __future__ import annotations

from collections.abc import Collection

from lambdagent.ir.core import Lam, Lit, Prim, Term, Unit, Var
from lambdagent.ir.data_text import data_text
from lambdagent.ir.walk import nodes
from lambdagent.trace.listing import kind_name
from lambdagent.trace.sight import Sight
from lambdagent.trace.transition import Transition

# Words of the notation, which stand in texts of terms but at no node.
_NOTATION = "let in if then else case of perform church unit true false null infinity nan"


class Finder:
    """Looks for one text; capitals do not count."""

    def __init__(self, sight: Sight, text: str, known: Collection[str]) -> None:
        """Look for `text` as `sight` shows it, in which the names `known` may stand for terms."""
        self._sight = sight
        self._needle = text.casefold()
        others = [*_NOTATION.split(), *(name.casefold() for name in known)]
        # A word of two letters or more stands at some node, if it is none of the notation; that
        # is looked at first, since it takes a tenth of the time of printing.
        self._is_word = (
            len(text) > 1 and text.isalpha() and not any(self._needle in word for word in others)
        )

    def shows(self, made: Transition) -> bool:
        """Whether the text occurs in what is shown of a transition."""
        names = (made.rule.name, made.rule.kind, kind_name(made), made.site.casefold())
        if self._needle in names or self._needle in f"{made.rule.name} {names[-1]}":
            return True
        return self._occurs(made.redex) or self._occurs(made.result)

    def _occurs(self, term: Term) -> bool:
        if self._is_word and not any(self._needle in _word(node) for node in nodes(term)):
            return False
        return self._needle in self._sight.term(term).casefold()


def _word(node: Term) -> str:
    """Return what is written for a node itself, in small letters."""
    match node:
        case Var(_, name) | Lam(_, name):
            return name.casefold()
        case Prim(name, params):
            return f"{name} {data_text(params)}".casefold()
        case Lit(value) if not isinstance(value, Unit):
            return data_text(value).casefold()
    return ""
