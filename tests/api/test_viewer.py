"""Keys of `trace --slow`: what they say and show, what can be stopped, how texts are typed."""

from pathlib import Path

import pytest

from lambdagent.api import stepping
from lambdagent.api.viewer import Viewer
from lambdagent.trace.screen import HELP, Size, text_of
from tests.cli.command import Command, command
from tests.trace.viewing import known, press, viewer_of

__all__ = ["command"]

RUN = ("run", "react.yml", "count", "--tool", "wc=echo 3 f.txt", "--quiet")


@pytest.fixture
def path(command: Command) -> Path:
    assert command(*RUN, "--trace-file", "run.json").code == 0
    return command.folder / "run.json"


@pytest.fixture
def viewer(path: Path) -> Viewer:
    return known(viewer_of(path))


def screen(viewer: Viewer, width: int = 100, height: int = 30) -> str:
    return text_of(viewer.screen(Size(width, height), with_marks=True))


def status(viewer: Viewer) -> str:
    return screen(viewer).split("\n")[-1]


def typed(viewer: Viewer, text: str) -> None:
    press(viewer, *text, "enter")


def test_the_ends_of_a_run_are_said(viewer: Viewer):
    press(viewer, "b")
    assert status(viewer) == "this is the first step"
    press(viewer, "end", "enter")
    assert status(viewer) == "this is the last step"
    press(viewer, "n")
    assert status(viewer) == "there is none"
    press(viewer, "home", "E")
    assert status(viewer) == "there is none"
    press(viewer, "ü")
    assert "no such key" in status(viewer)


def test_a_number_may_be_relative_and_must_be_one(viewer: Viewer):
    stepper = viewer.stepper
    for text, number in (("g12", 12), ("g+3", 15), ("g-5", 10), ("g1_1", 11), ("g-99", 0)):
        typed(viewer, text)
        assert stepper.number == number
    typed(viewer, "g9,999")
    assert stepper.number == stepper.history.length
    for wrong in ("x", "-", "1.5", "٣", "9" * 40):
        typed(viewer, f"g{wrong}")
        assert "no number of a step" in status(viewer)
    assert stepper.number == stepper.history.length


def test_a_text_is_typed_corrected_pasted_and_given_up(viewer: Viewer):
    press(viewer, "/", *"wx", "backspace")
    viewer.type("c\n\x1b[2J")
    assert status(viewer) == "search: wc[2J▏"
    press(viewer, "escape")
    assert not viewer.is_typing
    press(viewer, "/", "x", "backspace", "backspace")
    assert not viewer.is_typing
    press(viewer, "/", "q", "c-c")
    assert not viewer.is_typing
    assert not viewer.has_quit
    viewer.type("q")  # pasted where no text is wanted
    assert not viewer.has_quit


def test_a_search_goes_on_and_back(viewer: Viewer):
    stepper = viewer.stepper
    press(viewer, "N")
    assert "nothing to search for" in status(viewer)
    typed(viewer, "/tool:wc")
    first = stepper.number
    press(viewer, "N")
    assert stepper.number > first
    press(viewer, "P")
    assert stepper.number == first
    typed(viewer, "/")
    assert stepper.number > first
    typed(viewer, "/nowhere at all")
    assert status(viewer) == "there is none"


def test_what_a_run_costs_grows_with_it(viewer: Viewer):
    assert "0 model calls · 0 tool calls · 0.0s" in screen(viewer)
    press(viewer, "end")
    assert "2 model calls · 1 tool call · 2.5s" in screen(viewer)
    press(viewer, "home", "/", *"tool:wc", "enter", "N")
    assert "1 model call · 1 tool call · 1.5s" in screen(viewer)


def test_the_step_of_the_agent_is_shown(viewer: Viewer):
    typed(viewer, "/llm:worker")
    assert screen(viewer).split("\n")[0].endswith("step 0: llm think")


def test_views_are_toggled_and_moved_in(viewer: Viewer):
    typed(viewer, "/llm:worker")
    for key, title in (
        ("k", "continuation, "),
        ("v", "environment"),
        ("t", "tree, "),
        ("s", "store"),
        ("h", "help"),
    ):
        press(viewer, key)
        row = screen(viewer, height=20).split("\n")[9]
        assert row.startswith(title)
        press(viewer, key)
        assert viewer.view == "all"
    press(viewer, "h")
    seen = screen(viewer, height=20)
    press(viewer, "pagedown")
    seen += screen(viewer, height=20)
    assert all(keys in seen for keys, _ in HELP)
    press(viewer, "t", "up", "pageup", "pagedown", "down")
    assert "‹" in screen(viewer)
    press(viewer, "k", *["down"] * 50)
    screen(viewer)
    press(viewer, "up")
    assert "   1 " in screen(viewer)  # all frames fit, so there is nothing to move
    press(viewer, "escape")
    assert viewer.view == "all"


def test_a_long_walk_says_where_it_is_and_stops_at_any_key(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stepping, "_LOOKED_AT", 1)
    monkeypatch.setattr(stepping, "_SLICE", 1)
    viewer = viewer_of(path)
    for key in (*"/nowhere", "enter"):
        viewer.press(key)
    assert viewer.is_walking
    assert viewer.pause_s == 0
    assert "searching for nowhere … at " in status(viewer)
    before = screen(viewer).split("\n")[-1]
    viewer.tick()
    assert status(viewer) != before
    viewer.press("n")
    assert not viewer.is_walking
    assert viewer.stepper.number == 0
    assert status(viewer) == "stopped searching for nowhere"


def test_a_run_is_known_piece_by_piece(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stepping, "_SLICE", 5)
    viewer = viewer_of(path)
    assert "step 0 of 0+" in screen(viewer)
    viewer.tick()
    assert "step 0 of 5+" in screen(viewer)
    length = known(viewer).stepper.history.length
    assert viewer.pause_s is None
    assert f"step 0 of {length} " in screen(viewer)


def test_going_on_by_itself_is_faster_slower_and_stops(viewer: Viewer):
    stepper = viewer.stepper
    press(viewer, "c")
    assert (viewer.pause_s, stepper.number) == (0.25, 0)
    viewer.tick()
    assert stepper.number == 1
    press(viewer, "+")
    assert viewer.pause_s == 0.1
    assert status(viewer).startswith("10 steps/s")
    press(viewer, *"-" * 9)
    assert viewer.pause_s == 2.0
    viewer.tick()
    press(viewer, "x")
    assert (viewer.pause_s, stepper.number) == (None, 2)
    press(viewer, "c", *"+" * 9)
    while viewer.pause_s is not None:
        viewer.tick()
    assert stepper.number == stepper.history.length
    assert status(viewer) == "this is the last step"


@pytest.mark.parametrize("key", ["q", "c-c", "c-d"])
def test_keys_that_quit(viewer: Viewer, key: str):
    press(viewer, key)
    assert viewer.has_quit
