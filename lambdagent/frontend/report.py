"""Findings of the checker: where they are, what may have been meant, in which order they come."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.kinds import Block, Field
from lambdagent.frontend.nodes import MAX_FINDINGS, Node, Scalar, kind_of, path_text, span_of
from lambdagent.frontend.schema.places import fold, hint_for
from lambdagent.messages import Phrase, bilingual, phrase
from lambdagent.source import Source

# Where a value stands: the path of what holds it, and its key there; () for the whole file.
Path = tuple[Any, ...]

BAD: Final[Any] = object()  # read from a value that a finding is about

_DIGITS = re.compile(r"\d+")
_SHORTEST, _LONG = 3, 8  # letters of words that may lack one, and that may have another one


class Reporter:
    """Collects the findings of one file.

    Attributes:
        environment: The variables that connections may name.
    """

    def __init__(self, source: Source, environment: Mapping[str, str]) -> None:
        """Collect findings about `source`."""
        self.source = source
        self.environment = environment
        self.findings: list[Diagnostic] = []

    def report(self, code: str, node: Node, path: Path, **values: Any) -> Any:
        """Add a finding about `node`, which stands at `path`; return `BAD`."""
        if len(self.findings) < MAX_FINDINGS:
            where = span_of(node, self.source)
            self.findings.append(finding(code, where, field=written(path), **values))
        return BAD

    def wrong(
        self, node: Node, path: Path, expected: str, hint: str = "", instead: str | None = None
    ) -> Any:
        """Add the finding that `node` is not what was expected; return `BAD`."""
        code = "S104" if hint else "S103"
        words = {"expected": expected, "actual": kind_of(node), "hint": hint, "instead": instead}
        return self.report(code, node, path, **words)

    def unknown(self, key: Scalar, path: Path, block: Block, present: Iterable[str]) -> str | None:
        """Add the finding that `block` has no `key`; return the key that was meant, if known."""
        if len(self.findings) >= MAX_FINDINGS:
            return None
        hint = hint_for(key.text, block)
        meant = nearest(key.text, block.fields) if hint is None else None
        if meant is None:
            known = phrase(
                "`{name}` has the keys {known}", name=block.name, known=", ".join(block.fields)
            )
            note = phrase("remove it, or begin its name with `x-` if it is a note of your own")
            words: dict[str, Any] = {"key": key.text, "known": known, "hint": hint or note}
            self.report("S102", key, (path, key.text), **words)
            return None
        clashes = meant in present
        field = (path, key.text if clashes else meant)
        instead = None if clashes else certain(key.text, meant, block.fields)
        words = {"known": "", "hint": phrase("write `{meant}`", meant=meant), "instead": instead}
        self.report("S102", key, field, key=key.text, **words)
        return meant


def reason_of(field: Field) -> Phrase:
    """Return the first sentence of the documentation of `field`, as the reason of a finding."""
    sentence = field.doc.partition(". ")[0].rstrip(".")
    if sentence[1:2].islower():
        sentence = sentence[:1].lower() + sentence[1:]
    return bilingual(sentence, field.zh.partition("。")[0])


def written(path: Path) -> str:
    """Return `path` as people write it."""
    keys: list[str | int] = []
    while path:
        path, key = path
        keys.append(key)
    return path_text(keys[::-1])


def in_file_order(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return `findings` by place, each once: what aliases share is read more than once."""
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for each in findings:
        field = each.field or ""
        last = field[max(field.rfind("."), field.rfind("[")) + 1 :]
        mark = (each.code, each.where, last)
        if each.where is None or mark not in seen:
            kept.append(each)
        seen.add(mark)
    return sorted(kept, key=_place)


def _place(diagnostic: Diagnostic) -> tuple[float, int]:
    if diagnostic.code == "S016":  # it says that there are more
        return math.inf, 0
    where = diagnostic.where
    return (where.line, where.column) if where else (0, 0)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the word of `known` that `word` was meant to be: at most two slips away, if any.

    Case, `_` and `-` do not count; in short words only one slip is forgiven.
    """
    folded = fold(word)
    best, least = None, min(2, max(1, len(folded) // 3)) + 1
    for candidate in known:
        distance = _distance(folded, fold(candidate), least)
        if distance < least:
            best, least = candidate, distance
    return best


def certain(word: str, meant: str | None, known: Collection[str]) -> str | None:
    """Return `meant`, the nearest of `known`, if `word` can be nothing else: else it is a guess.

    That is so if they differ in case, `_` or `-` alone. Otherwise there is one slip, no other word
    is as near, the numbers are the same, and in a short word no letter stands for another one.

    >>> certain("max_steps", "maxSteps", ["maxSteps"]), certain("typ", "type", ["type", "name"])
    ('maxSteps', 'type')
    >>> certain("topK", "topP", ["topP"]), certain("tool3", "tool1", ["tool1", "tool2"])
    (None, None)
    """
    if meant is None:
        return None
    left, right = fold(word), fold(meant)
    if left == right:
        return meant
    near = [each for each in known if _distance(left, fold(each), 2) < 2]
    if near != [meant] or _DIGITS.findall(left) != _DIGITS.findall(right):
        return None
    exchanged = len(left) == len(right) and sorted(left) != sorted(right)
    return meant if len(left) >= (_LONG if exchanged else _SHORTEST) else None


def _distance(left: str, right: str, limit: int) -> int:
    """Return the edit distance, two swapped letters being one slip, or `limit` if not below it.

    Source: Boytsov, "Indexing methods for approximate dictionary searching" (optimal alignment).
    """
    if abs(len(left) - len(right)) >= limit:
        return limit
    before: list[int] = []
    above: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left):
        before, above, row = above, row, [i + 1]
        for j, b in enumerate(right):
            cost = min(above[j + 1] + 1, row[j] + 1, above[j] + (a != b))
            if i and j and a == right[j - 1] and b == left[i - 1]:
                cost = min(cost, before[j - 1] + 1)
            row.append(cost)
    return row[-1]
