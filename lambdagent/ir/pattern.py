"""Regular expressions that cannot run away.

In: the text of a pattern, later a subject. Out: a compiled pattern, and a bound on the work that
matching it against that subject takes. `re` cannot be interrupted, so the bound is computed before
the match, and the caller refuses what it cannot afford.
"""

# Note [How the bound works]
#
# A backtracking matcher takes, for a sequence of items, at most ``ways(1) · … · ways(i-1) ·
# work(i)`` steps in item i, where ``ways`` is how often an item can succeed for one entry, and
# ``work`` what it costs to find all these successes. A repeat of one character class can stop at
# as many places as the longest run of that class in the subject is long; only at one place when
# no character of the class can come next. Patterns that cost too much on a nominal text of 40
# characters, such as nested repeats, are refused without looking at a subject.

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

import attrs

from lambdagent.messages import phrase

UNITS_PER_MICROSECOND = 300
"""A unit of work is about 2 ns; so many take at most a microsecond (`re` of Python 3.11)."""

MAX_PATTERN = 500
MAX_SUBJECT = 200_000

_MAX_GROUPS = 50
_MAX_WIDE_CLASSES = 8
_MAX_NOMINAL = 10**8
_CAP = 10**15
# What a character costs, and a turn of a repeat of more than one class: that takes 170 bytes, too,
# so this is what keeps a match within 50 MB.
_CHAR, _LOOP = 8, 96
_FLAGS = int(re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.VERBOSE)


class PatternError(ValueError):
    """A pattern that is malformed, or that could take too long."""


@attrs.frozen(eq=False, repr=False)
class _Char:
    """One character of a class; `item` is the parser's node."""

    item: Any
    flags: int
    weight: int


@attrs.frozen(eq=False, repr=False)
class _Repeat:
    body: "_Node"
    least: int
    most: int
    quick: bool = False
    """Whether `re` scans it without a test at each place: a greedy dot before a fixed letter."""


@attrs.frozen(eq=False, repr=False)
class _Choice:
    branches: "tuple[_Node, ...]"


@attrs.frozen(eq=False, repr=False)
class _Sequence:
    items: "tuple[_Node, ...]"


@attrs.frozen(eq=False, repr=False)
class _Place:
    """Something of width 0: a position, or a look around when `body` is set."""

    body: "_Node | None"
    pins_start: bool = False


_Node: TypeAlias = _Char | _Repeat | _Choice | _Sequence | _Place
_Follow: TypeAlias = tuple[_Char, ...] | None
"""The characters that may come next; None when unknown. Empty at the end of the pattern."""


@attrs.frozen(eq=False, repr=False)
class Pattern:
    """A compiled pattern with what is needed to bound its work."""

    regex: re.Pattern[str]
    setup_us: int
    _root: _Node
    _repeats: bool

    def cost(self, subject: str, *, searching: bool) -> int:
        """Return a bound, in microseconds, on the time of one match of `subject`.

        Args:
            subject: The text to match.
            searching: Whether a match may start anywhere, as in `re.search`.

        Raises:
            PatternError: `subject` is longer than such a pattern may see.
        """
        if not self._repeats:
            return (len(subject) + 1) * MAX_PATTERN // UNITS_PER_MICROSECOND + 1
        if len(subject) > MAX_SUBJECT:
            what = phrase(
                "a pattern with repeats sees at most {most} characters", most=MAX_SUBJECT
            )
            raise PatternError(what)
        rough = _rough_total(self._root, len(subject), searching=searching)
        if rough > UNITS_PER_MICROSECOND * 100:
            exact = _Exact(subject)
            found = _total(self._root, exact, searching=searching)
            rough = min(rough, found + exact.spent)
        return rough // UNITS_PER_MICROSECOND + 1


class _Rough:
    """What is known of a subject of which only the length is known."""

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, _char: _Char) -> int:
        return self.length

    def count(self, _chars: tuple[_Char, ...]) -> int:
        return self.length

    def disjoint(self, _one: _Char, _others: tuple[_Char, ...]) -> bool:
        return False


class _Nominal(_Rough):
    """A text of any letters, in which every class has a run over the whole length."""

    _alphabet = "".join(map(chr, range(256))) + "中文、。Жж"

    def disjoint(self, one: _Char, others: tuple[_Char, ...]) -> bool:
        return _members(one, self._alphabet).isdisjoint(_union(others, self._alphabet))


class _Exact(_Rough):
    """A given subject. `spent` is what looking at it has cost so far, in units."""

    def __init__(self, subject: str) -> None:
        super().__init__(len(subject))
        self._subject = subject
        letters = sorted(set(subject))
        # A text of more letters is none we know; looking at each would cost more than the match.
        self._alphabet = "".join(letters) if len(letters) <= 2000 else None
        self.spent = 20 * len(subject) + 10_000
        self._runs: dict[int, int] = {}
        self._counts: dict[str, int] = {}

    def run(self, char: _Char) -> int:
        if id(char) not in self._runs:
            found = _regex(char, repeated=True).finditer(self._subject)
            self._runs[id(char)] = max((m.end() - m.start() for m in found), default=0)
            self.spent += 80 * self.length
        return self._runs[id(char)]

    def count(self, chars: tuple[_Char, ...]) -> int:
        if self._alphabet is None:
            return self.length
        letters = _union(chars, self._alphabet)
        if len(letters) > 64:
            return self.length
        for letter in letters - self._counts.keys():
            self._counts[letter] = self._subject.count(letter)
            self.spent += self.length
        return sum(self._counts[letter] for letter in letters)

    def disjoint(self, one: _Char, others: tuple[_Char, ...]) -> bool:
        if self._alphabet is None:
            return False
        self.spent += 100 * (len(others) + 2) + 4 * len(self._alphabet)
        return _members(one, self._alphabet).isdisjoint(_union(others, self._alphabet))


@lru_cache(maxsize=1024)
def _regex(char: _Char, *, repeated: bool) -> re.Pattern[str]:
    """Return a pattern of just this character, or of its longest runs."""
    state = _parser.State()
    state.flags = char.flags
    one = _parser.SubPattern(state, [char.item])
    many = (_constants.MAX_REPEAT, (1, _constants.MAXREPEAT, one))
    whole = _parser.SubPattern(state, [many]) if repeated else one
    regex: re.Pattern[str] = _compiler.compile(whole, char.flags)
    return regex


@lru_cache(maxsize=4096)
def _members(char: _Char, alphabet: str) -> frozenset[str]:
    return frozenset(_regex(char, repeated=False).findall(alphabet))


def _union(chars: tuple[_Char, ...], alphabet: str) -> set[str]:
    return {letter for char in chars for letter in _members(char, alphabet)}


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: int = 0) -> Pattern:
    """Compile `pattern`, and refuse it when it could take too long even on a short text.

    See Note [How the bound works].

    Raises:
        PatternError: The pattern is malformed, too long, costs too much, or has back references.
    """
    if len(pattern) > MAX_PATTERN or pattern.count("(") > _MAX_GROUPS:
        what = phrase(
            "a pattern has at most {most} characters and {groups} groups",
            most=MAX_PATTERN,
            groups=_MAX_GROUPS,
        )
        raise PatternError(what)
    if flags & ~_FLAGS:
        what = phrase("only the flags re.I, re.M, re.S, re.A and re.X can be used")
        raise PatternError(what)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            tree = _parser.parse(pattern, flags)
        wide = sum(map(_is_wide, _classes(tree)))
        if wide > _MAX_WIDE_CLASSES:
            what = phrase(
                "a pattern has at most {most} classes beyond Latin letters", most=_MAX_WIDE_CLASSES
            )
            raise PatternError(what)
        root = _node(tree, tree.state.flags)
        regex = re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError, FutureWarning) as error:
        what = phrase("the pattern is malformed: {error}", error=error)
        raise PatternError(what) from error
    if _total(root, _Nominal(40), searching=True) > _MAX_NOMINAL:
        what = phrase(
            "the pattern could take too long: it nests repeats, or has too many that overlap"
        )
        raise PatternError(what)
    return Pattern(regex, 5 * len(pattern) + 3000 * wide + 50, root, _has_repeat(tree))


def _parts(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every node of the parser's tree, outermost first."""
    stack = [tree]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple) and top and isinstance(top[0], type(_constants.ANY)):
            yield top
        if isinstance(top, tuple | list | _parser.SubPattern):
            stack.extend(top)


def _classes(tree: Any) -> Iterator[Any]:
    return (argument for code, argument in _parts(tree) if code is _constants.IN)


def _is_wide(items: Any) -> bool:
    """Say whether compiling the class fills a table of 65,536 entries: milliseconds."""
    top = 0
    for code, argument in items:
        if code is _constants.LITERAL:
            top = max(top, argument)
        elif code is _constants.RANGE:
            top = max(top, argument[1])
    return top > 255


def _has_repeat(tree: Any) -> bool:
    return any(code in _REPEATS for code, _ in _parts(tree))


_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_SINGLES = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)
_LOOKS = (_constants.ASSERT, _constants.ASSERT_NOT)
_STARTS = (_constants.AT_BEGINNING, _constants.AT_BEGINNING_STRING)


def _node(tree: Any, flags: int) -> _Node:
    """Translate the parser's tree; its depth is bounded by the number of groups."""
    parts = [*tree]
    nodes = [_item(part, flags) for part in parts]
    for index, part in enumerate(parts[1:]):
        node = nodes[index]
        fixed = part[0] is _constants.LITERAL and not flags & re.IGNORECASE
        greedy = parts[index][0] is _constants.MAX_REPEAT
        if fixed and greedy and isinstance(node, _Repeat) and _is_dot(node.body):
            nodes[index] = attrs.evolve(node, quick=True)
    return nodes[0] if len(nodes) == 1 else _Sequence(tuple(nodes))


def _is_dot(node: _Node) -> bool:
    return isinstance(node, _Char) and node.item[0] is _constants.ANY


def _item(part: Any, flags: int) -> _Node:
    code, argument = part
    if code in _SINGLES:
        return _Char(part, flags, _CHAR * (1 + len(argument) // 2 if code is _constants.IN else 1))
    if code in _REPEATS:
        least, most, body = argument
        return _Repeat(_node(body, flags), int(least), int(most))
    if code is _constants.BRANCH:
        return _Choice(tuple(_node(branch, flags) for branch in argument[1]))
    if code is _constants.SUBPATTERN:
        _group, added, removed, body = argument
        return _node(body, (flags | added) & ~removed)
    if code is _constants.ATOMIC_GROUP:
        return _node(argument, flags)
    if code in _LOOKS:
        return _Place(_node(argument[1], flags))
    if code is _constants.AT:
        whole = argument is _constants.AT_BEGINNING_STRING or not flags & re.MULTILINE
        return _Place(None, pins_start=argument in _STARTS and whole)
    what = phrase("back references and conditions cannot be used")
    raise PatternError(what)


def _total(root: _Node, known: _Rough, *, searching: bool) -> int:
    """Return a bound, in units, for one match or one search."""
    items = root.items if isinstance(root, _Sequence) else (root,)
    work = _cost(root, (), known)[1] + _LOOP
    head = items[0] if items else None
    if not searching or (isinstance(head, _Place) and head.pins_start):
        return work + known.length
    first = _first(items, None)
    starts = known.length + 1 if first is None else min(known.length, known.count(first)) + 1
    if isinstance(head, _Repeat) and isinstance(head.body, _Char):
        # From the places of a run the rest of the run is, on average, half as long.
        work = work // 2 + _LOOP
    return starts * work + _CHAR * known.length


@lru_cache(maxsize=1024)
def _rough_total(root: _Node, length: int, *, searching: bool) -> int:
    return _total(root, _Rough(length), searching=searching)


def _first(items: tuple[_Node, ...], follow: _Follow) -> _Follow:
    """Return the characters with which `items`, followed by `follow`, may start."""
    found: tuple[_Char, ...] = ()
    for item in items:
        if isinstance(item, _Place):
            if item.body is not None:
                return None
            continue
        heads = _heads(item)
        if heads is None:
            return None
        found += heads
        if not (isinstance(item, _Repeat) and item.least == 0):
            return found
    return None if follow is None else found + follow


def _heads(item: _Node) -> _Follow:
    match item:
        case _Char():
            return (item,)
        case _Repeat(body=body):
            return _heads(body)
        case _Sequence(items=items):
            return _first(items, None)
        case _Choice(branches=branches):
            heads = [_heads(branch) for branch in branches]
            known = [head for head in heads if head is not None]
            return tuple(c for head in known for c in head) if len(known) == len(heads) else None
        case _Place():
            return None


def _cost(node: _Node, follow: _Follow, known: _Rough) -> tuple[int, int]:
    """Return (ways, work) of one entry into `node`; groups are few, so this may recurse."""
    match node:
        case _Char():
            return 1, node.weight
        case _Repeat(body=_Char()):
            return _cost_run(node, follow, known)
        case _Repeat():
            return _cost_loop(node, follow, known)
        case _Choice():
            return _cost_choice(node, follow, known)
        case _Place(body=body):
            return 1, _CHAR if body is None else _cost(body, None, known)[1] + _LOOP
        case _Sequence(items=items):
            ways, work = 1, 0
            for index, item in enumerate(items):
                more, each = _cost(item, _first(items[index + 1 :], follow), known)
                work = min(_CAP, work + ways * each)
                ways = min(_CAP, ways * more)
            return ways, work + _CHAR * ways


def _cost_run(node: _Repeat, follow: _Follow, known: _Rough) -> tuple[int, int]:
    char = node.body
    assert isinstance(char, _Char)
    run = min(node.most, known.run(char))
    ways = max(1, run - node.least + 1)
    if follow is not None and ways > 1:
        ways = 1 if known.disjoint(char, follow) else min(ways, known.count(follow) + 1)
    each = 1 if node.quick else char.weight + _CHAR
    return ways, (run + 1) * each + _CHAR


def _cost_loop(node: _Repeat, follow: _Follow, known: _Rough) -> tuple[int, int]:
    again = _heads(node.body)
    after = None if follow is None or again is None else again + follow
    ways, work = _cost(node.body, after if node.most > 1 else follow, known)
    turns = min(node.most, known.length if again is None else known.count(again)) + 1
    if _may_be_empty(node.body):
        # A turn that takes no character is the last one only when there have been enough.
        turns = max(turns, node.least)
    if ways == 1:
        return (1 if node.least == node.most else turns + 1), (turns + 1) * (work + _LOOP)
    total = _powers(ways, turns)
    return total, min(_CAP, total * (work + _LOOP))


def _may_be_empty(node: _Node) -> bool:
    """Say whether `node` can match without taking a character."""
    match node:
        case _Char():
            return False
        case _Repeat(body=body, least=least):
            return least == 0 or _may_be_empty(body)
        case _Choice(branches=branches):
            return any(map(_may_be_empty, branches))
        case _Sequence(items=items):
            return all(map(_may_be_empty, items))
        case _Place():
            return True


def _powers(ways: int, turns: int) -> int:
    """Return ``1 + ways + … + waysᵗᵘʳⁿˢ``, or the cap."""
    total, power = 1, 1
    for _ in range(turns):
        power *= ways
        total += power
        if total > _CAP:
            return _CAP
    return total


def _cost_choice(node: _Choice, follow: _Follow, known: _Rough) -> tuple[int, int]:
    costs = [_cost(branch, follow, known) for branch in node.branches]
    work = sum(each for _, each in costs) + _CHAR * len(costs)
    ways = [more for more, _ in costs]
    return (max(ways) if _exclusive(node, known) else sum(ways)), work


def _exclusive(node: _Choice, known: _Rough) -> bool:
    """Say whether the first character decides between the branches."""
    seen: list[_Char] = []
    for branch in node.branches:
        heads = _heads(branch)
        if heads is None or any(not known.disjoint(char, tuple(seen)) for char in heads):
            return False
        seen.extend(heads)
    return True
