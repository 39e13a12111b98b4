"""JSON as models write it: with prose around, trailing commas, single quotes, line breaks.

In: a text and a place in it. Out: the value that starts there, or how far it was readable. Work is
bounded over a whole text by a `Budget`, so that a text of braces costs no more than its length.
"""

import json
import re
from typing import Any, Literal, NoReturn, TypeAlias

import attrs

Status: TypeAlias = Literal["whole", "cut", "bad"]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(written: str) -> float:
    number = float(written)
    if number in _INFINITIES:
        raise ValueError(written)
    return number


_INFINITIES = {float("inf"), float("-inf")}
STRICT = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)
"""Reads JSON as models write it at best: line breaks may stand in strings, infinities nowhere."""

_MAX_DEPTH = 100
_TOKEN = re.compile(
    r"\s*+(?:(?P<mark>[{}\[\],:])|(?P<quote>[\"'])|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>(?:true|false|null|True|False|None)\b))"
)
_UNFINISHED = re.compile(r"\s*+(?:[A-Za-z]{0,5}|-?\d*\.?)\Z")
_STOPS = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_CLOSING = {"{": "}", "[": "]"}


class Budget:
    """What may still be spent on one text."""

    def __init__(self, text: str) -> None:
        self.characters = 4 * len(text) + 1000
        self.lexemes = 50_000
        self.strict_failures = 32

    def spent(self) -> bool:
        """Return whether nothing more may be read."""
        return self.characters < 0 or self.lexemes < 0


@attrs.frozen
class Found:
    """What stands at a place: ends at `end`; when not whole, `value` is what could be read."""

    status: Status
    value: Any
    end: int


def read_value(text: str, start: int, budget: Budget) -> Found:
    """Read the object or array that starts at `start`, strictly if possible, else loosely."""
    # Strict reading is fast but keeps lone surrogates, and an error costs a count of all lines.
    if budget.strict_failures > 0 and "\\ud" not in text and "\\uD" not in text:
        try:
            value, end = STRICT.raw_decode(text, start)
        except (ValueError, RecursionError):
            budget.strict_failures -= 1
        else:
            return Found("whole", value, end)
    found = _Reader(text, start, budget).read()
    budget.characters -= found.end - start
    return found


class _StopError(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status: Status = status


class _Reader:
    """A loose reader with its own stack. `containers` are the open ones, outermost first."""

    def __init__(self, text: str, start: int, budget: Budget) -> None:
        self.text = text
        self.place = start
        self.budget = budget
        self.containers: list[Any] = []
        self.keys: list[Any] = []
        self.root: Any = None

    def read(self) -> Found:
        try:
            self.value()
            while self.containers:
                self.member()
        except _StopError as stop:
            return Found(stop.status, self.root, self.place)
        return Found("whole", self.root, self.place)

    def lexeme(self) -> "re.Match[str]":
        self.budget.lexemes -= 1
        found = _TOKEN.match(self.text, self.place)
        if found is None or self.budget.lexemes < 0:
            raise _StopError("cut" if _UNFINISHED.match(self.text, self.place) else "bad")
        self.place = found.end()
        return found

    def member(self) -> None:
        """Read one member of the innermost container, or its end. Commas may be one too many."""
        found = self.lexeme()
        if found["mark"] == ",":
            found = self.lexeme()
        elif self.containers[-1] and found["mark"] not in {"}", "]"}:
            raise _StopError("bad")
        if found["mark"] in {"}", "]"}:
            self.close(found["mark"])
        elif isinstance(self.containers[-1], dict):
            self.key(found)
            self.value()
        else:
            self.value(found)

    def close(self, mark: str) -> None:
        inside = "{" if isinstance(self.containers[-1], dict) else "["
        if _CLOSING[inside] != mark:
            raise _StopError("bad")
        self.containers.pop()
        self.keys.pop()

    def key(self, found: "re.Match[str]") -> None:
        if not found["quote"]:
            raise _StopError("bad")
        name = self.string(found["quote"])
        # Known even if the text ends before its value.
        self.containers[-1][name] = None
        self.keys[-1] = name
        if self.lexeme()["mark"] != ":":
            raise _StopError("bad")

    def value(self, found: "re.Match[str] | None" = None) -> None:
        found = found or self.lexeme()
        if found["quote"]:
            self.put(self.string(found["quote"]))
        elif found["word"]:
            self.put(_WORDS[found["word"]])
        elif found["number"]:
            self.put(_number(found["number"]))
        elif found["mark"] in _CLOSING:
            container: Any = {} if found["mark"] == "{" else []
            self.put(container)
            if len(self.containers) >= _MAX_DEPTH:
                raise _StopError("bad")
            self.containers.append(container)
            self.keys.append(None)
        else:
            raise _StopError("bad")

    def put(self, value: Any) -> None:
        if not self.containers:
            self.root = value
        elif isinstance(self.containers[-1], dict):
            self.containers[-1][self.keys[-1]] = value
        else:
            self.containers[-1].append(value)

    def string(self, quote: str) -> str:
        start = self.place
        while True:
            stop = _STOPS[quote].search(self.text, self.place)
            if stop is None:
                self.place = len(self.text)
                raise _StopError("cut")
            self.place = stop.end()
            if stop[0] == quote:
                return _unescape(self.text[start : stop.start()])
            self.place += 1
            self.budget.lexemes -= 1


def _number(written: str) -> float:
    try:
        return int(written)
    except ValueError:
        pass
    number = float(written) if len(written) < 1000 else float("inf")
    if number in _INFINITIES:
        raise _StopError("bad")
    return number


def _unescape(raw: str) -> str:
    """Return the characters of a string; a backslash that escapes nothing stands for itself."""
    if "\\" not in raw:
        return raw
    text = _ESCAPE.sub(_escaped, raw)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(found: "re.Match[str]") -> str:
    code = found[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code in "\"'\\/":
        return code
    return _ESCAPED.get(code, found[0])
