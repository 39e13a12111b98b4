"""`lambdagent trace --html`: the file, what it holds, and that nothing in it is markup."""

import base64
import json
import re
import stat
import zlib
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from lambdagent.api.pages import page_data, page_of
from lambdagent.api.recording import Recording, load
from lambdagent.api.reducing import library
from lambdagent.trace.html import MOST_CHARACTERS
from lambdagent.trace.sight import Sight
from tests.cli.command import ROOT, Command, scripted

GOLDEN = Path(__file__).parents[1] / "golden" / "cli" / "trace-html-data.txt"
TEMPLATES = files("lambdagent.trace") / "templates"
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_file())
TOOL = ("--tool", "wc=echo 3 f.txt")
CHAIN = """\
type: chain
name: both
systemPrompt: p
model: {provider: scripted, script: {rules: [{reply: ok}]}}
chain:
  steps:
    - {name: one, type: simple, systemPrompt: p, memory: {enabled: true, strategy: local}}
    - {name: two, type: simple, systemPrompt: p}
"""


def recorded(command: Command, agent: str = "react.yml", *more: str) -> Recording:
    assert command("run", agent, *(more or ("count", *TOOL)), "--trace-file", "r.json").code == 0
    return load(command.folder / "r.json")


def data_in(page: str) -> dict:
    packed = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))


def test_the_file_is_private_and_its_size_is_told(command: Command):
    recorded(command)
    done = command("trace", "r.json", "--html", "page.html")
    assert (done.code, done.out) == (0, "")
    path = command.folder / "page.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    steps = len(data_in(path.read_text())["steps"]["rule"]) - 1
    assert re.fullmatch(rf"page\.html: {steps} steps, \d+ kB\n", done.err)
    assert command("trace", "r.json", "--html", "page.html").code == 0


@pytest.mark.parametrize("place", [".", "missing/page.html", "r.json"])
def test_a_place_that_cannot_be_written_is_refused(command: Command, place: str):
    recorded(command)
    before = (command.folder / "r.json").read_bytes()
    done = command("trace", "r.json", "--html", place)
    assert (done.code, done.out) == (2, "")
    assert re.match(r"error\[U00[26]\]: ", done.err)
    assert (command.folder / "r.json").read_bytes() == before


@pytest.mark.parametrize("other", [("--timeline",), ("--step", "3"), ("--filter", "llm")])
def test_a_page_is_of_a_whole_run(command: Command, other: tuple[str, ...]):
    recorded(command)
    done = command("trace", "r.json", "--html", "page.html", *other)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error[U001]: `--html` and `--")
    assert not (command.folder / "page.html").exists()


def test_the_data_of_a_small_run(command: Command, golden):
    data = page_data(recorded(command, "simple.yml", "hello"))
    data["head"]["elapsed"] = 0
    for record in data["records"]:
        record["from"] = record["to"] = 0
    tables = {key: value for key, value in data.items() if key not in {"steps", "frames"}}
    columns = {**data["steps"], **{f"frame {name}": row for name, row in data["frames"].items()}}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in columns.items()]
    golden(GOLDEN, "\n".join([json.dumps(tables, ensure_ascii=False, indent=1), *lines, ""]))


def test_the_same_run_has_the_same_page(command: Command):
    recorded(command)
    first, second = (page_of(load(command.folder / "r.json")).text for _ in range(2))
    assert first == second
    assert data_in(first)["head"]["agent"] == "worker"


def test_steps_are_those_of_the_machine_level(command: Command):
    data = page_data(recorded(command))
    listed = command("trace", "r.json", "--level", "machine", "--format", "jsonl").out
    rows = [json.loads(line) for line in listed.splitlines()]
    steps, texts = data["steps"], data["texts"]
    assert [data["rules"][at][0] for at in steps["rule"][1:]] == [row["rule"] for row in rows]
    assert [texts[at] for at in steps["redex"][1:]] == [row["redex"] for row in rows]
    assert [texts[at] for at in steps["result"][1:]] == [row["result"] for row in rows]
    assert {len(column) for column in steps.values()} == {len(rows) + 1}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_each_example_has_a_page(command: Command, example: Path):
    recording = recorded(command, str(example), "hello")
    data = data_in(page_of(recording).text)
    columns, length = data["steps"], recording.history.length
    assert {len(column) for column in columns.values()} == {length + 1}
    kinds = [data["rules"][at][1] for at in columns["rule"]]
    counted = recording.history.state(length).counters
    assert tuple(kinds.count(kind) for kind in "βδμγεπ") == counted


def test_frames_are_linked_outwards_and_are_those_of_the_machine(command: Command):
    recording = recorded(command)
    data = page_data(recording)
    frames, texts = data["frames"], data["texts"]
    assert all(following < at for at, following in enumerate(frames["next"]) if at)
    sight, history = Sight(recording.linked, library()), recording.history
    for number in range(history.length + 1):
        wanted = sight.frames(getattr(history.state(number).root.state, "kont", ()))
        found, at = [], data["steps"]["kont"][number]
        while at:
            found.append(f"{texts[frames['before'][at]]}□{texts[frames['after'][at]]}")
            at = frames["next"][at]
        assert found == wanted


def test_each_record_knows_its_steps(command: Command):
    data = page_data(recorded(command))
    records = data["records"]
    names = [data["rules"][at][0] for at in data["steps"]["rule"]]
    assert [record["kind"] for record in records] == [
        *("llm", "route", "tool", "llm", "route", "terminate")
    ]
    assert all(names[record["done"]] == "label" for record in records)
    assert [record["kind"] for record in records if record["asked"]] == ["llm", "tool", "llm"]
    assert all(names[record["asked"]] == "ask" for record in records if record["asked"])
    assert all(one["done"] < other["done"] for one, other in pairwise(records))


def test_what_is_no_record_does_not_shift_the_steps_of_records(command: Command):
    command.write("chain.yml", CHAIN)
    recording = recorded(command, "chain.yml", "hi")
    made = {event.transition: (event.kind, event.name) for event in recording.history.events}
    assert ("memory", "mem.append:one") in made.values()
    rows = page_data(recording)["records"]
    assert [made[row["done"]] for row in rows] == [(row["kind"], row["term"]) for row in rows]


def test_a_run_that_failed_has_a_page_too(command: Command):
    command.write("a.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    assert command("run", "a.yml", "x", "--trace-file", "f.json").code == 1
    outcome = page_data(load(command.folder / "f.json"))["head"]["outcome"]
    assert outcome["how"] == "failed"
    assert outcome["text"][0].startswith("error[R002]: no answer passed the guard")
    assert command("run", "a.yml", "x", "--checkpoint-dir", "runs").code == 1
    outcome = page_data(load(command.folder / "runs"))["head"]["outcome"]
    assert outcome == {"how": "failed", "text": ["it must satisfy len(x) > 9", 26]}


def test_a_run_that_waits_has_a_page_too(command: Command):
    agent = (command.folder / "react.yml").read_text() + "confirm: [wc]\n"
    command.write("c.yml", agent)
    assert command("run", "c.yml", "x", *TOOL, "--checkpoint-dir", "runs").code == 75
    outcome = page_data(load(command.folder / "runs"))["head"]["outcome"]
    assert outcome["how"] == "unfinished"
    assert outcome["text"][0].startswith("asks confirm:wc")
    more = ("--checkpoint-dir", "others", "--trace-file", "f.json")
    assert command("run", "c.yml", "x", *TOOL, *more).code == 75
    outcome = page_data(load(command.folder / "f.json"))["head"]["outcome"]
    assert outcome["how"] == "unfinished"
    assert outcome["text"][0].startswith("error[R008]: the run waits until")


def test_a_long_run_is_cut_and_the_page_says_so(command: Command):
    recording = recorded(command)
    page = page_of(recording, most_steps=10)
    data = data_in(page.text)
    assert (page.steps, page.length) == (10, recording.history.length)
    assert len(data["steps"]["rule"]) == 11
    assert data["head"]["length"] == recording.history.length


def test_long_texts_are_cut_and_their_length_is_told(command: Command):
    command.write("a.yml", scripted("x" * 1_000_000))
    data = page_data(recorded(command, "a.yml", "go"))
    assert data["records"][0]["output"] == ["x" * MOST_CHARACTERS, 1_000_000]
    assert data["head"]["outcome"]["text"][1] == 1_000_000


# --- the markup ---

VOID = {"meta", "input", "br", "link", "img", "hr"}
OUTSIDE = {"src", "href", "srcset", "action", "data", "poster", "xlink:href", "style"}


class WellFormed(HTMLParser):
    """Refuses what is not closed, and what names a place outside."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.refers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in OUTSIDE or str(value).startswith("#"), (tag, name, value)
            if name == "id":
                self.ids.append(str(value))
            elif name in {"aria-labelledby", "for"}:
                self.refers += str(value).split()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_markup_is_well_formed_and_names_nothing_outside(command: Command):
    page = page_of(recorded(command)).text
    parser = WellFormed()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    assert set(parser.refers) <= set(parser.ids)
    outside = re.findall(r"https?://[^\s\"']*|@import|url\(|\bfetch\(|innerHTML|\beval\(", page)
    assert set(outside) == {"http://www.w3.org/2000/svg"}


def test_the_policy_allows_nothing_but_the_style_and_the_script_of_the_page(command: Command):
    page = page_of(recorded(command)).text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert (
        rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    )
    assert set(rules) == {"style-src", "script-src"}
    assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'", source) for source in rules.values())
    assert "@" not in page.partition("<style>")[0]


# --- colours ---


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("ground", "surface", "raised")
PAIRS = [
    *((ink, ground) for ink in ("ink", "quiet", "accent", "gone", "fresh") for ground in GROUNDS),
    *((f"on-{name}", name) for name in ("accent", "redex", "result", "same", "note")),
    *(("on-kind", kind) for kind in ("beta", "delta", "mu", "gamma", "epsilon", "pi")),
    *(("on-kind", "administrative"), ("on-kind", "quiet")),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_on_their_grounds(scheme: str):
    light, _, dark = (TEMPLATES / "page.css").read_text().partition("@media")
    found = colours(light) | (colours(dark) if scheme == "dark" else {})
    poor = {pair: contrast(*(found[name] for name in pair)) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in poor.items() if ratio < 4.5} == {}
