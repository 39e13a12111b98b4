"""A flame graph: where steps stand in their program, how wide frames are, an SVG that is inert."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.desugar.passes import desugar
from lambdagent.frontend.expression import parse_expression
from lambdagent.ir import surface
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Exchange
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import Halt
from lambdagent.machine.step import requests, resume, run, runnable, start
from lambdagent.trace.flamegraph import Frame, frames, render
from lambdagent.trace.macro import TraceRecord, macro_trace
from lambdagent.trace.nesting import Nesting, Place

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "trace"
SVG = "{http://www.w3.org/2000/svg}"


def ran(term: surface.Term, says: Callable[[str], Data]) -> tuple[Linked, Any, Any]:
    """Run an agent; a step takes a second, and the model reads 10 tokens and writes 2."""
    linked = link(desugar(term, parse_expression, "demo"))
    machine, events, exchanges = start(linked, "x"), [], {}
    while True:
        machine = run(linked, machine, events=events)
        asked = requests(machine)
        if not asked:
            break
        for key, request in asked:
            site = linked.sites[request.site].site
            answer = says(site.name)
            if site.kind == "llm":
                answer = Record(text=answer, usage=Record(input=10, output=2))
            at_s = float(len(exchanges))
            exchanges[key] = Exchange(key, site, request.argument, answer, at_s, 1.0)
            machine = resume(linked, machine, key, answer)
    assert isinstance(machine.root.state, Halt)
    assert not runnable(machine)
    return linked, macro_trace(events, exchanges), exchanges


def stood(term: surface.Term, says: Callable[[str], Data] = lambda _: "yes") -> list[Place]:
    linked, records, exchanges = ran(term, says)
    found = Nesting(linked).places(records, exchanges)
    return [(*place, record.term) for place, record in zip(found, records, strict=True)]


def lam(name: str) -> surface.Lam:
    return surface.Lam(name, "prompt")


def react(name: str, tool: str, bound: int = 20) -> surface.Loop:
    tools = (surface.Tool(tool), surface.Tool("terminate"))
    return surface.Loop(surface.ReActStep(name, think=lam(name), tools=tools), max_steps=bound)


def calls(tool: str) -> Callable[[str], Data]:
    """Let models call `tool` and then end, by turns; a tool says what it is."""
    turns: dict[str, int] = {}

    def says(site: str) -> Data:
        turns[site] = turns.get(site, 0) + 1
        if site.startswith("tool:"):
            return site
        name = tool if turns[site] % 2 else "terminate"
        return f'{{"tool": "{name}", "args": "a"}}'

    return says


def test_a_loop_and_what_a_reply_chose_are_around_its_steps():
    assert stood(react("r", "wc"), calls("wc")) == [
        ("Y₂₀", "think"),
        ("Y₂₀", "route"),
        ("Y₂₀", "route: wc", "Tool:wc"),
        ("Y₂₀", "think"),
        ("Y₂₀", "route"),
        ("Y₂₀", "route: terminate", "terminate"),
    ]


def test_equal_names_of_two_loops_are_told_apart():
    both = react("a", "wc", 3) >> react("b", "wc", 5)
    found = stood(both, calls("wc"))
    assert [place[0] for place in found] == ["Y₃"] * 6 + ["Y₅"] * 6
    assert {place[1:] for place in found[:6]} == {place[1:] for place in found[6:]}


def test_guards_routes_and_branches_nest():
    route = surface.Route(lam("classifier"), {"yes": lam("code")}, lam("other"))
    guarded = surface.Guard(surface.Par(route, lam("critic")), "True", 2)
    assert stood(guarded) == [
        ("guard", "branch 0", "classifier"),
        ("guard", "branch 0", "route"),
        ("guard", "branch 0", "route: yes", "code"),
        ("guard", "branch 1", "critic"),
    ]
    assert stood(route, lambda _: "none")[-1] == ("route: (other)", "other")


def test_a_shared_agent_is_where_its_branch_is():
    shared = lam("shared")
    par = surface.Par(shared, surface.Guard(shared, "True"), surface.Par(lam("a"), shared))
    assert stood(par) == [
        ("branch 0", "shared"),
        ("branch 1", "guard", "shared"),
        ("branch 2", "branch 0", "a"),
        ("branch 2", "branch 1", "shared"),
    ]


def test_ways_to_a_shared_node_do_not_multiply():
    term: surface.Term = lam("deep")
    for _ in range(200):
        term = surface.Route(lam("c"), {"yes": term, "no": term}, term)
    linked = link(desugar(term, parse_expression))
    record = TraceRecord(0, "llm", "deep", "", "", key=(0,))
    (place,) = Nesting(linked).places([record], {})
    assert len(place) == 200


# --- widths --------------------------------------------------------------------------------------


DEMO = (
    (("Y₂₀",), TraceRecord(0, "llm", "think", "", "", 0.0, 2.8, (1000, 200))),
    (("Y₂₀",), TraceRecord(1, "route", "route", "", "")),
    (("Y₂₀", "route: 搜索"), TraceRecord(2, "tool", "Tool:搜索 🙂", "", "", 2.8, 1.2)),
    (("Y₂₀",), TraceRecord(3, "llm", "think", "", "", 4.0, 3.1, (1200, 50))),
    (("Y₂₀", "route: terminate"), TraceRecord(4, "terminate", "terminate", "", "")),
    ((), TraceRecord(5, "confirm", "Confirm:send", "", "", 7.1, 0.4)),
)


def demo(by: str) -> Frame:
    return frames("demo", [record for _, record in DEMO], [place for place, _ in DEMO], by)


@pytest.mark.parametrize("by", ["time", "tokens", "steps"])
def test_a_flame_graph_is_as_written_down(golden: Callable[[Path, str], None], by: str):
    drawn = render(demo(by), by)
    assert_svg(drawn)
    golden(GOLDEN / f"flamegraph-{by}.svg.txt", drawn)


@pytest.mark.parametrize(("by", "weights"), [("time", 7.5), ("tokens", 2450), ("steps", 6)])
def test_frames_of_equal_places_are_one(by: str, weights: float):
    root = demo(by)
    assert (root.weight, root.steps) == (pytest.approx(weights), 6)
    loop = root.inner["construct", "Y₂₀"]
    assert list(loop.inner) == [
        ("llm", "think"),
        ("route", "route"),
        ("construct", "route: 搜索"),
        ("construct", "route: terminate"),
    ]
    assert loop.inner["llm", "think"].steps == 2


def test_what_took_no_time_is_told_not_drawn():
    drawn = render(demo("time"), "time")
    assert ">route<" not in drawn
    assert "3 frames are too narrow to be drawn" in drawn
    nothing = render(frames("n", [DEMO[1][1]], [()], "time"), "time")
    assert_svg(nothing)
    assert "1 step, 0s waited" in nothing
    assert_svg(render(frames("n", [], [], "steps"), "steps"))


# --- the document --------------------------------------------------------------------------------


def assert_svg(text: str) -> ElementTree.Element:
    """Check that `text` is well-formed, refers to nothing and has no script."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    known = {f"{SVG}{tag}" for tag in ("svg", "title", "style", "text", "g", "rect")}
    for element in root.iter():
        assert element.tag in known
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        if element.tag == f"{SVG}rect":
            x, y, wide, high = (float(element.attrib[n]) for n in ("x", "y", "width", "height"))
            assert x >= 0
            assert x + wide <= width + 0.01
            assert y + high <= height
    assert not re.search(r"url\(|@import|<!ENTITY|<!DOCTYPE|\bsrc=", text)
    assert text.count("http") == 1  # the name of the language
    return root


HOSTILE = (
    "<script>alert(1)</script>",
    "]]>",
    "&amp; & &#0;",
    '" onload="alert(1)',
    "</title></text></svg><script/>",
    "\x1b[31mred\x1b]0;title\x07",
    "abc\u202egnp.exe\u2066",
    "nul\x00 and \x0b \ufffe \ud800",
    "两行\n字 🙂",
    "x" * 1_000_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_are_inert(text: str):
    record = TraceRecord(0, text, text, text, text, 0.0, 1.0)
    drawn = render(frames(text, [record], [(text, "guard")], "time"), "time")
    root = assert_svg(drawn)
    assert len(drawn) < 20_000
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", drawn)
    shown = [element.text or "" for element in root.iter(f"{SVG}title")]
    assert len(shown) == 5
    if text.isprintable() and len(text) < 100:
        assert shown[1].startswith(f"{text}: 1.0s, 1 step, 100.0%")


def boxes(root: ElementTree.Element) -> Iterator[tuple[float, float, float]]:
    for rect in root.iter(f"{SVG}rect"):
        x, y, width = (float(rect.attrib[name]) for name in ("x", "y", "width"))
        yield y, x, x + width


names = st.text(max_size=6)
weights = st.floats(0, 1e6)
placed = st.lists(st.tuples(st.lists(names, max_size=3), names, weights), max_size=12)


@given(placed)
def test_any_frames_are_drawn_side_by_side(some: list[tuple[list[str], str, float]]):
    records = [
        TraceRecord(i, "llm", name, "", "", 0.0, weight)
        for i, (_, name, weight) in enumerate(some)
    ]
    root = frames("run", records, [tuple(place) for place, _, _ in some], "time")
    drawn = sorted(boxes(assert_svg(render(root, "time"))))
    for (y, _, right), (below, left, _) in pairwise(drawn):
        assert y != below or left >= right - 0.02
