r"""Core term → LaTeX in mathematical mode, for papers and slides; it is not read back.

``\lambda x.\,t``, ``\langle a, b\rangle``, ``\mathbf{Y}_{20}``. In: what `printer` writes, lexeme
by lexeme. So precedence and names are those of the λ syntax.
"""

import re

from lambdagent.ir.core import Term
from lambdagent.ir.printer import print_term
from lambdagent.ir.spelling import KEYWORDS

_LEXEME = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*") | (?P<quoted>[@\w.]*`[^`]*`(?:\.\w+)?)
    | (?P<fix>Y\[(?P<n>\d+)\]) | (?P<mark>@[\w']+\.[\w']+\ ?)
    | (?P<site>(?:[^\W\dλ]+\.)+[^\Wλ][^\Wλ']*) | (?P<dot>\.\ )
    | (?P<name>[^\W\dλ](?:[^\Wλ]|')*) | (?P<sign>::|.) """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {
    "λ": r"\lambda ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "⇒": r"\Rightarrow ",
    "::": r"\mathbin{::}",
    "{": r"\{",
    "}": r"\}",
    " ": r"\ ",
    "^": r"\#",
    "_": r"\_",
    "#": r"\#",
    "%": r"\%",
    "&": r"\&",
    "$": r"\$",
}
_SPECIAL = re.compile(r"[\\{}$&#%_^~]")
_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_SUBSCRIPT = re.compile(r"([₀-₉]+|_[0-9]+)$")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789", "_")


def latex(term: Term, *, de_bruijn: bool = False, sugar: bool = True) -> str:
    r"""Return `term` in LaTeX, with ``let`` for an abstraction that is applied if `sugar`.

    >>> from lambdagent.ir.core import Lam, Var
    >>> print(latex(Lam(Var(0, "x"), "x")))
    \lambda x.\,x
    """
    return _LEXEME.sub(_translated, print_term(term, de_bruijn=de_bruijn, sugar=sugar))


def _translated(match: re.Match[str]) -> str:
    text = match[0]
    if match["fix"]:
        return rf"\mathbf{{Y}}_{{{match['n']}}}"
    if match["dot"]:
        return r".\,"
    if match["name"]:
        return _name(text)
    if match["sign"]:
        return _SIGNS.get(text, text)
    if match["mark"]:
        return ""
    style = "text" if match["text"] else "mathsf"
    return rf"\{style}{{{_escaped(text)}}}"


def _name(text: str) -> str:
    if text in KEYWORDS:
        return rf"\mathbf{{{_escaped(text)}}}"
    numbered = _SUBSCRIPT.search(text)
    stem = text[: numbered.start()] if numbered else text
    shown = _escaped(stem) if len(stem) == 1 else rf"\mathit{{{_escaped(stem)}}}"
    return f"{shown}_{{{numbered[0].translate(_DIGITS)}}}" if numbered else shown


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPES.get(found[0], f"\\{found[0]}"), text)
