"""Pages → screens of a terminal: lines of pieces, each with a style; as wide and high as is asked.

The rows above the line in the middle have the same place on each screen of one size, so the redex
does not move when the run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from lambdagent.ir.fitting import columns, fit, fit_around, fit_middle
from lambdagent.ir.limits import dollars
from lambdagent.source import HIDDEN
from lambdagent.trace.page import Cost, Page
from lambdagent.trace.sight import Binding, Parts

NARROWEST, LOWEST = 40, 12
# From here on, environment and continuation stand side by side.
_WIDE = 80
_GUTTER = 8
_UNSEEN = "�"


class Piece(NamedTuple):
    """Text in one style: ``redex title dim kind key`` or none."""

    text: str
    style: str = ""


Line: TypeAlias = list[Piece]


class Size(NamedTuple):
    """Columns and rows of a terminal."""

    width: int
    height: int


class Look(NamedTuple):
    """How a page is looked at.

    Attributes:
        view: One of `VIEWS`.
        skipped: Rows of the view that are above the screen.
        status: The last line.
        with_marks: Put marks around the redex; else its style tells it.
    """

    view: str = "all"
    skipped: int = 0
    status: str = ""
    with_marks: bool = False


VIEWS = ("all", "environment", "continuation", "tree", "store", "help")

HELP = (
    ("Enter space →", "next step"),
    ("b ←", "back one step"),
    ("n  p", "next, last β"),
    ("e  E", "next, last effect"),
    ("f", "finish: until the innermost frame is done"),
    ("/text", "search rules, kinds, sites and terms; / alone again"),
    ("N  P", "search on, search back"),
    ("g N", "go to step N; +N and -N go from here"),
    ("Home  End", "first, last step"),
    ("c", "continue; + - faster, slower; any key stops"),
    ("k  v  t  s", "continuation, environment, term as a tree, store"),
    ("↑ ↓ PgUp PgDn", "move within these"),
    ("Esc", "all of them again"),
    ("h ?", "these keys"),
    ("q Ctrl-C", "quit"),
)


def visible(text: str) -> str:
    r"""Return `text` on one line, without characters that steer a terminal or cannot be seen.

    >>> visible("a\x1b[2Jb\u202ec")
    'a�[2Jb�c'
    """
    return HIDDEN.sub(_UNSEEN, text)


def render(page: Page, size: Size, look: Look) -> list[Line]:
    """Return `size.height` lines of at most `size.width` columns."""
    width, height = size
    if width < NARROWEST or height < LOWEST:
        return _too_small(page, size)
    room = Size(width, term_rows(height))
    before, now = page.before or ("", "", ""), "after" if page.before else "now"
    head = [
        _sides(_title(page), page.within, width),
        [Piece(_cut(page.rule.line, width), "dim")],
        [Piece(_cut(page.rule.sentence, width))],
        [],
        *_term("before", before, room, with_marks=look.with_marks),
        *_term(now, page.after, room, with_marks=look.with_marks),
        [],
    ]
    foot = [[Piece(_cut(_spent(page, width), width), "dim")], [Piece(_cut(look.status, width))]]
    left = height - len(head) - len(foot)
    body = _BODIES.get(look.view, _scrolled)(page, Size(width, left), look)
    return [*head, *body[:left], *([[]] * (left - len(body))), *foot]


def term_rows(height: int) -> int:
    """Return how many rows a term gets."""
    return 1 if height < 20 else 2 if height < 30 else 3


def body_rows(height: int) -> int:
    """Return how many rows there are for what is around the term."""
    return max(height - 2 * term_rows(height) - 7, 1)


def text_of(lines: Sequence[Line]) -> str:
    """Return a screen as plain text."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


# --- above ---------------------------------------------------------------------------------------


def _too_small(page: Page, size: Size) -> list[Line]:
    texts = [
        f"step {page.number:,}",
        page.rule.name,
        f"at least {NARROWEST}×{LOWEST}, please",
        "q quits",
    ]
    lines: list[Line] = [[Piece(_cut(text, size.width))] for text in texts]
    return (lines + [[]] * size.height)[: size.height]


def _title(page: Page) -> Line:
    length = f"{page.length:,}{'' if page.is_whole and not page.is_cut else '+'}"
    where = f"  {page.thread}" if page.thread else ""
    site = f"  {page.site}" if page.site else ""
    return [
        Piece(f"step {page.number:,} of {length}  ", "title"),
        Piece(f"{page.rule.kind} {page.rule.name}".lstrip(), "kind"),
        Piece(visible(f"{site}{where}")),
    ]


def _sides(line: Line, right: str, width: int) -> Line:
    """Return `line` with `right` at its end, as far as there is room."""
    shown: Line = []
    left = width
    for text, style in line:
        shown.append(Piece(fit(text, left), style))
        left -= columns(shown[-1].text)
    right = fit(visible(right), left - 2) if left > 10 else ""
    return [*shown, Piece(" " * (left - columns(right)) + right, "dim")] if right else shown


def _term(title: str, parts: Parts, size: Size, *, with_marks: bool) -> list[Line]:
    """Return a term in as many lines as `size` has, the redex in a style of its own."""
    inner, rows = size.width - _GUTTER, size.height
    # At the end of a row a wide character may leave a column, and marks take two.
    room = inner * rows - (rows - 1) - 2 * with_marks
    before, middle, after = fit_around((*map(visible, parts),), room)  # type: ignore[arg-type]
    if with_marks and middle:
        middle = f"‹{middle}›"
    pieces = [Piece(before), Piece(middle, "redex"), Piece(after)]
    lines = wrapped(pieces, inner)[:rows]
    lines += [[] for _ in range(rows - len(lines))]
    return [
        [Piece((title if i == 0 else "").ljust(_GUTTER), "dim"), *line]
        for i, line in enumerate(lines)
    ]


def wrapped(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Return `pieces` in lines of at most `width` columns."""
    lines: list[Line] = [[]]
    left = width
    for text, style in pieces:
        taken = 0
        for i, character in enumerate(text):
            needed = columns(character)
            if needed > left:
                if i > taken:
                    lines[-1].append(Piece(text[taken:i], style))
                lines.append([])
                is_space = character == " "  # it would look as if the line were indented
                taken, left = i + is_space, width + is_space
            left -= needed
        if taken < len(text):
            lines[-1].append(Piece(text[taken:], style))
    return lines


def _spent(page: Page, width: int) -> str:
    cost = page.cost
    spent = [*_calls(cost), f"{cost.elapsed_s:.1f}s"]
    if cost.read or cost.written:
        spent.insert(-1, f"{cost.read:,} + {cost.written:,} tokens")
    if cost.usd:
        spent.insert(-1, dollars(cost.usd))
    counted = " ".join(f"{kind} {count:,}" for kind, count in page.counters.items() if count)
    both = " · ".join([*spent, counted] if counted else spent)
    return f"so far: {both}" if width >= _WIDE else both


def _calls(cost: Cost) -> list[str]:
    return [
        f"{count:,} {noun} call{'' if count == 1 else 's'}"
        for count, noun in ((cost.model_calls, "model"), (cost.tool_calls, "tool"))
    ]


def _cut(text: str, width: int) -> str:
    return fit(visible(text), width)


# --- below ---------------------------------------------------------------------------------------


def _section(title: str, rows: Sequence[str], size: Size) -> list[Line]:
    """Return a title and as many rows as fit."""
    lines: list[Line] = [[Piece(_cut(title, size.width), "title")]]
    room = size.height - 1
    shown = rows if len(rows) <= room else rows[: room - 1]
    lines += [[Piece(fit_middle(visible(f" {row}"), size.width))] for row in shown]
    if len(rows) > room > 0:
        lines.append([Piece(_cut(f" … {len(rows) - room + 1} more", size.width), "dim")])
    return lines[: size.height]


def _all(page: Page, size: Size, _look: Look) -> list[Line]:
    store, threads = _named(page.store, ": "), _named(page.threads, " ")
    below: list[Line] = []
    if store and size.height >= 8:
        below += _section("store", store, Size(size.width, min(len(store) + 1, size.height // 4)))
    if threads and size.height >= 8:
        room = min(len(threads) + 1, size.height // 4)
        below += _section("other threads", threads, Size(size.width, room))
    above = size.height - len(below)
    environment = _named(page.environment, " = ") or ["(empty)"]
    frames = [*page.frames.texts, *_deeper(page)] or ["(empty: the value is the answer)"]
    titles = "environment", _frames_title(page)
    if size.width < _WIDE:
        half = above // 2
        first = _filled(_section(titles[0], environment, Size(size.width, half)), half)
        second = _section(titles[1], frames, Size(size.width, above - half))
        return [*first, *_filled(second, above - half), *below]
    half = (size.width - 3) // 2
    left = _filled(_section(titles[0], environment, Size(half, above)), above)
    right = _filled(_section(titles[1], frames, Size(size.width - 3 - half, above)), above)
    return [
        *([*_padded(one, half), Piece(" │ ", "dim"), *two] for one, two in zip(left, right)),  # noqa: B905 - both are `above` long
        *below,
    ]


def _filled(lines: list[Line], height: int) -> list[Line]:
    return lines + [[] for _ in range(height - len(lines))]


def _padded(line: Line, width: int) -> Line:
    taken = sum(columns(piece.text) for piece in line)
    return [*line, Piece(" " * (width - taken))]


def _named(bindings: Sequence[Binding], between: str) -> list[str]:
    return [f"{name}{between}{text}" for name, text in bindings]


def _frames_title(page: Page) -> str:
    frames = page.frames
    more = "+" if frames.is_deeper else ""
    return f"continuation, {frames.depth:,}{more} frame{'' if frames.depth == 1 else 's'}"


def _deeper(page: Page) -> list[str]:
    frames = page.frames
    left = frames.depth - frames.skipped - len(frames.texts)
    return [f"… {left:,}{'+' if frames.is_deeper else ''} more"] if left > 0 else []


def _environment(page: Page, width: int) -> list[Line]:
    return _spread(_named(page.environment, " = "), width) or [[Piece(" (empty)")]]


def _store(page: Page, width: int) -> list[Line]:
    return _spread(_named(page.store, ": "), width) or [[Piece(" (empty)")]]


def _continuation(page: Page, size: Size, _look: Look) -> list[Line]:
    frames = page.frames
    first = f", from {frames.skipped + 1:,}" if frames.skipped else ""
    lines: list[Line] = [[Piece(f"{_frames_title(page)}{first}", "title")]]
    for number, text in enumerate(frames.texts, frames.skipped + 1):
        lead = f"{number:>4} "
        shown = fit_middle(visible(text), size.width - len(lead))
        lines.append([Piece(lead, "dim"), Piece(shown)])
    return lines if frames.texts else [*lines, [Piece(" (empty: the value is the answer)")]]


def _tree(page: Page, width: int) -> list[Line]:
    rows: list[Line] = []
    for lead, text, is_marked in page.tree:
        start, stop = ("‹", "›") if is_marked else ("", "")
        shown = fit(f"{start}{visible(text)}{stop}", width - columns(lead) - 1)
        rows.append([Piece(f" {lead}", "dim"), Piece(shown, "redex" if is_marked else "")])
    return [wrapped(row, width)[0] for row in rows]


def _help(_page: Page, width: int) -> list[Line]:
    return [[Piece(f" {keys:<15}", "key"), Piece(fit(text, width - 16))] for keys, text in HELP]


def _spread(texts: Sequence[str], width: int) -> list[Line]:
    """Return each text in as many rows as it needs."""
    rows: list[Line] = []
    for text in texts:
        for i, line in enumerate(wrapped([Piece(visible(text))], width - 4)):
            rows.append([Piece("    " if i else " "), *line])
    return rows


def _scrolled(page: Page, size: Size, look: Look) -> list[Line]:
    title, rows = look.view, _ROWS[look.view](page, size.width)
    room = size.height - 1
    first = max(min(look.skipped, len(rows) - room), 0)
    if len(rows) > room:
        title = f"{title}, {first + 1:,} to {min(first + room, len(rows)):,} of {len(rows):,}"
    return [[Piece(_cut(title, size.width), "title")], *rows[first : first + room]]


_ROWS = {"environment": _environment, "store": _store, "tree": _tree, "help": _help}


def most_skipped(page: Page, size: Size, view: str) -> int:
    """Return how many rows of a view may be above the screen: those below fill it."""
    if view == VIEWS[0]:
        return 0
    is_frames = view == "continuation"
    rows = page.frames.depth if is_frames else len(_ROWS[view](page, size.width))
    return max(rows - body_rows(size.height) + 1, 0)


_BODIES = {"all": _all, "continuation": _continuation}
