"""Two runs → where they part: the first request and the first step that differ, and the rest.

Requests and steps are compared by key, so parallel branches are compared each with its own,
however they were scheduled. Times do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text, escaped, quoted
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.ir.fitting import fit, table
from lambdagent.ir.sites import Site
from lambdagent.machine.answers import text_of
from lambdagent.machine.request_digest import RequestDigest
from lambdagent.machine.state import Path, Value
from lambdagent.machine.text import asked_text, text_of_data
from lambdagent.machine.values import project
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.text import count_of

# Of what differs after the first, this much is listed.
_MOST = 20
_NARROWEST = 10
_NOTHING = "nothing"


@attrs.frozen
class Asked:
    """A request, and its answer if one came."""

    site: Site
    argument: Value = attrs.field(repr=False)
    digest: int
    answer: Data | Failure
    is_answered: bool = True


@attrs.frozen
class Side:
    """One of the two runs.

    Attributes:
        name: What people call it.
        asked: By key.
        records: By key; a step that chooses and the call that follows may have the same.
        outcome: What it came to.
    """

    name: str
    input: Data
    asked: Mapping[Path, Asked]
    records: Mapping[Path, Sequence[TraceRecord]]
    outcome: str


def asked_by(
    requests: Mapping[Path, tuple[Site, Value, Data | Failure, bool]],
) -> dict[Path, Asked]:
    """Return `requests` (site, argument, answer, whether it came) with digests."""
    digest = RequestDigest()
    return {
        key: Asked(site, argument, digest.of(site.name, argument), answer, came)
        for key, (site, argument, answer, came) in requests.items()
    }


def by_key(records: Sequence[TraceRecord]) -> dict[Path, list[TraceRecord]]:
    """Return `records` by key."""
    found: dict[Path, list[TraceRecord]] = {}
    for record in records:
        found.setdefault(record.key, []).append(record)
    return found


@attrs.frozen
class Difference:
    """Something that is not the same in both.

    Attributes:
        key: Of the request or the step; None for input and outcome.
        name: The site or the term.
        what: ``site``, ``argument``, ``answer``, ``output``, … or ``request`` and ``step`` where
            only one of the runs has it.
        texts: What each has; None where it has nothing.
    """

    key: Path | None
    name: str
    what: str
    texts: tuple[str | None, str | None]

    def to_json(self) -> dict[str, object]:
        """Return the difference as JSON."""
        key = None if self.key is None else key_text(self.key)
        return {"key": key, "name": self.name, "what": self.what, "texts": list(self.texts)}


@attrs.frozen
class Comparison:
    """How two runs differ.

    Attributes:
        names: What people call them.
        program: How the programs differ, in a few words; that alone is no difference of runs.
        requests: In canonical order.
        records: In canonical order.
        counts: Requests and steps of the first run.
    """

    names: tuple[str, str]
    program: str
    input: Difference | None
    requests: tuple[Difference, ...]
    records: tuple[Difference, ...]
    outcome: Difference | None
    counts: tuple[int, int]

    @property
    def is_same(self) -> bool:
        """Whether both are the same."""
        return not (self.input or self.requests or self.records or self.outcome)

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON."""
        return {
            "same": self.is_same,
            "runs": list(self.names),
            "program": self.program or None,
            "input": self.input and self.input.to_json(),
            "requests": [each.to_json() for each in self.requests],
            "steps": [each.to_json() for each in self.records],
            "outcome": self.outcome and self.outcome.to_json(),
        }


def compare(ours: Side, theirs: Side, program: str) -> Comparison:
    """Return how two runs differ.

    Args:
        ours: The one.
        theirs: The other.
        program: How their programs differ, in a few words; empty where they do not.
    """
    requests = list(_requests(ours.asked, theirs.asked))
    records = list(_records(ours.records, theirs.records))
    inputs = text_of_data(ours.input), text_of_data(theirs.input)
    outcomes = ours.outcome, theirs.outcome
    return Comparison(
        (ours.name, theirs.name),
        program,
        None if inputs[0] == inputs[1] else Difference(None, "input", "input", inputs),
        tuple(requests),
        tuple(records),
        None if outcomes[0] == outcomes[1] else Difference(None, "outcome", "outcome", outcomes),
        (
            len(ours.asked),
            sum(map(len, ours.records.values())),
        ),
    )


def _requests(ours: Mapping[Path, Asked], theirs: Mapping[Path, Asked]) -> Iterator[Difference]:
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key), theirs.get(key)
        name = mine.site.name if mine else other.site.name if other else ""
        if mine is None or other is None:
            yield Difference(key, name, "request", (_argument(mine), _argument(other)))
        elif mine.site.name != other.site.name:
            yield Difference(key, name, "site", (mine.site.name, other.site.name))
        elif mine.digest != other.digest:
            yield Difference(key, name, "argument", _arguments(mine, other))
        elif (mine.is_answered, mine.answer) != (other.is_answered, other.answer):
            yield Difference(key, name, "answer", _answers(mine, other))


def _argument(asked: Asked | None) -> str | None:
    return None if asked is None else asked_text(asked.site, asked.argument)


def _arguments(mine: Asked, other: Asked) -> tuple[str | None, str | None]:
    """Return the texts of two arguments, or where they are the same, all that goes with them."""
    shown = _argument(mine), _argument(other)
    if shown[0] != shown[1]:
        return shown
    return data_text(project(mine.argument)), data_text(project(other.argument))


def _answers(mine: Asked, other: Asked) -> tuple[str | None, str | None]:
    """Return the texts of two answers, or where they are the same, all that came with them."""
    said = _said(mine), _said(other)
    return said if said[0] != said[1] else (_whole(mine), _whole(other))


def _said(asked: Asked) -> str | None:
    if not asked.is_answered:
        return None
    if isinstance(asked.answer, Failure):
        return f"{asked.answer.kind}: {asked.answer.message}"
    return text_of(asked.answer) if asked.site.kind == "llm" else text_of_data(asked.answer)


def _whole(asked: Asked) -> str:
    answer = asked.answer
    return data_text(tuple(answer) if isinstance(answer, Failure) else answer)


_FIELDS = ("kind", "term", "input", "output", "notes")


def _records(
    ours: Mapping[Path, Sequence[TraceRecord]], theirs: Mapping[Path, Sequence[TraceRecord]]
) -> Iterator[Difference]:
    for key in sorted(ours.keys() | theirs.keys()):
        found = _of_one_key(key, ours.get(key, ()), theirs.get(key, ()))
        if found is not None:
            yield found


def _of_one_key(
    key: Path, ours: Sequence[TraceRecord], theirs: Sequence[TraceRecord]
) -> Difference | None:
    for mine, other in zip(ours, theirs, strict=False):
        for field in _FIELDS:
            texts = _field(mine, field), _field(other, field)
            if texts[0] != texts[1]:
                return Difference(key, mine.term, field, texts)
    if len(ours) == len(theirs):
        return None
    more = (ours if len(ours) > len(theirs) else theirs)[min(len(ours), len(theirs))]
    text = more.output or more.term
    return Difference(
        key, more.term, "step", (text, None) if len(ours) > len(theirs) else (None, text)
    )


def _field(record: TraceRecord, name: str) -> str:
    value = getattr(record, name)
    return "; ".join(value) if name == "notes" else str(value)


def render(found: Comparison, width: int) -> str:
    """Return what differs as text."""
    lines = [f"the programs differ: {escaped(found.program)}"] if found.program else []
    if found.is_same:
        requests, steps = found.counts
        lines.append(
            f"no difference: {count_of(requests, 'request')}, {count_of(steps, 'step')} "
            "and the outcome agree"
        )
        return "\n".join(lines)
    lines += [f"- {escaped(found.names[0])}", f"+ {escaped(found.names[1])}"]
    if found.input:
        lines += ["the input differs:", *_texts(found.input, width)]
    for title, some in (("request", found.requests), ("step", found.records)):
        if some:
            lines += [f"first {title} that differs: {_about(some[0])}", *_texts(some[0], width)]
    rest = sorted([*found.requests[1:], *found.records[1:]], key=lambda each: each.key or ())
    if rest:
        lines.append(f"after that {len(rest):,} more differ:")
        rows = [(key_text(each.key or ()), escaped(each.name), _what(each)) for each in rest]
        lines += [fit(f"  {line}", width) for line in table(rows[:_MOST])]
        if len(rest) > _MOST:
            lines.append(f"  … and {len(rest) - _MOST:,} more")
    if found.outcome:
        lines += ["the outcome differs:", *_texts(found.outcome, width)]
    return "\n".join(lines)


def _about(difference: Difference) -> str:
    key = key_text(difference.key or ())
    return f"{key} {escaped(difference.name)}, {_what(difference)}"


def _what(difference: Difference) -> str:
    if difference.texts[0] is None or difference.texts[1] is None:
        side = "+" if difference.texts[0] is None else "-"
        return f"only in {side}" if difference.what in {"request", "step"} else difference.what
    return difference.what


def _texts(difference: Difference, width: int) -> list[str]:
    """Return both texts, from a little before the place where they part."""
    ours, theirs = difference.texts
    start = _parting(ours or "", theirs or "") - width // 3
    return [_excerpt("-", ours, start, width), _excerpt("+", theirs, start, width)]


def _parting(ours: str, theirs: str) -> int:
    """Return how many characters the texts have in common at their beginnings."""
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine != other:
            return number
    return min(len(ours), len(theirs))


def _excerpt(mark: str, text: str | None, start: int, width: int) -> str:
    if text is None:
        return f"  {mark} {_NOTHING}"
    start = max(start, 0)
    shown = quoted(text[start : start + width])
    if start:
        shown = f"…{shown[1:]}"
    if len(text) > start + width:
        shown = f"{shown[:-1]}…"
    return f"  {mark} {fit(shown, max(width - 4, _NARROWEST))}"
