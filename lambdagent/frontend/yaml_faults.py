"""What the YAML library says is wrong → what people understand.

In: its exception, and the text. Out: the code of a finding, its place, and the words to fill in.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
import yaml

from lambdagent.frontend.nodes import MAX_DEPTH
from lambdagent.messages import phrase

_CONTROL = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_UNCLOSED = "found unexpected end of stream"
_IN_BRACKETS = {"did not find expected ',' or ']'", "did not find expected ',' or '}'"}
_REMOVE = phrase('remove it, or write it as an escape in double quotes, such as `"\\x07"`')
_CLOSE = phrase("write it where the bracket ends")
_LOOK = phrase("look for an indent, a bracket or a quote that is wrong here or just above")
_MARGIN = re.compile(r"[ \t]*")

# What the library says: what that means, and what may be done about it.
_REASONS = {
    "mapping values are not allowed in this context": (
        phrase("a `:` stands where no key can be"),
        phrase("put quotes around a text that holds `: `"),
    ),
    "could not find expected ':'": (
        phrase("a `:` is missing after the key"),
        phrase("write `key: value`, or put quotes around a text of several lines"),
    ),
    "did not find expected key": (
        phrase("a key was expected"),
        phrase("indent all keys of a mapping alike"),
    ),
    "did not find expected '-' indicator": (
        phrase("a `- ` was expected"),
        phrase("indent all entries of a list alike"),
    ),
    "did not find expected ',' or ']'": (phrase("a `,` or `]` is missing"), _CLOSE),
    "did not find expected ',' or '}'": (phrase("a `,` or `}` is missing"), _CLOSE),
    _UNCLOSED: (
        phrase("the quote that opens here is never closed"),
        phrase("write the same quote where the text ends"),
    ),
    "found unknown escape character": (
        phrase("the backslash in the double quotes starts no known escape"),
        phrase("write it twice, or use single quotes"),
    ),
    "did not find expected node content": (
        phrase("a value was expected"),
        phrase("write it, or close the bracket that is open"),
    ),
    "block sequence entries are not allowed in this context": (
        phrase("a `- ` stands where no list can begin"),
        phrase("begin the list on the line below its key, or put quotes around the text"),
    ),
    "did not find expected <document start>": (
        phrase("the agent ends above, and more follows"),
        phrase("indent all keys of a mapping alike"),
    ),
    "found character that cannot start any token": (
        phrase("no text can start with this character"),
        phrase("put quotes around the text"),
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
            return Fault("S008", error.start, {"reason": phrase("it holds half a character")})
        case yaml.MarkedYAMLError():
            return _marked(error, text)
    # Compiled here, since it takes 5 ms and few files need it.
    match = re.search(_CONTROL, text)
    if match is None:
        reason = phrase("the file holds a character that is not allowed")
        return Fault("S001", 0, {"reason": reason, "hint": _REMOVE})
    reason = phrase("the character {name} is not allowed", name=f"U+{ord(match[0]):04X}")
    return Fault("S001", match.start(), {"reason": reason, "hint": _REMOVE})


def _marked(error: yaml.MarkedYAMLError, text: str) -> Fault:
    problem = error.problem or phrase("no reason is known")
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
    reason, hint = _REASONS.get(problem, (problem, _LOOK))
    if problem in _IN_BRACKETS and error.context_mark:
        reason = phrase(
            "{reason}; the bracket opens in line {line}",
            reason=reason,
            line=error.context_mark.line + 1,
        )
    return Fault("S001", index, {"reason": reason, "hint": hint})
