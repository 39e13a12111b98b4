"""A docstring → its summary, and what it says of each parameter.

It may be of Google's form (``Args:``), of NumPy's (``Parameters`` underlined), or of Sphinx'
(``:param name:``).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

_SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments):\s*")
_GOOGLE_END = re.compile(r"\S")
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_UNDERLINE = re.compile(r"\s*-{3,}\s*")
_SPHINX_ITEM = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)
_SPHINX_FIELD = re.compile(r":\w+[^:]*:")


def summary_of(docstring: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    lines: list[str] = []
    for line in inspect.cleandoc(docstring or "").split("\n"):
        if not line.strip() or _SECTION.fullmatch(line) or _SPHINX_FIELD.match(line):
            break
        lines.append(line.strip())
    return " ".join(lines)


def parameter_docs(docstring: str | None) -> dict[str, str]:
    """Return what a docstring says of each parameter, each as one line.

    >>> parameter_docs(":param str query: What to find.")
    {'query': 'What to find.'}
    """
    lines = inspect.cleandoc(docstring or "").split("\n")
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        sphinx = _SPHINX_ITEM.match(line)
        if sphinx:
            found[sphinx[1]] = [sphinx[2], *_until(lines[number + 1 :], _SPHINX_FIELD)]
        elif _SECTION.fullmatch(line):
            found |= _google(lines[number + 1 :])
        elif line.strip() in {"Parameters", "Other Parameters"} and _is_underlined(lines, number):
            found |= _numpy(lines[number + 2 :])
    joined = {
        name: " ".join(part.strip() for part in parts if part.strip())
        for name, parts in found.items()
    }
    return {name: text for name, text in joined.items() if text}


def _is_underlined(lines: list[str], number: int) -> bool:
    return number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1]) is not None


def _until(lines: list[str], end: re.Pattern[str]) -> Iterator[str]:
    """Yield the lines before an empty one or one that begins as `end` does."""
    for line in lines:
        if not line.strip() or end.match(line):
            return
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    depth = 0
    parts: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        if _GOOGLE_END.match(line):  # the next section, or text
            break
        depth = depth or _indent(line)
        item = _GOOGLE_ITEM.fullmatch(line.strip()) if _indent(line) == depth else None
        if item:
            parts = found[item[1]] = [item[2]]
        else:
            parts.append(line)
    return found


def _numpy(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    parts: list[str] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if _is_underlined(lines, number):
            break
        item = None if _indent(line) else _NUMPY_ITEM.fullmatch(line.strip())
        if item:
            parts = []
            for name in item[1].split(","):
                found[name.strip(" *")] = parts
        else:
            parts.append(line)
    return found
