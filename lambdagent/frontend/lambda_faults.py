"""What a syntax error of a λ text means, and what its writer probably wanted.

In: the parser's error and the text. Out: one diagnostic with the words of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, TypeAlias

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from lambdagent.errors import Diagnostic, finding
from lambdagent.ir.sites import KINDS
from lambdagent.messages import phrase
from lambdagent.source import HIDDEN, Span, span_at

Fault: TypeAlias = "UnexpectedToken | UnexpectedCharacters"

_PAIRS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}
_CLOSERS = set(_PAIRS.values())
_SKIPPED = r"""(?:"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|(?:\#|--)[^\n]*)"""
_LEXEME = re.compile(rf"{_SKIPPED}|(?P<bracket>[()\[\]{{}}⟨⟩])")

# Terminals in words; those of `_ATOM` together are "a term".
_WORDS = {
    "_LAMBDA": "`λ`",
    "_DOT": "`.`",
    "_ARROW": "`⇒`",
    "_LET": "`let`",
    "_IN": "`in`",
    "_IF": "`if`",
    "_THEN": "`then`",
    "_ELSE": "`else`",
    "_CASE": "`case`",
    "_OF": "`of`",
    "_WHERE": "`where`",
    "NAME": phrase("a name"),
    "STRING": phrase("a text"),
    "SITE": phrase("a site"),
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "MODEL": phrase("a model"),
    "SITE_INDEX": '`site["…"]`',
    "$END": phrase("the end"),
}
_ATOM = {"NAME", "SITE", "INDEX", "CONSTANT", "NUMBER", "LPAR"}
_VALUE = {"NUMBER", "STRING", "WORD"}
# Said only when nothing else fits: what may follow any operand.
_GOES_ON = {"_THEN_TO", "_JOIN", "VBAR"}
_CELL = "`::`"

_INFIX = "-+*/%<>!&|^~?"


def explained(error: Fault, text: str) -> Diagnostic:
    """Return what is wrong with `text`."""
    if isinstance(error, UnexpectedCharacters):
        return _character(error, text)
    token = error.token
    at_end = token.type == "$END"
    position = len(text) if at_end else token.start_pos or 0
    where = end_of(text) if at_end else span_at(text, position, len(token))
    unbalanced = _unbalanced(text, position, where, at_end=at_end, found=str(token))
    if unbalanced is not None:
        return unbalanced
    expected = _accepted(error)
    if {"_DOT", "UNDERSCORE"} <= expected:
        return finding("P007", where)
    hint = _hint(text[:position], "" if at_end else str(token), expected)
    words = _in_words(expected)
    if at_end:
        return finding("P003", where, expected=words, hint=hint)
    return finding("P001", where, got=f"`{token}`", expected=words, hint=hint)


# --- characters ----------------------------------------------------------------------------------


def _character(error: UnexpectedCharacters, text: str) -> Diagnostic:
    position = error.pos_in_stream or 0
    found = text[position]
    where = span_at(text, position, 1)
    if found in '"`':
        line_end = text.find("\n", position)
        where = span_at(text, position, (len(text) if line_end < 0 else line_end) - position)
        what = phrase("text") if found == '"' else phrase("quoted name")
        return finding("P008", where, what=what, close=f"`{found}`" if found == '"' else found)
    return finding("P002", where, got=_visible(found), hint=_character_hint(text, position))


def _visible(character: str) -> str:
    shown = character.isprintable() and not HIDDEN.match(character)
    return f"`{character}`" if shown else f"U+{ord(character):04X}"


def _character_hint(text: str, position: int) -> str:
    found = text[position]
    if found == "-":
        return phrase("there is no infix minus; a negative number is one word, as in `-3`")
    if found == "^":
        return phrase(
            "a variable without a name is `^0`, `^1`, …, counted from the innermost binder"
        )
    if found == "@":
        return phrase("a mark is `@llm.think (f x)`")
    if found in _INFIX:
        return phrase(
            "there is no infix `{found}`; functions stand before their arguments: `f x y`",
            found=found,
        )
    if found == "'":
        return phrase("a text stands in double quotes")
    if found in "“”„‘’«»":
        return phrase('a text stands in plain double quotes: "…"')
    if found.isdigit() or found == "0":
        return phrase("a number is written as in JSON, or in hexadecimal as `0xff`")
    return phrase("a name of other characters is written in back-quotes")


# --- brackets ------------------------------------------------------------------------------------


def _brackets(text: str, stop: int) -> Iterator[tuple[int, str]]:
    for match in _LEXEME.finditer(text, 0, stop):
        if match["bracket"]:
            yield match.start(), match["bracket"]


def _unbalanced(
    text: str, position: int, where: Span, *, at_end: bool, found: str
) -> Diagnostic | None:
    """Return the finding about a bracket, if the error is one."""
    if not at_end and found not in _CLOSERS:
        return None
    opened: list[tuple[int, str]] = []
    for place, bracket in _brackets(text, position):
        if bracket in _PAIRS:
            opened.append((place, bracket))
        elif opened:
            opened.pop()
    if not opened:
        return None if at_end else finding("P005", where, close=found)
    place, bracket = opened[-1]
    wanted = _PAIRS[bracket]
    if at_end:
        return finding("P004", span_at(text, place, 1), open=bracket, close=wanted)
    if wanted == found:
        return None
    line = span_at(text, place, 1).line
    return finding("P006", where, close=found, open=bracket, line=line, wanted=wanted)


# --- words ---------------------------------------------------------------------------------------


def _accepted(error: UnexpectedToken) -> set[str]:
    """Return the terminals that could stand in place of the wrong one."""
    state: Any = error.state
    quiet = copy(state.parse_conf)
    quiet.callbacks = {}
    accepted = set()
    for name in error.expected:
        trial = state.copy(deepcopy_values=False)
        trial.parse_conf = quiet
        try:
            trial.feed_token(Token(name, ""), name == "$END")
        except UnexpectedToken:
            continue
        accepted.add(name)
    return accepted


def _in_words(expected: set[str]) -> str:
    words: list[str] = []
    rest = set(expected)
    if rest >= _ATOM:
        starts = _ATOM | _VALUE | {name for name in rest if name not in _CLOSING}
        words.append(phrase("a term"))
        rest -= starts
    elif rest >= _VALUE:
        words.append(phrase("a value"))
        rest -= {*_VALUE, "LSQB", "LBRACE"}
    if rest - _GOES_ON:
        rest -= _GOES_ON
    words += sorted(_WORDS.get(name, _symbol(name)) for name in rest if name != "UNDERSCORE")
    return _listed(dict.fromkeys(words))


_CLOSING = {
    *("RPAR", "RSQB", "RBRACE", "COMMA", "SEMICOLON", "EQUAL", "$END", "VBAR", "_DOT", "_ARROW"),
    *("_IN", "_THEN", "_ELSE", "_OF", "_WHERE", "_THEN_TO", "_JOIN"),
}


def _symbol(name: str) -> str:
    if name == "_THEN_TO":
        return "`>>`"
    if name == "_JOIN":
        return "`++`"
    if name == "VBAR":
        return "`|`"
    return _CELL if name.startswith("__ANON") else name.strip("_").casefold()


def _listed(words: Iterable[str]) -> str:
    *before, last = [*words] or [phrase("less")]
    if not before:
        return last
    listed = before[0]
    for word in before[1:]:
        listed = phrase("{words}, {last}", words=listed, last=word)
    return phrase("{words} or {last}", words=listed, last=last)


def _hint(before: str, found: str, expected: set[str]) -> str:
    """Return what the writer probably wanted to write."""
    for signs, words, hint in _HINTS_BY_SIGN:
        if found in signs and words.search(before):
            return hint
    for terminal, words, hint in _HINTS_BY_TERMINAL:
        if terminal in expected and words.search(before):
            return hint
    return phrase("docs/language.md shows how each form is written")


_ANYTHING = re.compile("")
_FUNCTION_WORDS = re.compile(r"\b(?:fun|fn|function|def)\b[^\n]*$")
_RECURSION_WORDS = re.compile(r"\b(?:letrec|rec)\b[^\n]*$")
_LAMBDA_WORD = re.compile(r"\blambda\b[^\n]*$")
_LLM_WORD = re.compile(r"\bLLM$")
_OTHER_KINDS = re.compile(r"\b(?:memory|mem|mcp|host|conv)$")
_ARROWS = (".", "->", "→", "=>", "⇒")
_NO_LETREC = phrase("there is no `letrec`: use Y[n], as in `Y[20] (λself x. …) (λx. x)`")

# By the wrong sign and what stands before it; the first that fits is said.
_HINTS_BY_SIGN = (
    ((":",), _LAMBDA_WORD, phrase("an abstraction is written `lambda x. x`, with a dot")),
    ((".",), _OTHER_KINDS, phrase("the kinds of sites are {known}", known=", ".join(KINDS))),
    (_ARROWS, _FUNCTION_WORDS, phrase("an abstraction is written `λx. …` or `\\x. …`")),
    (_ARROWS, _ANYTHING, phrase("an abstraction begins with `λ`, `\\` or `lambda`")),
    (("{",), _LLM_WORD, phrase('a model call is `LLM_{model, "prompt", name}(x)`')),
    (("=",), _RECURSION_WORDS, _NO_LETREC),
    (("=",), _FUNCTION_WORDS, phrase("a function is written `name = λx. …;`")),
    (
        ("=",),
        _ANYTHING,
        phrase("a definition is `name = term;`, a local one `let name = term in term`"),
    ),
)
# By what is expected.
_HINTS_BY_TERMINAL = (
    ("_IN", _ANYTHING, phrase("`let x = t` goes on with `in`")),
    ("_ELSE", _ANYTHING, phrase("an `if` has both branches: `if c then a else b`")),
    ("EQUAL", _RECURSION_WORDS, _NO_LETREC),
    ("_OF", _ANYTHING, phrase('write `case t of {"label" ⇒ λx. …}`')),
    ("_ARROW", _ANYTHING, phrase('an arm is `"label" ⇒ λx. …`')),
)


# --- places --------------------------------------------------------------------------------------


def end_of(text: str) -> Span:
    """Return the place behind the last character that is no blank."""
    return span_at(text, len(text.rstrip()), 1)


def first_of(words: Iterable[str], text: str) -> tuple[str, Span] | None:
    """Return the first of `words` in `text`, and where; what texts and comments hold is none."""
    wanted = "|".join(map(re.escape, words))
    pattern = re.compile(rf"{_SKIPPED}|(?<![\w'.])(?P<word>{wanted})(?![\w'])")
    for match in pattern.finditer(text):
        if match["word"]:
            return match["word"], span_at(text, match.start(), len(match["word"]))
    return None
