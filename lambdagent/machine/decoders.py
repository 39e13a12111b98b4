"""Model text → a label, a number, a boolean, JSON.

In: the text of one reply. Out: a value, or the statement that there is none. Nothing is guessed: a
text in which two labels, two numbers or both truth values stand decides for none of them.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

from lambdagent.ir.data import Data, NotDataError, freeze
from lambdagent.ir.loose_json import STRICT, Budget, read_value
from lambdagent.messages import phrase

Kind: TypeAlias = Literal["text", "json", "number", "boolean"]

_MARKUP = " \t\r\n*_`~#>\"'“”‘’.,:;!?()[]{}<>|-–—=。，、！？：；「」『』【】（）《》"
_LABEL_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?(.*?)```", re.DOTALL)
_JSON_START = re.compile(r"\{\s*+[\"'}]|\[\s*+[\[{\"]")
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-+−])?"
    r"(?P<whole>\d{1,3}(?:(?P<sep>[,'_\u00a0\u202f])\d{3}(?:(?P=sep)\d{3})*+)|\d++|(?=\.\d))"
    r"(?P<rest>(?:\.\d++)?(?:[eE][+-]?\d++)?)(?![\w]|[.,]\d)"
)
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_TRUTH |= {"是": True, "真": True, "否": False, "假": False}
_FIRST_WORD = re.compile(r"(yes|no|true|false)\s*+(?:[,.;:!—–]|-\s)")
_TRUTH_WORD = re.compile(r"(?<!\w)(?:true|false)(?!\w)")


class DecodeError(ValueError):
    """The text does not hold exactly one value of the kind; `reason` says what is wrong."""

    @property
    def reason(self) -> str:
        """Return what is wrong, in one sentence."""
        return str(self)


def decode_label(text: str, labels: Sequence[str]) -> int | None:
    """Return the place in `labels` of the label that `text` gives, or None for any other text.

    Tried in turn: the whole text, its first line, and the only label that stands in it as a whole
    word. Case, spaces and markup around do not matter. A label in Chinese or Japanese, which put
    no space between words, may stand anywhere.

    Source: semantics.md §5, `label`.
    """
    if text.strip() in labels:
        return labels.index(text.strip())
    folded = [label.strip().casefold() for label in labels]
    bare = [_bare(label) for label in labels]
    for candidate in (text.strip().casefold(), _bare(text), _bare(_first_line(text))):
        for known in (folded, bare):
            if candidate and candidate in known:
                return known.index(candidate)
    return _only_label(text.casefold(), folded)


def _bare(text: str) -> str:
    return text.strip(_MARKUP).casefold()


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _only_label(text: str, labels: list[str]) -> int | None:
    """Return the only label inside `text`; one inside a longer label does not count."""
    places = [
        (start, start + len(label), index)
        for index, label in enumerate(labels)
        for start in _places(text, label)
    ]
    # From left to right, longest first: what ends before an earlier end lies inside that one.
    found: set[int] = set()
    reach = 0
    for _start, end, index in sorted(places, key=lambda place: (place[0], -place[1])):
        if end > reach:
            found.add(index)
            reach = end
    return found.pop() if len(found) == 1 else None


def _places(text: str, label: str) -> Iterator[int]:
    """Yield where `label` stands as a whole word."""
    if not label:
        return
    edge = r"(?!\w)" if not _LABEL_CJK.match(label[-1]) and _is_word(label[-1]) else ""
    start = r"(?<!\w)" if not _LABEL_CJK.match(label[0]) and _is_word(label[0]) else ""
    for found in re.finditer(start + re.escape(label) + edge, text):
        yield found.start()


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


NO_JSON: Final = phrase("the text holds no JSON object or list")


def decode_output(kind: Kind, text: str, absent: str = NO_JSON) -> Data:
    """Return the value of `kind` that `text` holds.

    A number may have thousand separators and a unit; `45%` is 45. JSON may stand in a fence or in
    prose.

    Args:
        kind: What is looked for.
        text: Where.
        absent: What is said of a text without JSON.

    Raises:
        DecodeError: There is no such value, or more than one.
    """
    match kind:
        case "text":
            return text
        case "json":
            return _decode_json(text, absent)
        case "number":
            return _decode_number(text)
        case "boolean":
            return _decode_boolean(text)


def _decode_json(text: str, absent: str) -> Data:
    budget = Budget(text)
    try:
        for found in _values_in(text.strip(), budget):
            return freeze(found)
    except NotDataError as error:
        raise DecodeError(str(error)) from error
    raise DecodeError(absent)


def _values_in(text: str, budget: Budget) -> Iterator[Any]:
    """Yield the values that `text` may mean, the likeliest first."""
    yield from _whole(text, budget)
    # A string inside the value may hold a fence, so a fence only says where to look first.
    fences = list(_FENCE.finditer(text))
    for fence in fences:
        if fence[1].lstrip().startswith(("{", "[")):
            yield from _whole(fence[1].strip(), budget)
            yield from _within(text, fence.start(1), fence.end(), budget)
    yield from _within(text, 0, len(text), budget)
    if len(fences) == 1:
        yield from _whole(fences[0][1].strip(), budget)


def _whole(text: str, budget: Budget) -> Iterator[Any]:
    """Yield the value that all of `text` is; a word or a number must be as JSON has it."""
    if text.startswith(("{", "[", '"')):
        found = read_value(text, 0, budget)
        if found.status == "whole" and found.end == len(text):
            yield found.value
        return
    with suppress(ValueError):
        yield STRICT.decode(text)


def _within(text: str, start: int, stop: int, budget: Budget) -> Iterator[Any]:
    """Yield the first object or list that starts between `start` and `stop`."""
    while not budget.spent() and (mark := _JSON_START.search(text, start, stop)):
        found = read_value(text, mark.start(), budget)
        if found.status == "whole":
            yield found.value
            return
        start = mark.start() + 1


def _decode_number(text: str) -> Data:
    values = {_number(found) for found in _NUMBER.finditer(text)}
    if len(values) != 1:
        what = (
            phrase("the text holds several numbers")
            if values
            else phrase("the text holds no number")
        )
        raise DecodeError(what)
    return values.pop()


def _number(found: "re.Match[str]") -> float:
    whole = found["whole"].replace(found["sep"], "") if found["sep"] else found["whole"]
    sign = "-" if found["sign"] in {"-", "−"} else ""
    try:
        number = float(sign + whole + found["rest"]) if found["rest"] else int(sign + whole)
    except ValueError as error:
        what = phrase("the number is too long")
        raise DecodeError(what) from error
    if isinstance(number, float) and not math.isfinite(number):
        what = phrase("the number is too large")
        raise DecodeError(what)
    return number


def _decode_boolean(text: str) -> Data:
    for candidate in (_bare(text), _bare(_first_line(text))):
        if candidate in _TRUTH:
            return _TRUTH[candidate]
    folded = text.casefold()
    first = _FIRST_WORD.match(folded.lstrip(_MARKUP))
    if first:
        return _TRUTH[first[1]]
    # Not `yes` and `no`: "there is no doubt" denies nothing.
    values = {_TRUTH[word] for word in _TRUTH_WORD.findall(folded)}
    if len(values) != 1:
        what = (
            phrase("the text is true and false")
            if values
            else phrase("the text is neither true nor false")
        )
        raise DecodeError(what)
    return values.pop()
