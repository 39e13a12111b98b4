"""Records of a run and the places they stand in → a tree of frames, and its drawing as SVG.

A frame is a construct of the program or, as a leaf, a term; equal ones side by side are one. It is
as wide as all that it holds: seconds waited, model tokens, or steps. Branches that ran at the same
time stand side by side, so the whole may be wider than the run was long.

The drawing refers to nothing outside of itself and needs no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from lambdagent.ir.fitting import columns, fit
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.nesting import Place
from lambdagent.trace.svg import Attributes, element, plain, text_element
from lambdagent.trace.timeline import duration

_WIDTH, _MARGIN = 1200, 10
_ROW, _BASELINE = 22, 15
# The font is 12 px high and about as wide as this; wide characters take two columns.
_COLUMN = 7.3
_HEAD = 58
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_LEAST = 0.1

_WEIGHTS: Mapping[str, Callable[[TraceRecord], float]] = {
    "time": lambda record: record.elapsed_s,
    "tokens": lambda record: sum(record.tokens or ()),
    "steps": lambda _: 1,
}
WEIGHTS = tuple(_WEIGHTS)

# Kinds that have a colour of their own.
_KINDS = {"root", "llm", "tool", "confirm", "route", "terminate"}
_OTHER = "construct"
_STYLE = """
svg { background: #fff; color-scheme: light dark; }
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1c1c1c; }
.name { font-size: 16px; font-weight: bold; }
rect { fill: #c8dcf4; stroke: #fff; stroke-width: 1; }
.root { fill: #d5d9e0; } .llm { fill: #f6c28b; }
.tool { fill: #b7dfae; } .confirm { fill: #efb0c0; } .route, .terminate { fill: #ddc9ee; }
g:hover > rect { stroke: #1c1c1c; }
@media (prefers-color-scheme: dark) {
svg { background: #16181d; }
text { fill: #e9e9e9; }
rect { fill: #24466c; stroke: #16181d; }
.root { fill: #3b414c; } .llm { fill: #83501a; }
.tool { fill: #2c6127; } .confirm { fill: #822f49; } .route, .terminate { fill: #5a3a78; }
g:hover > rect { stroke: #e9e9e9; }
}
"""


@attrs.define(eq=False)
class Frame:
    """A construct or a term.

    Attributes:
        kind: ``root``, ``construct``, or the kind of a record.
        weight: Of all steps in it.
        steps: How many there are.
    """

    name: str
    kind: str
    weight: float = 0
    steps: int = 0
    inner: dict[tuple[str, str], Frame] = attrs.field(factory=dict, repr=False)

    def hold(self, place: Place, record: TraceRecord, weight: float) -> None:
        """Hold `record` at `place`."""
        frame = self
        frame.count(weight)
        for kind, name in [*((_OTHER, name) for name in place), (record.kind, record.term)]:
            frame = frame.inner.setdefault((kind, name), Frame(name, kind))
            frame.count(weight)

    def count(self, weight: float) -> None:
        """Hold one more step."""
        self.weight += weight
        self.steps += 1


def frames(
    program: str, records: Sequence[TraceRecord], places: Sequence[Place], by: str
) -> Frame:
    """Return the frames of a run.

    Args:
        program: The name of what ran.
        records: What is in the frames.
        places: What is around each record.
        by: One of `WEIGHTS`.
    """
    root = Frame(program, "root")
    for record, place in zip(records, places, strict=True):
        root.hold(place, record, _WEIGHTS[by](record))
    return root


def render(root: Frame, by: str) -> str:
    """Return the drawing of `root` as an SVG document."""
    drawn = list(_boxes(root))
    depth = 1 + max((box.depth for box in drawn), default=0)
    height = _HEAD + depth * _ROW + _MARGIN
    head: Attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": _WIDTH,
        "height": height,
        "viewBox": f"0 0 {_WIDTH} {height}",
    }
    left_out = sum(1 for _ in _inside(root)) - len(drawn)
    summary = _summary(root, by, left_out)
    name = fit(_line(root.name), int((_WIDTH - 2 * _MARGIN) / _COLUMN * 3 / 4))
    parts = [
        text_element("title", f"{_line(root.name)}: {summary}"),
        element("style", {}, _STYLE),
        text_element("text", name, {"class": "name", "x": _MARGIN, "y": 24}),
        text_element("text", summary, {"x": _MARGIN, "y": 44}),
        *(_draw(box, root, by) for box in drawn),
    ]
    lines = ["", *parts, ""]
    return "\n".join([_DECLARATION, element("svg", head, "\n".join(lines)), ""])


@attrs.frozen
class _Box:
    frame: Frame
    left: float
    width: float
    depth: int


def _boxes(root: Frame) -> Iterator[_Box]:
    """Yield what is wide enough to be seen, outer frames before inner ones."""
    if root.weight <= 0:
        return
    whole = _WIDTH - 2 * _MARGIN
    stack = [_Box(root, _MARGIN, whole, 0)]
    while stack:
        box = stack.pop()
        if box.width < _LEAST:
            continue
        yield box
        left = box.left
        inner = []
        for frame in box.frame.inner.values():
            width = frame.weight / root.weight * whole
            inner.append(_Box(frame, left, width, box.depth + 1))
            left += width
        stack += reversed(inner)


def _inside(root: Frame) -> Iterator[Frame]:
    """Yield all frames."""
    stack = [root]
    while stack:
        frame = stack.pop()
        yield frame
        stack += frame.inner.values()


def _draw(box: _Box, root: Frame, by: str) -> str:
    frame, top = box.frame, _HEAD + box.depth * _ROW
    share = frame.weight / root.weight
    steps = "1 step" if frame.steps == 1 else f"{frame.steps:,} steps"
    amount = "" if by == "steps" else f"{_amount(frame.weight, by)}, "
    about = f"{_line(frame.name)}: {amount}{steps}, {share:.1%} of all"
    place = {"x": box.left, "y": top, "width": box.width, "height": _ROW - 1, "rx": 2}
    kind = frame.kind if frame.kind in _KINDS else _OTHER
    parts = [text_element("title", about), element("rect", {"class": kind, **place})]
    name = fit(_line(frame.name), int((box.width - 6) / _COLUMN))
    if columns(name) > 1 or name == frame.name:
        parts.append(text_element("text", name, {"x": box.left + 3, "y": top + _BASELINE}))
    return element("g", {}, *parts)


def _line(text: str) -> str:
    """Return `text` on one line, as far as it is worth showing."""
    return plain(" ".join(text[:500].split()))


def _summary(root: Frame, by: str, left_out: int) -> str:
    steps = "1 step" if root.steps == 1 else f"{root.steps:,} steps"
    words = {
        "time": f"{steps}, {duration(root.weight)} waited; width is time",
        "tokens": f"{steps}, {root.weight:,.0f} tokens; width is model tokens",
        "steps": f"{steps}; width is steps",
    }[by]
    if left_out:
        some = "1 frame is" if left_out == 1 else f"{left_out:,} frames are"
        words += f"; {some} too narrow to be drawn"
    return words


def _amount(weight: float, by: str) -> str:
    return duration(weight) if by == "time" else f"{weight:,.0f} tokens"
