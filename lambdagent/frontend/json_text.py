"""JSON text → data; however deep it nests, and with the place of what is wrong.

As Python's own reader, this one takes ``NaN`` and ``Infinity``. It takes no key of an object
twice, and reads the numbers of Note [Numbers that JSON lacks] in `ir.data_text`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from lambdagent.ir.data import Data, NotDataError, Record, freeze
from lambdagent.ir.data_text import NUMBER_KEY, numbered
from lambdagent.messages import phrase
from lambdagent.source import Span, span_at

_LEXEME = re.compile(
    r"""[ \t\n\r]*(?:
    (?P<mark>[\[\]{},:]) | (?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")
    | (?P<number>-?(?:0|[1-9][0-9]*)(?P<part>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))(?![\w.])
    | (?P<word>(?:true|false|null|NaN|-?Infinity)(?!\w))
    | (?P<end>\Z) )""",
    re.VERBOSE,
)
_SOMETHING = re.compile(r"[ \t\n\r]*(\w+|.|)", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
_FLOATS = ("NaN", "Infinity", "-Infinity")
_HEXADECIMAL = re.compile("-?0x[0-9a-fA-F]+")
_LONGEST = 4000  # digits
_SHOWN = 20

# What may stand at a place.
_VALUE, _FIRST, _KEY, _FIRST_KEY, _COLON, _NEXT = range(6)
_EXPECTED = {
    _VALUE: phrase("a value"),
    _FIRST: phrase("a value or `]`"),
    _KEY: phrase("a key in double quotes"),
    _FIRST_KEY: phrase("a key in double quotes or `}`"),
    _COLON: "`:`",
}
_CLOSING = {list: "]", dict: "}"}


class NoJsonError(ValueError):
    """A text is no JSON; the message is the reason.

    Attributes:
        where: The place.
    """

    def __init__(self, reason: str, where: Span) -> None:
        """Be the error with `reason` at `where`."""
        super().__init__(reason)
        self.where = where


def parse_json(text: str) -> Data:
    """Return the data that `text` is.

    Raises:
        NoJsonError: It is no JSON, or has a key twice in one object.
    """
    try:
        return freeze(json.loads(text, object_pairs_hook=_object))
    except (ValueError, RecursionError, NotDataError):
        return _Reader(text).read()


def _object(pairs: list[tuple[str, Any]]) -> Any:
    made = dict(pairs)
    if len(made) < len(pairs):
        unseen = "a key twice"
        raise ValueError(unseen)
    return _meant(made)


def _meant(entries: dict[str, Any]) -> Any:
    """Return what an object stands for: itself, or a number.

    Raises:
        ValueError: It would be a number, but is none.
    """
    key = numbered(entries)
    if key is None:
        return entries
    value = entries[key]
    if key != NUMBER_KEY:
        return {key[1:]: value}
    if isinstance(value, str) and value in _FLOATS:
        return float(value)
    if isinstance(value, str) and _HEXADECIMAL.fullmatch(value):
        return int(value, 16)
    what = phrase('"{key}" takes "0x…", "NaN", "Infinity" or "-Infinity"', key=NUMBER_KEY)
    raise ValueError(what)


class _Reader:
    """Reads what Python's reader does not: with a stack of its own, and places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[list[Any] | dict[str, Any]] = []
        self.keys: list[str] = []
        self.wanted = _VALUE

    def read(self) -> Data:
        position = 0
        done: list[Any] = []
        while True:
            found = _LEXEME.match(self.text, position)
            if found is None:
                self.refuse(position, phrase("the end") if done else "")
            if found["end"] is not None:
                if done:
                    return done[0]  # type: ignore[no-any-return]
                self.refuse(position)
            if done:
                self.refuse(position, phrase("the end"))
            self.take(found, done)
            position = found.end()

    def take(self, found: re.Match[str], done: list[Any]) -> None:
        """Go on by one lexeme; `done` gets the whole value when it is complete."""
        mark, wanted = found["mark"], self.wanted
        if mark in {"[", "{"} and wanted in {_VALUE, _FIRST}:
            self.open.append([] if mark == "[" else {})
            self.wanted = _FIRST if mark == "[" else _FIRST_KEY
        elif mark in {"]", "}"} and wanted in {_FIRST, _FIRST_KEY, _NEXT} and self.closes(mark):
            self.close(found, done)
        elif mark == "," and wanted == _NEXT:
            self.wanted = _VALUE if isinstance(self.open[-1], list) else _KEY
        elif mark == ":" and wanted == _COLON:
            self.wanted = _VALUE
        elif found["text"] is not None and wanted in {_KEY, _FIRST_KEY}:
            self.key(found)
        elif mark is None and wanted in {_VALUE, _FIRST}:
            self.add(self.scalar(found), done)
        else:
            self.refuse(found.start())

    def close(self, found: re.Match[str], done: list[Any]) -> None:
        """Add the array or object that ends here to what holds it."""
        closed = self.open.pop()
        if isinstance(closed, list):
            self.add(tuple(closed), done)
            return
        try:
            meant = _meant(closed)
        except ValueError as error:
            self.refuse_lexeme(found, error.args[0])
        self.add(Record(meant) if isinstance(meant, dict) else meant, done)

    def closes(self, mark: str) -> bool:
        return bool(self.open) and _CLOSING[type(self.open[-1])] == mark

    def add(self, value: Any, done: list[Any]) -> None:
        if not self.open:
            done.append(value)
        elif isinstance(holder := self.open[-1], list):
            holder.append(value)
        else:
            holder[self.keys.pop()] = value
        self.wanted = _NEXT

    def key(self, found: re.Match[str]) -> None:
        key = self.scalar(found)
        holder = self.open[-1]
        if key in holder:
            self.refuse_lexeme(
                found, phrase("the key {key} appears twice in one object", key=found["text"])
            )
        holder[key] = None
        self.keys.append(key)
        self.wanted = _COLON

    def scalar(self, found: re.Match[str]) -> Any:
        if found["word"] is not None:
            word = found["word"]
            return float(word) if word in _FLOATS else _WORDS[word]
        if found["text"] is not None:
            try:
                return json.loads(found["text"])
            except ValueError:
                self.refuse_lexeme(found, phrase("a text holds an escape that does not exist"))
        if found["part"]:
            return float(found["number"])
        if len(found["number"]) > _LONGEST:
            instead = f'{{"{NUMBER_KEY}": "0x…"}}'
            what = phrase(
                "a number of more than {longest} digits is written {instead}",
                longest=f"{_LONGEST:,}",
                instead=instead,
            )
            self.refuse_lexeme(found, what)
        return int(found["number"])

    def refuse_lexeme(self, found: re.Match[str], reason: str) -> NoReturn:
        start = found.start(found.lastgroup or 0)
        raise NoJsonError(reason, span_at(self.text, start, found.end() - start))

    def refuse(self, position: int, expected: str = "") -> NoReturn:
        """Raise the error that something else is expected at `position`."""
        found = _SOMETHING.match(self.text, position)
        assert found is not None
        start, what = found.start(1), found[1][:_SHOWN]
        if not expected and self.wanted == _NEXT:
            expected = phrase("`,` or `{close}`", close=_CLOSING[type(self.open[-1])])
        expected = expected or _EXPECTED[self.wanted]
        if what:
            reason = phrase(
                "`{found}` stands where {expected} is expected", found=what, expected=expected
            )
        else:
            reason = phrase("the text ends where {expected} is expected", expected=expected)
        raise NoJsonError(reason, span_at(self.text, start, len(found[1])))
