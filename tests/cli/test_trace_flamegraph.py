"""The drawing of `lambdagent trace --flamegraph` in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lambdagent.trace.flamegraph import Frame, frames, render
from lambdagent.trace.macro import TraceRecord
from tests.browser import Shown, show
from tests.cli.command import Command

# What would do harm if any of it were markup, style or script.
PAYLOADS = (
    "<script>document.title = 'harmed'</script>",
    "</title></text></svg><script>document.title = 'harmed'</script>",
    "<img src=http://evil.test/x onerror=\"document.title = 'harmed'\">",
    "]]><image href='http://evil.test/x'/>",
    "</style><style>* { display: none } @import 'http://evil.test/x';",
    "&lt;b&gt; &#x202e; \u202e\x1b[31m\x1b]8;;http://evil.test\x07",
    '"/><foreignObject onload="alert(1)">',
    "javascript:alert(1)",
    "中文的名字很长，要切成合适的宽度 🙂👨‍👩‍👧",
)


def drawing() -> Frame:
    records = [
        TraceRecord(number, "tool" if number % 2 else "llm", text, text, text, 0.0, 1.0 + number)
        for number, text in enumerate(PAYLOADS)
    ]
    places = [(text, f"branch {number}") for number, text in enumerate(PAYLOADS)]
    return frames(PAYLOADS[1], records, places, "time")


@pytest.fixture(params=["light", "dark"])
def shown(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Shown]:
    """A drawing of names that want to do harm; it must not complain, nor ask anything."""
    file = tmp_path / "run.svg"
    file.write_text(render(drawing(), "time"), encoding="utf-8")
    found = show(browser, file, ready="svg", color_scheme=request.param)
    yield found
    assert found.faults == []
    found.tab.context.close()


def test_names_of_a_drawing_do_no_harm(shown: Shown):
    assert "harmed" not in shown.run("document.title.slice(0, 9)")
    tags = shown.run("[...new Set([...document.querySelectorAll('*')].map(e => e.tagName))]")
    assert set(tags) == {"svg", "title", "style", "text", "g", "rect"}
    own = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    allowed = {"xmlns", "width", "height", "viewBox", "class", "x", "y", "rx"}
    assert set(shown.run(own)) == allowed
    assert shown.run("performance.getEntriesByType('resource').length") == 0


def test_a_frame_tells_what_it_is_when_the_mouse_is_on_it(shown: Shown):
    frame = shown.tab.locator("g").nth(1)
    before = shown.run("getComputedStyle(document.querySelectorAll('g > rect')[1]).stroke")
    frame.hover()
    after = shown.run("getComputedStyle(document.querySelectorAll('g > rect')[1]).stroke")
    assert before != after
    told = frame.locator("title").text_content()
    assert told.startswith(PAYLOADS[0])
    assert told.endswith(": 1.0s, 1 step, 2.2% of all")


_FITS = """
[...document.querySelectorAll('g > text')].map(text => {
  const name = text.getBBox(), frame = text.parentNode.querySelector('rect').getBBox();
  return [text.textContent, frame.x + frame.width - name.x - name.width, name.x - frame.x,
          name.y - frame.y, frame.y + frame.height - name.y - name.height];
})
"""


def test_names_stay_in_their_frames(shown: Shown):
    found = shown.run(_FITS)
    assert len(found) > len(PAYLOADS)
    for name, *gaps in found:
        assert min(gaps) >= 0, (name, gaps)


_SEEN = """
[...document.querySelectorAll('g > text')].map(text => {
  const paint = element => getComputedStyle(element).fill.match(/\\d+/g).slice(0, 3).map(Number);
  return [paint(text), paint(text.parentNode.querySelector('rect'))];
})
"""


def luminance(colour: list[int]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: list[int], other: list[int]) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_names_can_be_read_in_the_light_and_in_the_dark(shown: Shown):
    assert min(contrast(*colours) for colours in shown.run(_SEEN)) >= 4.5


def test_the_drawing_of_a_run_can_be_looked_at(command: Command, browser: Any):
    assert (
        command("run", "react.yml", "count", "--tool", "wc=echo 3", "--trace-file", "r.json").code
        == 0
    )
    assert command("trace", "r.json", "--flamegraph", "r.svg", "--by", "steps").code == 0
    found = show(browser, command.folder / "r.svg", ready="svg")
    names = found.run("[...document.querySelectorAll('g > text')].map(e => e.textContent)")
    assert names[0] == "worker"
    assert {"Y₄", "think", "Tool:wc"} <= set(names)
    width = found.run("document.querySelector('svg').getBoundingClientRect().width")
    assert width == 1200
    assert found.faults == []
