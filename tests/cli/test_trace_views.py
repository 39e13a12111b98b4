"""`lambdagent trace`: timeline, flame graph, sums, comparison and check."""

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from tests.cli.command import Command, Done, scripted

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "trace"

AGENT = """\
type: parallel
name: 团队
systemPrompt: Work.
model:
  provider: scripted
  script:
    replies: []
    rules:
      - {agent: worker, match: '^count', reply: '{"tool": "wc", "args": "f.txt"}'}
      - {agent: worker, match: 'broken', reply: '{"tool": "terminate", "args": "done"}'}
      - {agent: worker, reply: '{"tool": "fails", "args": "x"}'}
      - {agent: namer, match: '^count', reply: far too long}
      - {agent: namer, reply: ok}
parallel:
  agents:
    - {name: worker, type: react, systemPrompt: Work., react: {maxSteps: 4},
       mcp: {localTools: [terminate]}}
    - {name: namer, type: simple, systemPrompt: Name., guard: {validator: len(x) <= 2, retry: 1,
       fallback: last}}
  merge: concat
"""
TOOLS = ("--tool", "wc=echo 3 f.txt", "--tool", "fails=echo broken >&2; exit 1")
Golden = Callable[[Path, str], None]


@pytest.fixture
def team(command: Command) -> Command:
    command.write("team.yml", AGENT)
    return record(command, "run.json")


def record(command: Command, name: str, value: str = "count", *more: str) -> Command:
    """Record a run of the team; each call takes half a second more than the one before."""
    done = command("run", "team.yml", value, *TOOLS, *more, "--quiet", "--trace-file", name)
    assert done.code == 0, done.err
    path = command.folder / name
    data = json.loads(path.read_text())
    free_us: dict[tuple[int, ...], int] = {}
    took_us = 0
    for row in data["journal"]:
        thread = tuple(row[1][:-1])
        if row[0] == 0:
            row[4] = free_us.get(thread, 0)
        else:
            took_us += 500_000
            row[3:] = free_us.get(thread, 0), took_us
            free_us[thread] = row[3] + took_us
    data["stats"]["total_time_ms"] = 12_000
    path.write_text(json.dumps(data))
    return command


def changed(command: Command, change: Callable[[dict[str, Any]], object]) -> Done:
    """Check the run with one thing changed in it."""
    data = json.loads((command.folder / "run.json").read_text())
    change(data)
    command.write("other.json", json.dumps(data))
    return command("trace", "other.json", "--check")


VIEWS = {
    "timeline": ("--timeline",),
    "timeline-llm": ("--timeline", "--filter", "llm"),
    "timeline.jsonl": ("--timeline", "--format", "jsonl"),
    "stats": ("--stats",),
    "stats-tools": ("--stats", "--filter", "Tool:*"),
    "stats.json": ("--stats", "--format", "json"),
    "check": ("--check",),
    "check.json": ("--check", "--format", "json"),
    "flamegraph-run.svg": ("--flamegraph",),
    "flamegraph-steps-run.svg": ("--flamegraph", "--by", "steps", "--filter", "tool"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_as_written_down(team: Command, golden: Golden, name: str):
    done = team("trace", "run.json", *VIEWS[name])
    assert (done.code, done.err) == (0, "")
    golden(GOLDEN / f"{name}.txt", done.out)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_comparison_is_as_written_down(team: Command, golden: Golden, form: str):
    record(team, "other.json", "count all", "--max-steps", "2")
    done = team("trace", "run.json", "--diff", "other.json", "--format", form)
    assert (done.code, done.err) == (1, "")
    golden(GOLDEN / f"diff.{form}.txt", done.out)


def test_a_run_does_not_differ_from_itself(team: Command):
    record(team, "again.json", "count", "--engine", "cek")
    done = team("trace", "run.json", "--diff", "again.json")
    assert done.code == 0
    assert done.out == "no difference: 7 requests, 11 steps and the outcome agree\n"
    assert json.loads(team("trace", "run.json", "--diff", "again.json", "--format", "json").out)[
        "same"
    ]


def test_runs_that_end_in_other_ways_differ(command: Command):
    command.write("bad.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    command.write("ask.yml", (command.folder / "react.yml").read_text() + "confirm: [wc]\n")
    assert command("run", "bad.yml", "x", "--trace-file", "bad.json").code == 1
    run = ("run", "ask.yml", "x", "--tool", "wc=echo 3", "--trace-file", "ask.json")
    assert command(*run).code == 75
    done = command("trace", "bad.json", "--diff", "ask.json")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[-3:] == [
        "the outcome differs:",
        '  - "error: ValidationError: it must satisfy len(x) > 9"',
        '  + "no end: 1 request has no answer"',
    ]


def test_a_kept_run_has_views_too(command: Command):
    assert command("run", "simple.yml", "hello", "--checkpoint-dir", "runs").code == 0
    command("run", "simple.yml", "hello", "--trace-file", "run.json")
    for view in (("--timeline",), ("--stats",), ("--check",), ("--diff", "run.json")):
        done = command("trace", "runs", *view)
        assert (done.code, done.err) == (0, ""), view


# --- the check -----------------------------------------------------------------------------------


def change_the_answer(data: dict[str, Any]) -> None:
    row = next(row for row in data["journal"] if row[0] == 1)
    row[2]["text"] = "something else"


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "answer": change_the_answer,
    "digest": lambda data: data["journal"][2].__setitem__(3, 7),
    "record": lambda data: data["trace"][2].update(output="3 g.txt"),
    "counter": lambda data: data["stats"]["reductions"].update(beta=1),
    "transitions": lambda data: data["stats"].update(transitions=1),
    "result": lambda data: data.update(result=7),
    "input": lambda data: data.update(input="what \u202e\x1b[31m?"),
    "request": lambda data: data["journal"].append([0, [77], "llm:nobody", 1, 1]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_check_says_what_is_wrong_and_where(team: Command, golden: Golden, name: str):
    done = changed(team, CHANGES[name])
    assert (done.code, done.err) == (1, "")
    golden(GOLDEN / f"check-{name}.txt", done.out)


def test_a_run_that_failed_or_waits_is_checked_as_far_as_it_came(command: Command):
    command.write("bad.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    assert command("run", "bad.yml", "x", "--trace-file", "run.json").code == 1
    assert command("trace", "run.json", "--check").code == 0
    done = changed(command, lambda data: data.update(error="error[R003]: no route"))
    assert done.code == 1
    assert "the outcome" in done.out


def test_a_run_that_waits_for_a_person_is_checked(command: Command):
    command.write("ask.yml", (command.folder / "react.yml").read_text() + "confirm: [wc]\n")
    run = ("run", "ask.yml", "count", "--tool", "wc=echo 3", "--trace-file", "run.json")
    assert command(*run).code == 75
    done = command("trace", "run.json", "--check")
    assert (done.code, done.out) == (
        0,
        "the run is what its program does: 2 requests, 2 steps, 39 transitions\n",
    )
    done = changed(command, lambda data: data.update(error="error[R001]: out of order"))
    assert done.code == 1
    assert "it waits for confirm:wc (@1)" in done.out


@pytest.mark.parametrize("error", ["interrupted", "error[R006]: the run took longer than 1 s"])
def test_a_run_that_was_stopped_is_checked_as_far_as_it_was_told(team: Command, error: str):
    def stop(data: dict[str, Any]) -> None:
        del data["result"], data["stats"]
        data["error"] = error
        data["journal"] = [row for row in data["journal"] if row[1] < [0, 1]][:-1]
        data["trace"] = [row for row in data["trace"] if row["step"] < 3]

    done = changed(team, stop)
    assert (done.code, done.err) == (0, "")

    def stop_and_lie(data: dict[str, Any]) -> None:
        stop(data)
        data["trace"][1]["output"] = "selected: nothing"

    assert changed(team, stop_and_lie).code == 1


# --- where a picture goes ------------------------------------------------------------------------


def test_a_flame_graph_is_written_to_a_file(team: Command):
    done = team("trace", "run.json", "--flamegraph", "run.svg")
    assert (done.code, done.out) == (0, "")
    text = (team.folder / "run.svg").read_text(encoding="utf-8")
    assert "团队" in text
    ElementTree.fromstring(text)
    piped = team("trace", "run.json", "--flamegraph").out
    assert piped.isascii()
    assert ElementTree.tostring(ElementTree.fromstring(piped)) == ElementTree.tostring(
        ElementTree.fromstring(text)
    )


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_no_svg(team: Command):
    out, err = Terminal(), io.StringIO()
    assert main(["trace", "run.json", "--flamegraph"], Output(out, err)) == 2
    assert out.getvalue() == ""
    assert "error[U021]" in err.getvalue()
    assert "--flamegraph run.svg" in err.getvalue()


def test_a_place_that_cannot_be_written_is_refused(team: Command):
    done = team("trace", "run.json", "--flamegraph", "no/such/run.svg")
    assert (done.code, done.out) == (2, "")
    assert "error[U002]" in done.err


def test_the_run_is_not_overwritten_with_its_picture(team: Command):
    before = (team.folder / "run.json").read_bytes()
    done = team("trace", "run.json", "--flamegraph", "./run.json")
    assert (done.code, done.out) == (2, "")
    assert "error[U006]: `RUN` and `--flamegraph` name the same file" in done.err
    assert (team.folder / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stats", "--timeline"), "`--timeline` and `--stats` exclude"),
        (("--stats", "--level", "beta"), "`--stats` and `--level` exclude"),
        (("--check", "--step", "0"), "`--check` and `--step` exclude"),
        (("--check", "--filter", "llm"), "`--check` and `--filter` exclude"),
        (("--flamegraph", "--format", "json"), "`--flamegraph` and `--format json` exclude"),
        (("--by", "tokens"), "`--by` needs `--flamegraph`"),
    ],
)
def test_options_that_do_not_fit_are_refused(team: Command, options: tuple[str, ...], words: str):
    done = team("trace", "run.json", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


# --- hostile answers -----------------------------------------------------------------------------

HOSTILE = (
    "<script>alert(1)</script> ]]> & \x1b[31mred\x1b]0;t\x07 \u202egnp \u200f\x00 🙂 中文\r\n"
)


STEPS = (
    (),
    ("--step", "0"),
    ("--slow",),
    *(("--level", level) for level in ("beta", "machine")),
    *(("--level", "machine", "--step", number) for number in ("2", "11", "13")),
)
LONG = pytest.param(HOSTILE * 20_000, id="long", marks=pytest.mark.slow)


@pytest.mark.parametrize("reply", [pytest.param(HOSTILE, id="short"), LONG])
def test_hostile_answers_are_inert_in_every_view(command: Command, reply: str):
    model = "{provider: scripted, script: {recording: said.jsonl}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    for name, said in (("a", reply), ("b", f"{reply}!")):
        rows = ({"lambdagent-recording": 1}, {"agent": "a", "reply": {"text": said}})
        command.write("said.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
        assert command("run", "a.yml", "x", "--quiet", "--trace-file", f"{name}.json").code == 0
    for view in (("--timeline",), ("--stats",), ("--flamegraph",), ("--diff", "b.json")):
        done = command("trace", "a.json", *view)
        assert done.err == ""
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", done.out), view
        assert len(done.out) < 5_000
        if view[0] == "--flamegraph":
            assert "script" not in done.out
            ElementTree.fromstring(done.out)
    for how in STEPS:
        done = command("trace", "a.json", *how)
        assert (done.code, done.err) == (0, "")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", done.out), how
    data = json.loads((command.folder / "a.json").read_text())
    data["trace"][0]["output"] += "!"
    command.write("c.json", json.dumps(data))
    done = command("trace", "c.json", "--check")
    assert done.code == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", done.out)
    assert len(done.out) < 2_000


def test_a_stream_without_our_characters_gets_others(
    team: Command, monkeypatch: pytest.MonkeyPatch
):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["trace", "run.json", "--timeline"]) == 0
    sys.stdout.flush()
    assert b"|-think" in raw.getvalue()
