"""Screens of recorded runs: sizes, views, marks, and texts that would harm a terminal."""

import json
from pathlib import Path

import pytest

from lambdagent.ir.fitting import columns
from lambdagent.source import HIDDEN
from lambdagent.trace.screen import VIEWS, Size, text_of
from tests.cli.command import Command, command
from tests.trace.viewing import known, press, viewer_of

__all__ = ["command"]

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "slow"
RUN = ("--quiet", "--trace-file", "run.json")
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u2066\r\n\x9b31m 你好，世界 🙂 e\u0301\u200d\U000e0041"
)
GUARDED = "guard: {validator: 'len(x) > 80', retry: 1, fallback: last}\nmemory: {enabled: true}\n"
MODEL = "model: {provider: scripted, script: {recording: said.jsonl}}"
AGENT = f"type: simple\nname: a\nsystemPrompt: p\n{MODEL}\n{GUARDED}"
PARALLEL = """\
type: parallel
name: both
systemPrompt: p
model: {provider: scripted, script: {rules: [{agent: left, reply: l}, {agent: right, reply: r}]}}
parallel:
  agents:
    - {name: left, type: simple, systemPrompt: p}
    - {name: right, type: simple, systemPrompt: p}
"""


@pytest.fixture
def hostile(command: Command) -> Path:
    """A run whose input, answers and memory are hostile, or in Chinese, or large."""
    replies = (HOSTILE, f"{HOSTILE} – {'长' * 1_000_000}")
    rows = [{"lambdagent-recording": 1}]
    rows += [{"agent": "a", "reply": {"text": text}} for text in replies]
    command.write("said.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    command.write("a.yml", AGENT)
    assert command("run", "a.yml", f"问题 {HOSTILE}", *RUN).code == 0
    return command.folder / "run.json"


@pytest.mark.parametrize(("width", "height"), [(40, 16), (80, 24), (120, 40)])
def test_screens_of_some_sizes(hostile: Path, golden, width: int, height: int):
    viewer = known(viewer_of(hostile))
    shown = []
    for keys in ([], ["e"], ["e", "e", "enter"], ["n"], ["t"], ["k"], ["v"], ["s"], ["h"]):
        press(viewer, *keys)
        lines = viewer.screen(Size(width, height), with_marks=True)
        shown.append(f"--- {' '.join(keys) or 'at the start'} {'-' * 20}\n{text_of(lines)}\n")
        assert all(columns(line) <= width for line in text_of(lines).split("\n"))
    golden(GOLDEN / f"screen-{width}.txt", "".join(shown))


@pytest.mark.slow
def test_nothing_hidden_is_shown_at_any_step(hostile: Path):
    viewer = known(viewer_of(hostile))
    for _ in range(viewer.stepper.history.length):
        press(viewer, "enter")
        for view in VIEWS:
            viewer.view = view
            lines = viewer.screen(Size(100, 40), with_marks=False)
            for line in lines:
                assert not HIDDEN.search("".join(piece.text for piece in line))


def test_the_redex_has_one_place_at_all_steps(hostile: Path):
    viewer = known(viewer_of(hostile))
    for height in (12, 24, 40):
        rows = set()
        for number in range(1, viewer.stepper.history.length + 1, 6):
            viewer.stepper.move_to(number)
            lines = viewer.screen(Size(80, height), with_marks=False)
            starts = [i for i, line in enumerate(lines) if line and line[0].text in STARTS]
            rows.add(tuple(starts))
        assert len(rows) == 1


STARTS = {"before".ljust(8), "after".ljust(8)}


def test_the_redex_is_in_a_style_or_in_marks(hostile: Path):
    viewer = known(viewer_of(hostile))
    press(viewer, "n")
    size = Size(80, 24)
    styled, with_marks = (viewer.screen(size, with_marks=each) for each in (False, True))
    assert any(piece.style == "redex" for line in styled for piece in line)
    assert "‹" not in text_of(styled)
    assert text_of(with_marks).count("‹") == text_of(with_marks).count("›") == 2


def test_other_threads_and_their_steps_are_shown(command: Command, golden):
    command.write("p.yml", PARALLEL)
    done = command("run", "p.yml", "go", *RUN)
    assert done.code == 0, done.err
    viewer = known(viewer_of(command.folder / "run.json"))
    press(viewer, "/", *"fork", "enter", "e")
    golden(GOLDEN / "threads.txt", text_of(viewer.screen(Size(100, 28), with_marks=True)) + "\n")


def test_a_terminal_that_is_too_small_is_told_so(hostile: Path):
    viewer = viewer_of(hostile)
    for size in (Size(39, 24), Size(80, 11), Size(1, 1), Size(0, 0)):
        lines = viewer.screen(size, with_marks=True)
        assert len(lines) == size.height
        assert all(columns(line) <= size.width for line in text_of(lines).split("\n"))
    assert "at least 40×12" in text_of(viewer.screen(Size(39, 11), with_marks=True))


def test_a_screen_of_the_pages_about_it(command: Command, golden):
    done = command("run", "react.yml", "count", "--tool", "wc=echo 3 f.txt", *RUN)
    assert done.code == 0, done.err
    viewer = known(viewer_of(command.folder / "run.json"))
    press(viewer, "/", *"tool:wc", "enter", "N")
    golden(GOLDEN / "page.txt", text_of(viewer.screen(Size(96, 24), with_marks=True)) + "\n")
