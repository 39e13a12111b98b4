"""Records of a run → what each stands in: loops, guards, routes, branches, by the program's term.

A place is the list of constructs around a node, from the root of the term: ``Y₂₀`` for
``fix[20]``, ``guard``, ``route: label`` for a branch of ``case``, ``branch i`` of ``par``,
``pmap``, ``catch``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Exchange
from lambdagent.ir.labels import choice_name
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Path
from lambdagent.trace.macro import TraceRecord

# A shared node stands in as many places as there are ways to it; no more of them are looked at.
_MOST = 32
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

Place = tuple[str, ...]


class _Construct(NamedTuple):
    """A construct around a node; `branch` is its number in a fork, None where there is none."""

    name: str
    forks: bool = False
    branch: int | None = None


# From the inside outwards.
_Way: TypeAlias = "tuple[_Construct, _Way] | tuple[()]"


class _Spine(NamedTuple):
    """A constant and how many operands it has so far."""

    name: str
    params: tuple[Data, ...]
    operands: int


class Nesting:
    """Where the steps of a program stand in it."""

    def __init__(self, linked: Linked) -> None:
        """Look through the term of `linked` once."""
        ways = _ways(linked.rows)
        self._by_site: dict[str, list[_Way]] = {}
        self._by_label: dict[tuple[str, str], list[_Way]] = {}
        for row, found in zip(linked.rows, ways, strict=True):
            match row:
                case ("p", "site", (str(site),)):
                    self._by_site.setdefault(site, []).extend(found)
                case ("a", _, _, str(kind), str(name)):
                    self._by_label.setdefault((kind, name), []).extend(found)

    def places(
        self, records: Sequence[TraceRecord], exchanges: Mapping[Path, Exchange]
    ) -> list[Place]:
        """Return what is around each record, from the outside inwards.

        Args:
            records: Of one run, in canonical order.
            exchanges: Its exchanges by key: they tell which site a record is of.
        """
        places: list[Place] = []
        last: dict[Path, _Way] = {}
        for record in records:
            thread = record.key[:-1]
            candidates = self._candidates(record, exchanges.get(record.key))
            way = _chosen(candidates, thread, last.get(thread, ()))
            last[thread] = way
            places.append(tuple(each.name for each in _outwards(way))[::-1])
        return places

    def _candidates(self, record: TraceRecord, exchange: Exchange | None) -> list[_Way]:
        """Return the ways to the nodes that may have made `record`."""
        if record.started_s is not None and exchange is not None:
            return self._by_site.get(exchange.site.name, [])
        kinds = ("route", "action") if record.kind == "route" else (record.kind,)
        return [way for kind in kinds for way in self._by_label.get((kind, record.term), ())]


def _ways(rows: Sequence[Data]) -> list[list[_Way]]:
    """Return the ways from each row to the root, which is the last; equal ways are one object."""
    spines = _spines(rows)
    ways: list[list[_Way]] = [[] for _ in rows]
    ways[-1] = [()]
    known: dict[tuple[int, _Construct], _Way] = {}
    for number in range(len(rows) - 1, -1, -1):
        for child, construct in _children(rows[number], spines):
            for way in ways[number]:
                inner: _Way = way
                if construct is not None:
                    inner = known.setdefault((id(way), construct), (construct, way))
                _add(ways[child], inner)
    return ways


def _add(ways: list[_Way], way: _Way) -> None:
    if len(ways) < _MOST and all(each is not way for each in ways):
        ways.append(way)


def _children(row: Data, spines: Mapping[int, _Spine]) -> Iterator[tuple[int, _Construct | None]]:
    """Yield the parts of `row`, and the construct that stands between, if one does."""
    match row:
        case ("l", int(body), _):
            yield body, None
        case ("a", int(fun), int(arg), *_):
            yield fun, None
            yield arg, _construct(spines[fun]) if fun in spines else None


def _spines(rows: Sequence[Data]) -> dict[int, _Spine]:
    """Return the constants that are applied to operands, by row."""
    spines: dict[int, _Spine] = {}
    for number, row in enumerate(rows):
        match row:
            case ("p", str(name), tuple(params)):
                spines[number] = _Spine(name, params, 0)
            case ("a", int(fun), _, *_) if fun in spines:
                spines[number] = spines[fun]._replace(operands=spines[fun].operands + 1)
    return spines


def _construct(spine: _Spine) -> _Construct | None:
    """Return what stands around the next operand of `spine`."""
    match spine.name, spine.params:
        case "fix", (bound,):
            return _Construct(f"Y{str(bound).translate(_SUBSCRIPTS)}")
        case "case", (tuple(labels),) if 0 < spine.operands <= len(labels):
            return _Construct(f"route: {choice_name(labels, spine.operands - 1)}")
        case "par", (_,):
            return _Construct(f"branch {spine.operands}", forks=True, branch=spine.operands)
        case "pmap", _ if spine.operands == 0:
            return _Construct("pmap", forks=True)
        case (("guard" | "catch"), _):
            return _Construct(spine.name)
    return None


def _outwards(way: _Way) -> Iterator[_Construct]:
    while way:
        construct, way = way
        yield construct


def _chosen(candidates: Sequence[_Way], thread: Path, before: _Way) -> _Way:
    """Return the way that fits the branches of `thread`, of several the one nearest to `before`.

    Args:
        candidates: From the last one in the program to the first, which is chosen where nothing
            tells.
        thread: Clock and number of each branch, from the outside inwards.
        before: The way to what the thread did before.
    """
    if len(candidates) < 2:
        return candidates[-1] if candidates else ()
    branches = thread[1::2]
    fitting = [way for way in candidates if _fits(way, branches)] or candidates
    return max(reversed(fitting), key=lambda way: _common(way, before))


def _fits(way: _Way, branches: Path) -> bool:
    forks = [each for each in _outwards(way) if each.forks][::-1]
    return len(forks) == len(branches) and all(
        fork.branch is None or fork.branch == branch
        for fork, branch in zip(forks, branches, strict=True)
    )


def _common(way: _Way, other: _Way) -> int:
    """Return how many constructs both ways have in common, from the outside."""
    ours, theirs = list(_outwards(way))[::-1], list(_outwards(other))[::-1]
    count = 0
    while count < min(len(ours), len(theirs)) and ours[count] == theirs[count]:
        count += 1
    return count
