"""λ text → tree with names, by the grammar `lambda.lark`.

See Note [Our own loop].
"""

# Note [Our own loop]
#
# Lark makes the table of the LALR(1) automaton and says which lexemes each of its states takes;
# the loop that goes through it is ours. It takes a third of the time of Lark's: blanks and a
# lexeme are one match, signs that mean nothing by themselves make no object, places are worked out
# when somebody asks, and rules that pass their only part on call nothing.

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_parser_state import ParseConf, ParserState

from lambdagent.frontend.lambda_builder import TREE_BUILDER
from lambdagent.frontend.lambda_tree import File, Lexeme
from lambdagent.source import place_of

_BLANKS = r"(?:[\s\ufeff]++|(?:\#|--)[^\n]*+)*+"
_START, _END = "file", "$END"
# What lark raises; it does not say what it takes.
_NO_LEXEME: Callable[..., UnexpectedCharacters] = UnexpectedCharacters
_NO_PLACE: Callable[..., UnexpectedToken] = UnexpectedToken
_Match: TypeAlias = "Callable[[str, int], re.Match[str] | None]"


def parse_tree(text: str) -> File:
    """Return the tree of `text`; linear in it, whatever its nesting.

    Raises:
        UnexpectedInput: The text is not of the grammar.
        LambdaSyntaxError: A lexeme of it is wrong.
    """
    return cast(File, _automaton().parse(text))


@cache
def _automaton() -> _Automaton:
    return _Automaton(
        Lark.open_from_package(
            __name__, "lambda.lark", parser="lalr", start=_START, maybe_placeholders=False
        )
    )


class _Reduction(NamedTuple):
    """What a rule makes of the parts on the stack.

    Attributes:
        size: How many there are.
        origin: What they are together.
        part: The number of the part that is passed on as it is; -1 if they are made into one.
        build: Makes them into one; None if they stay a list, for the rule around it.
        passes: A single part that comes of them is passed on, too.
        taken: Which parts have a meaning, and whether such a part is a list of several.
    """

    size: int
    origin: str
    part: int
    build: Callable[[list[Any]], Any] | None
    passes: bool
    taken: tuple[tuple[int, bool], ...]

    def of(self, parts: list[Any]) -> Any:
        """Return what the parts come to."""
        made: list[Any] = []
        for number, is_list in self.taken:
            if not is_list:
                made.append(parts[number])
            elif made:
                made += parts[number]
            else:  # nobody else has the list
                made = parts[number]
        if self.passes and len(made) == 1:
            return made[0]
        return made if self.build is None else self.build(made)


class _Automaton:
    """The table of the grammar, by number of state.

    Attributes:
        moves: By kind of lexeme, the next state or the rule that ends here.
        goes: By what a rule made, the next state.
        matches: Finds blanks and one of the lexemes that the state takes.
    """

    def __init__(self, lark: Lark) -> None:
        frontend: Any = lark.parser
        rules: list[Any] = lark.rules
        self.table = frontend.parser.parser.parse_table
        self.lexer = frontend.lexer
        self.first: int = self.table.start_states[_START]
        self.last: int = self.table.end_states[_START]
        self.moves: list[dict[str, int | _Reduction]] = []
        self.goes: list[dict[str, int]] = []
        self.matches: list[_Match] = []
        kept = {
            str(sign.name)
            for rule in rules
            for sign in rule.expansion
            if sign.is_term and not sign.filter_out
        }
        self.kept = frozenset(kept)
        reductions: dict[int, _Reduction] = {}
        scanners: dict[int, _Match] = {}
        for state in range(len(self.table.states)):
            moves: dict[str, int | _Reduction] = {}
            goes: dict[str, int] = {}
            for name, (_, target) in self.table.states[state].items():
                if not isinstance(target, int):
                    if id(target) not in reductions:
                        reductions[id(target)] = _reduction(target)
                    moves[str(name)] = reductions[id(target)]
                elif name.isupper():
                    moves[str(name)] = target
                else:
                    goes[str(name)] = target
            self.moves.append(moves)
            self.goes.append(goes)
            lexer = self.lexer.lexers[state]
            if id(lexer) not in scanners:
                scanners[id(lexer)] = _scanner(lexer.terminals, lexer.ignore_types)
            self.matches.append(scanners[id(lexer)])

    def parse(self, text: str) -> Any:
        matches, all_moves, goes, kept = self.matches, self.moves, self.goes, self.kept
        state, at, kind = self.first, 0, ""
        states, parts = [state], list[Any]()
        while True:
            match = matches[state](text, at)
            if match is None:
                raise self.misread(text, at, states, parts)
            kind = match.lastgroup or _END
            move = all_moves[state].get(kind)
            while type(move) is _Reduction:
                size = move.size
                if move.part < 0 or size > 1:
                    cut = len(parts) - size
                    inside = parts[cut:]
                    parts[cut:] = [inside[move.part] if move.part >= 0 else move.of(inside)]
                if size:
                    del states[-size:]
                state = goes[states[-1]][move.origin]
                states.append(state)
                if state == self.last and kind == _END:
                    return parts[0]
                move = all_moves[state].get(kind)
            if type(move) is not int:
                raise self.misplaced(text, match, states, parts)
            at = match.end()
            parts.append(
                Lexeme(kind, match[kind], match.start(kind), text) if kind in kept else None
            )
            state = move
            states.append(state)

    # --- faults ---

    def misplaced(
        self, text: str, match: re.Match[str], states: list[int], parts: list[Any]
    ) -> UnexpectedToken:
        """Return the error about a lexeme that does not fit what is before it."""
        kind = match.lastgroup or _END
        expected = {name for name in self.table.states[states[-1]] if name.isupper()}
        start = len(text) if kind == _END else match.start(kind)
        return self.error(text, (kind, start, match.end()), expected, (states, parts))

    def misread(
        self, text: str, at: int, states: list[int], parts: list[Any]
    ) -> UnexpectedToken | UnexpectedCharacters:
        """Return the error about what is no lexeme, or none that can stand there."""
        root = self.lexer.root_lexer
        lexer = self.lexer.lexers[states[-1]]
        allowed = {each.name for each in lexer.terminals} - lexer.ignore_types
        match = _scanner(root.terminals, root.ignore_types)(text, at)
        if match is not None and match.lastgroup is not None:
            found = (match.lastgroup, match.start(match.lastgroup), match.end())
            return self.error(text, found, allowed, (states, parts))
        blanks = re.compile(_BLANKS).match(text, at)
        start = at if blanks is None else blanks.end()
        return _NO_LEXEME(text, start, *place_of(text, start), allowed=allowed)

    def error(
        self,
        text: str,
        found: tuple[str, int, int],
        expected: set[str],
        stacks: tuple[list[int], list[Any]],
    ) -> UnexpectedToken:
        kind, start, end = found
        token = Token(kind, text[start:end], start, *place_of(text, start))
        conf = ParseConf(self.table, {}, _START)
        nothing: Any = None  # no lexer: whoever asks what fits feeds the lexemes
        return _NO_PLACE(token, expected, state=ParserState(conf, nothing, *stacks))


def _scanner(terminals: Iterable[Any], blank: Iterable[str]) -> _Match:
    """Return what finds blanks, and then the first of `terminals` that fits, or the end."""
    kinds = "|".join(
        f"(?P<{each.name}>{each.pattern.to_regexp()})"
        for each in terminals
        if each.name not in blank
    )
    return re.compile(rf"{_BLANKS}(?:{kinds}{'|' if kinds else ''}\Z)").match


def _reduction(rule: Any) -> _Reduction:
    taken = tuple(
        (number, not sign.is_term and sign.name.startswith("_"))
        for number, sign in enumerate(rule.expansion)
        if not (sign.is_term and sign.filter_out)
    )
    origin = str(rule.origin.name)
    passes = bool(rule.options.expand1 and not rule.alias)
    if passes and len(taken) == 1 and not taken[0][1]:
        return _Reduction(len(rule.expansion), origin, taken[0][0], None, passes, taken)
    build = None if origin.startswith("_") else getattr(TREE_BUILDER, rule.alias or origin)
    return _Reduction(len(rule.expansion), origin, -1, build, passes, taken)
