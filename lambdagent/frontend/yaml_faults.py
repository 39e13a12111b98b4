"""What the YAML library says is wrong → what people understand.

In: its exception, and the text. Out: the code of a finding, its place, and the words to fill in.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
import yaml

from lambdagent.frontend.nodes import MAX_DEPTH

_CONTROL = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_UNCLOSED = "found unexpected end of stream"
_IN_BRACKETS = {"did not find expected ',' or ']'", "did not find expected ',' or '}'"}
_MARGIN = re.compile(r"[ \t]*")

_REASONS = {
    "mapping values are not allowed in this context": (
        "a `:` stands where no key can be; put quotes around a text that holds `: `"
    ),
    "could not find expected ':'": "a `:` is missing after the key",
    "did not find expected key": "a key was expected; check the indentation",
    "did not find expected '-' indicator": "a `- ` was expected; check the indentation",
    "did not find expected ',' or ']'": "a `,` or `]` is missing",
    "did not find expected ',' or '}'": "a `,` or `}` is missing",
    _UNCLOSED: "the quote that opens here is never closed",
    "found unknown escape character": (
        "the backslash in the double quotes starts no known escape; use single quotes"
    ),
    "found character that cannot start any token": (
        "no text can start with this character; put quotes around it"
    ),
}


@attrs.frozen(eq=False, repr=False)
class Fault:
    """A finding to be: its code, the character it is about, and its words."""

    code: str
    index: int
    values: dict[str, Any] = attrs.field(factory=dict)


def fault_of(error: yaml.YAMLError | UnicodeEncodeError, text: str) -> Fault:
    """Return what `error` says about `text`."""
    match error:
        case UnicodeEncodeError():
            return Fault("S008", error.start, {"reason": "it holds half a character"})
        case yaml.MarkedYAMLError():
            return _marked(error, text)
    # Compiled here, since it takes 5 ms and few files need it.
    match = re.search(_CONTROL, text)
    name = f"U+{ord(match[0]):04X}" if match else "of the file"
    reason = f"the character {name} is not allowed"
    return Fault("S001", match.start() if match else 0, {"reason": reason})


def _marked(error: yaml.MarkedYAMLError, text: str) -> Fault:
    problem = error.problem or "no reason is known"
    mark = error.problem_mark
    if problem == _UNCLOSED or mark is None:
        mark = error.context_mark or mark
    index = mark.index if mark else 0
    line = text.rfind("\n", 0, index) + 1
    margin = _MARGIN.match(text, line)
    tab = text.find("\t", line, margin.end()) if margin else -1
    if tab >= 0:
        return Fault("S002", tab)
    if problem == "exceeded maximum nesting depth":
        return Fault("S007", index, {"limit": MAX_DEPTH})
    reason = _REASONS.get(problem, problem)
    if problem in _IN_BRACKETS and error.context_mark:
        reason = f"{reason}; the bracket opens in line {error.context_mark.line + 1}"
    return Fault("S001", index, {"reason": reason})
