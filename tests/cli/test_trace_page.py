"""The page of `lambdagent trace --html` in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent.api.pages import page_data, page_of
from lambdagent.api.recording import load
from lambdagent.api.reducing import library
from lambdagent.cli.main import main
from lambdagent.source import HIDDEN
from lambdagent.trace.html import render
from lambdagent.trace.listing import transition_row
from lambdagent.trace.sight import Sight
from lambdagent.trace.transition import transition_of
from tests.browser import Shown, show
from tests.cli.command import REACT, ROOT, Command, scripted

TOOL = ("--tool", "wc=echo 3 f.txt")


def page(command: Command, agent: str = "react.yml", *more: str) -> Path:
    """Return the page of a run."""
    assert command("run", agent, *(more or ("count", *TOOL)), "--trace-file", "r.json").code == 0
    assert command("trace", "r.json", "--html", "page.html").code == 0
    return command.folder / "page.html"


@attrs.frozen
class Usual:
    """The run of an agent with a tool, which most tests look at.

    Attributes:
        recording: Its file.
        page: Its page.
        rows: Its steps, as `--level machine` has them.
    """

    recording: Path
    page: Path
    rows: list[dict]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Usual:
    folder = tmp_path_factory.mktemp("usual")
    agent, recording, made = folder / "react.yml", folder / "r.json", folder / "page.html"
    agent.write_text(REACT, encoding="utf-8")
    assert main(["run", str(agent), "count", *TOOL, "--trace-file", str(recording)]) == 0
    assert main(["trace", str(recording), "--html", str(made)]) == 0
    found = load(recording)
    sight, history = Sight(found.linked, library()), found.history
    moves = map(history.move, range(1, history.length + 1))
    steps = [transition_row(sight, transition_of(sight.readback, move)) for move in moves]
    return Usual(recording, made, steps)


@pytest.fixture
def shown(usual: Usual, browser: Any) -> Iterator[Shown]:
    """The page of the usual run; it must not complain, nor ask anything from outside."""
    found = show(browser, usual.page)
    yield found
    assert found.faults == []
    found.tab.context.close()


def test_the_head_says_what_the_run_came_to(shown: Shown):
    assert shown.text("h1") == "worker"
    assert shown.tab.title() == "worker: a run, step by step"
    facts = " ".join(shown.text("#facts").split())
    assert facts.startswith("input count answer done engine recursive calls 3 time ")


def test_arrows_home_and_end_go_through_the_steps(shown: Shown, usual: Usual):
    made = usual.rows
    assert (shown.number, shown.text("#rule-name")) == (0, "The run begins")
    for row in made[:12]:
        shown.press("ArrowRight")
        assert (shown.number, shown.text("#rule-name")) == (row["i"], row["rule"])
        assert shown.text("#before mark") == row["redex"]
    shown.press("ArrowLeft")
    assert (shown.number, shown.text("#rule-name")) == (11, made[10]["rule"])
    shown.press("End")
    assert (shown.number, shown.text("#rule-name")) == (len(made), "done")
    shown.press("ArrowRight")
    assert shown.number == len(made)
    shown.press("Home", "ArrowLeft")
    assert shown.number == 0


def test_keys_go_to_reductions_and_effects(shown: Shown, usual: Usual):
    made = usual.rows
    betas = [row["i"] for row in made if row["kind"] == "beta"]
    effects = [row["i"] for row in made if row["kind"] == "epsilon"]
    shown.press("n", "PageDown", "n")
    assert (shown.number, shown.text("#kind")) == (betas[2], "β")
    shown.press("p", "PageUp")
    assert shown.number == betas[0]
    shown.press("e")
    assert (shown.number, shown.text("#kind")) == (effects[0], "ε")
    shown.press("e", "e", "Shift+E")
    assert shown.number == effects[1]
    shown.press("End", "e")
    assert "no ε-step after" in shown.text("#announcement")
    assert shown.number == len(made)


def test_a_step_shows_redex_result_and_what_is_around(shown: Shown, usual: Usual):
    found = next(row for row in usual.rows if row["rule"] == "answer" and "tool" in row["site"])
    shown.tab.fill("#number", str(found["i"]))
    shown.press("Enter")
    assert shown.text("#line") == "susp(s, v, κ), w ⟶ w"
    assert shown.text("#sentence") == "The answer of the world arrives."
    assert shown.text("#where") == "at tool:wc"
    assert shown.text("#before mark.redex") == found["redex"]
    assert shown.text("#after mark.result") == found["result"] == '"3 f.txt"'
    assert shown.tab.locator("#kont li").count() == 1
    assert "□" in shown.text("#kont li:first-child")
    assert shown.text("#store dt") == "conv:worker#1"
    assert f"Step {found['i']} of" in shown.text("#announcement")
    assert shown.text("#record-body strong") == "Tool:wc"
    assert shown.text("#record-body pre:last-child") == "3 f.txt"


def test_the_slider_the_buttons_and_the_rows_lead_to_steps(shown: Shown):
    shown.run("slider.value = 20, slider.dispatchEvent(new Event('input'))")
    assert shown.text("#near [aria-current] .count") == "20"
    shown.tab.click("#on")
    shown.tab.click("#back")
    shown.tab.click("#back")
    assert shown.number == 19
    shown.tab.click("#near li:first-child button")
    assert shown.number == 13
    shown.tab.click("#records li:nth-child(3) button")
    assert (shown.text("#rule-name"), shown.text("#record-body strong")) == ("label", "Tool:wc")
    shown.tab.select_option("#measure", "steps")
    shown.tab.click("#timeline g.bar:last-of-type")
    assert shown.text("#record-body strong") == "terminate"
    for name in ("last", "first", "on-beta", "on-effect", "back-beta"):
        shown.tab.click(f"#{name}")
    assert shown.text("#kind") == "β"


def test_the_slider_alone_takes_the_keys_of_a_slider(shown: Shown):
    shown.tab.focus("#slider")
    shown.press("ArrowRight", "ArrowRight")
    assert shown.number == 2
    shown.press("End", "Home", "n")
    assert shown.text("#kind") == "β"


def test_a_search_finds_rules_sites_and_texts(shown: Shown, usual: Usual):
    made = usual.rows
    shown.press("/")
    shown.tab.keyboard.type("tool:wc")
    wanted = [row["i"] for row in made if row.get("site") == "tool:wc"]
    assert re.fullmatch(r"\d+ steps found", shown.text("#found"))
    shown.press("Enter")
    assert shown.number == wanted[0]
    assert shown.text("#found").startswith("1 of ")
    shown.press("Enter")
    assert shown.number == wanted[1]
    shown.press("Shift+Enter")
    assert shown.number == wanted[0]
    shown.tab.fill("#query", "UNROLL")
    unrolled = [row["i"] for row in made if row["rule"] == "unroll"]
    assert shown.text("#found") == f"{len(unrolled)} steps found"
    shown.tab.fill("#query", "3 f.txt")
    shown.tab.click("#search [type=submit]")
    assert "3 f.txt" in shown.text("#record-body") + shown.text("#after")
    shown.tab.fill("#query", "nowhere to be found")
    number = shown.number
    shown.press("Enter", "Escape", "ArrowRight")
    assert shown.text("#found") == "0 steps found"
    assert shown.number == number + 1


def test_the_address_names_the_step(shown: Shown, usual: Usual, browser: Any):
    shown.press("n", "n", "n")
    shown.tab.wait_for_url(f"**#step={shown.number}")
    again = show(browser, usual.page, f"#step={shown.number}")
    assert again.number == shown.number
    again.run("location.hash = '#step=7'")
    again.tab.wait_for_selector("#near [aria-current] .count:text-is('7')")
    beyond = show(browser, usual.page, "#step=999999999")
    assert beyond.text("#rule-name") == "done"
    nonsense = show(browser, usual.page, "#step=<img onerror=alert(1)>")
    assert (nonsense.number, nonsense.faults) == (0, [])


def test_play_goes_on_by_itself_and_stops(shown: Shown):
    shown.tab.select_option("#speed", "100")
    shown.run("document.activeElement.blur()")
    shown.press(" ")
    assert shown.text("#play") == "Pause"
    shown.tab.wait_for_selector("#counters li")  # a reduction came by
    shown.press(" ")
    assert shown.text("#play") == "Play"
    shown.tab.click("#play")
    shown.tab.wait_for_selector("#play:text-is('Play')")
    assert shown.text("#rule-name") == "done"


def test_all_can_be_reached_and_named_without_a_mouse(shown: Shown):
    unnamed = shown.run(
        """[...document.querySelectorAll('button, input, select, [tabindex]')]
           .filter((each) => each.tabIndex >= 0 && each.offsetParent)
           .filter((each) => !(each.ariaLabel || each.labels?.length || each.textContent.trim() ||
                               each.getAttribute('aria-labelledby')))
           .map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    landmarks = shown.run(
        "['header', 'main', 'footer', 'nav', '[role=search]', '[aria-live=polite]']"
        ".map((each) => document.querySelectorAll(each).length)"
    )
    assert landmarks == [1, 1, 1, 2, 1, 1]
    shown.press("Tab")
    assert shown.run("document.activeElement.className") == "skip"
    assert shown.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    shown.press("Enter")
    assert shown.run("document.activeElement.id") == "stepper"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(usual: Usual, browser: Any, width: int):
    found = show(browser, usual.page, "#step=22", viewport={"width": width, "height": 800})
    found.tab.fill("#query", "r")
    assert found.run("document.documentElement.scrollWidth") <= width
    assert found.faults == []


def test_dark_is_dark_and_light_is_light(usual: Usual, browser: Any):
    grounds = {}
    for scheme in ("light", "dark"):
        found = show(browser, usual.page, color_scheme=scheme)
        ground = found.run("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = sum(map(int, re.findall(r"\d+", ground)))
    assert grounds["dark"] < 150
    assert grounds["light"] > 600


def test_branches_have_lanes_and_other_threads(command: Command, browser: Any):
    example = str(ROOT / "examples" / "parallel.yml")
    found = show(browser, page(command, example, "x"), "#step=20")
    assert found.tab.locator("#timeline .lane").count() == 3
    assert "branch" in found.text("#where")
    assert found.text("#others div:first-child dt").startswith("the run")
    found.tab.select_option("#measure", "steps")
    assert found.tab.locator("#flame g.place").count() == 2
    assert found.faults == []


HOSTILE_AGENT = """\
type: react
name: <b>a
systemPrompt: p
model: {{provider: scripted, script: {script}}}
"""
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "]]><!--",
    "<!-- <script>",
    "\u2028\u2029 \u202eevil\u202c \u200b\u0000\x1b[31m",
    "🐻‍❄️ 中文 ¯\\_(ツ)_/¯ é",
    "</style><svg onload=alert(3)>",
    "@DATA@ @SCRIPT@ {{constructor}} ${alert(4)}",
)


@pytest.mark.parametrize("payload", HOSTILE)
def test_what_models_tools_and_people_say_is_never_markup(
    command: Command, browser: Any, payload: str
):
    replies = [json.dumps({"tool": "wc", "args": payload}), payload]
    # JSON is YAML but for escapes in pairs.
    script = json.dumps({"replies": replies}, ensure_ascii=max(payload) < "\U00010000")
    command.write("h.yml", HOSTILE_AGENT.format(script=script))
    tool = ("--tool", "wc=cat; echo '<script>alert(5)</script>'")
    found = show(browser, page(command, "h.yml", payload.replace("\0", ""), *tool))
    for _ in range(3):
        found.press("e")
    found.press("End", "p")
    found.tab.fill("#query", payload)
    assert found.run("document.querySelectorAll('script').length") == 1
    assert found.run("document.querySelectorAll('img, iframe, [onload], [onerror]').length") == 0
    assert found.text("h1") == "<b>a"
    shown = found.text("#facts")
    assert set(HIDDEN.findall(shown)) <= {"\n", "\t", "\u200d"}
    assert (r"\u{2028}\u{2029} \u{202e}evil" if "\0" in payload else payload) in shown
    assert found.faults == []


def test_the_policy_of_the_page_stops_what_got_in_all_the_same(usual: Usual, browser: Any):
    found = show(browser, usual.page)
    found.run(
        """document.body.append(
             Object.assign(document.createElement('script'), {textContent: 'window.bad = 1'}),
             Object.assign(document.createElement('img'), {src: 'https://example.invalid/x'}))"""
    )
    asked = "fetch('https://example.invalid/y').then(() => 'answered', () => 'refused')"
    assert found.run(asked) == "refused"
    assert found.run("typeof window.bad") == "undefined"
    assert all("Content Security Policy" in fault for fault in found.faults)
    assert len(found.faults) >= 3


def test_a_megabyte_is_cut_with_a_remark(command: Command, browser: Any):
    command.write("a.yml", scripted("<b>" * 350_000))
    found = show(browser, page(command, "a.yml", "go"))
    assert "more characters are not in this page" in found.text("#facts")
    assert found.faults == []


def test_a_run_that_is_cut_says_so(usual: Usual, browser: Any, tmp_path: Path):
    made = page_of(load(usual.recording), most_steps=10)
    path = tmp_path / "cut.html"
    path.write_text(made.text, encoding="utf-8")
    found = show(browser, path)
    assert re.fullmatch(r"This page has the first 10 steps of \d+\.", found.text("#remark"))
    found.press("End")
    assert (found.number, found.faults) == (10, [])


def test_damaged_data_are_told(usual: Usual, browser: Any, tmp_path: Path):
    path, text = tmp_path / "damaged.html", usual.page.read_text(encoding="utf-8")
    path.write_text(re.sub(r'(id="data">)[^<]{9}', r"\1", text), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_selector("#fault:not([hidden])")
    assert tab.inner_text("#fault").startswith("This page cannot be shown: ")


def test_fifty_thousand_steps_are_as_quick_as_fifty(usual: Usual, browser: Any, tmp_path: Path):
    data: dict[str, Any] = page_data(load(usual.recording))
    columns = data["steps"]
    for name, numbers in columns.items():
        columns[name] = (numbers * (50_001 // len(numbers) + 1))[:50_001]
    data["head"]["length"] = 50_000
    path = tmp_path / "long.html"
    path.write_text(render(data), encoding="utf-8")
    found = show(browser, path, "#step=31415")
    assert found.number == 31_415
    found.press("End")
    assert found.text("#near [aria-current] .count") == "50000"
    found.press("p", "Home", "n", "e")
    found.tab.fill("#query", "beta")
    found.press("Enter")
    assert found.text("#kind") == "β"
    nodes = found.run("document.querySelectorAll('*').length")
    assert nodes < 1500
    assert found.faults == []
