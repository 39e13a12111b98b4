"""How the λ syntax writes names, sites and labels.

In: any text. Out: one lexeme from which the text can be told. See Note [How things are spelled].
"""

# Note [How things are spelled]
#
# site         The name ``kind:rest`` of a site is written ``kind.rest``, one lexeme:
#              ``llm.writer``, ``conv.read.writer``, ``tool.`search#2` ``. The kind is one of
#              `ir.sites.KINDS`; what follows its last dot is the rest, in back-quotes unless
#              it is a plain name. A name of another form is ``site["…"]``.
# back-quotes  hold any text; inside, ``\\`` is a backslash and ``\uXXXX`` any character, among
#              them the back-quote itself (``\u0060``) and control characters. A variable whose
#              name is a word of the language or a kind is in back-quotes too.
# label        ``@kind.name atom``, both spelled like the rest of a site: the application that
#              the atom is carries the label.
# literals     ``()``, ``null``, ``true``, ``false``, numbers and strings as in JSON, ``NaN``,
#              ``Infinity``, ``-Infinity``; a whole number of thousands of digits is ``0x…``.
#              Opaque JSON is ``json[1, 2]`` and ``json{"a": 1}``; ``[1, 2]`` is a list of the
#              calculus.
# constants    Bare constants are ``pair fst snd nil cons succ catch pmap``; ``cond`` is the
#              constant behind ``if … then … else …``, which stands only for three operands of
#              which two are thunks. ``case["a", "b"]`` and ``tag["a", "b", 0]`` list the
#              labels; the number says which label a tag puts on.
# free         ``^i`` is the variable of index i, counted from 0 over *all* binders of the core
#              term, the hidden ones of ``if`` among them; with `de_bruijn` nothing is hidden.

import re

from lambdagent.ir.core import Lit, Prim, Unit, takes
from lambdagent.ir.data import Record
from lambdagent.ir.data_text import data_text, escaped
from lambdagent.ir.sites import KINDS
from lambdagent.source import HIDDEN

# The site that ``a ⊕ b`` applies to the pair of both.
JOIN = "concat:join"
KEYWORDS = frozenset(
    (
        *("if", "then", "else", "case", "of", "IF", "THEN", "ELSE", "CASE", "OF"),
        *("let", "in", "lambda", "where", "true", "false", "null", "NaN", "Infinity"),
        *("pair", "fst", "snd", "nil", "cons", "succ", "cond", "catch", "fail", "Y", "guard"),
        *("par", "pmap", "church", "tag", "site", "json", "memory", "mcp", "host"),
        *(part for kind in KINDS for part in kind.split(".")),
    )
)
_PLAIN = re.compile(r"(?:[^\Wλ]++|')*+")
_BARE = {name: name for name in ("pair", "fst", "snd", "nil", "cons", "succ", "catch", "pmap")}
_BARE["if"] = "cond"
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_INDEXED_Y = re.compile(r"Y(?:_\d+|[₀-₉]+)")


def variable_name(text: str, *, ascii: bool = False) -> str:  # noqa: A002
    """Return `text` as the name of a variable; words of the language are in back-quotes.

    >>> variable_name("x"), variable_name("case"), variable_name("my agent")
    ('x', '`case`', '`my agent`')
    """
    if text in KEYWORDS or _INDEXED_Y.fullmatch(text):
        return f"`{escaped(text, ascii=ascii)}`"
    return text if text == "_" else spelled(text, ascii=ascii)


def spelled(text: str, *, ascii: bool = False) -> str:  # noqa: A002
    """Return `text` as a name without regard to words of the language: plain or in back-quotes.

    >>> spelled("writer"), spelled("search#2")
    ('writer', '`search#2`')
    """
    plain = text[:1].isalpha() and _PLAIN.fullmatch(text) is not None and not HIDDEN.search(text)
    if plain and (text.isascii() or not ascii):
        return text
    quoted = text.replace("\\", "\\\\").replace("`", "\\u0060")
    return f"`{escaped(quoted, ascii=ascii)}`"


def site_reference(name: str, *, ascii: bool = False) -> str:  # noqa: A002
    """Return the name of a site as the λ syntax writes it.

    >>> site_reference("conv.read:writer")
    'conv.read.writer'
    """
    kind, colon, rest = name.partition(":")
    if colon and kind in KINDS:
        return f"{kind}.{spelled(rest, ascii=ascii)}"
    return f"site[{data_text(name, ascii=ascii)}]"


def literal_text(term: Lit, *, ascii: bool = False) -> str:  # noqa: A002
    """Return a constant of the program as the λ syntax writes it."""
    value = term.value
    if isinstance(value, Unit):
        return "()"
    text = data_text(value, ascii=ascii)
    return f"json{text}" if isinstance(value, tuple | Record) else text


def constant_text(prim: Prim, *, ascii: bool, for_people: bool) -> str:  # noqa: A002
    """Return a constant of the calculus as the λ syntax writes it.

    Args:
        prim: The constant.
        ascii: Use nothing but ASCII.
        for_people: Write ``Y₂₀`` where that says all.
    """
    params = prim.params
    match prim.name, params:
        case "site", (str(name),):
            return site_reference(name, ascii=ascii)
        case ("tag", (tuple(labels), index)):
            params = (*labels, index)
        case ("case", (tuple(labels),)):
            params = labels
        case (name, ()) if name in _BARE:
            return _BARE[name]
    if for_people and prim.name == "fix" and not ascii and takes(prim) == 2:
        return f"Y{data_text(params[0]).translate(_SUBSCRIPTS)}"
    name = "Y" if prim.name == "fix" else spelled(prim.name, ascii=ascii)
    return f"{name}{data_text(params, ascii=ascii)}"
