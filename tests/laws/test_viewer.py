"""Whatever keys are pressed, what is shown is the state of the live machine at that step."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.api import history as histories
from lambdagent.api import stepping
from lambdagent.api.recording import Recording
from lambdagent.api.reducing import library
from lambdagent.api.stepping import Stepper
from lambdagent.api.viewer import Viewer
from lambdagent.effects.journal import Intent, Recorded, Told
from lambdagent.ir.data import Record
from lambdagent.ir.fitting import columns
from lambdagent.machine.checkpoint import encode_machine
from lambdagent.machine.link import link
from lambdagent.machine.state import Fail, Halt, Kind
from lambdagent.machine.step import requests
from lambdagent.trace.finding import Finder
from lambdagent.trace.screen import Size, text_of
from lambdagent.trace.sight import outwards
from lambdagent.trace.transition import transition_of
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import content
from tests.laws.terms import inputs, programs, seeds
from tests.laws.test_history import MOST, live

KINDS = {"n": Kind.BETA, "e": Kind.EPSILON, "p": Kind.BETA, "E": Kind.EPSILON}
MOVES = ("enter", " ", "right", "b", "left", *KINDS, "f", "home", "end")
VIEWS = ("k", "v", "t", "s", "h", "escape", "up", "down", "pageup", "pagedown", "x", "é")
SIZES = st.builds(Size, st.integers(1, 130), st.integers(1, 45))
JUMPS = st.builds(lambda sign, number: f"{sign}{number}", st.sampled_from(["", "+", "-"]), seeds)
KEYS = st.lists(st.sampled_from(MOVES) | st.sampled_from(VIEWS) | JUMPS, max_size=12)
NEEDLES = st.sampled_from(
    [
        "beta",
        "β",
        "e",
        "llm",
        "self",
        "TRUE",
        "a",
        "yes",
        "tool:search",
        "(",
        "let",
        "nothing here",
    ]
)


# Printing each transition of a run takes its time.
few = settings(max_examples=max(5, settings.default.max_examples // 5))


@pytest.fixture(autouse=True)
def few_marks(monkeypatch):
    """Keep few states, and go through a run in small pieces."""
    monkeypatch.setattr(histories, "_MARKS", 2)
    monkeypatch.setattr(histories, "_FIRST_STRIDE", 3)
    monkeypatch.setattr(stepping, "_SLICE", 7)


def opened(program, value, oracle):
    linked = link(program)
    states, told = live(linked, value, oracle)
    intents = {
        key: Intent(request.site, b"", 0.0) for state in states for key, request in requests(state)
    }
    kept = {key: Recorded(answer, 0.0, 0.0) for key, answer in told.items()}
    recording = Recording("", Record(), linked, states[0], Told(intents, kept, None, 0), MOST)
    return linked, states, Viewer(Stepper(recording, library()))


def finished(viewer):
    while viewer.is_walking:
        viewer.tick()


def press(viewer, key):
    """Press a key, or those of ``g`` and a number, and wait for what it begins."""
    if key.lstrip("+-").isdecimal():
        for each in ("g", *key, "enter"):
            viewer.press(each)
    else:
        viewer.press(key)
    finished(viewer)


def expected(states, number, path, key):
    """Return where `key` leads, found by looking at every state."""
    last = len(states) - 1
    match key:
        case "enter" | " " | "right":
            return min(number + 1, last)
        case "b" | "left":
            return max(number - 1, 0)
        case "home":
            return 0
        case "end":
            return last
        case "n" | "e" | "p" | "E":
            kind = KINDS[key]
            made = [
                n
                for n in range(1, last + 1)
                if states[n].counters[kind] > states[n - 1].counters[kind]
            ]
            later = [n for n in made if n > number]
            earlier = [n for n in made if n < number]
            found = later[:1] if key in "ne" else earlier[-1:]
            return found[0] if found else number
        case "f":
            return left(states, number, path)
    if key.lstrip("+-").isdecimal():
        relative = {"+": number + int(key), "-": number + int(key)}.get(key[0], int(key))
        return min(max(relative, 0), last)
    return number


def left(states, number, path):
    """Return the first state in which the innermost frame is not waiting any more."""
    kont = outwards(states[number].threads[path].kont, 0)
    for n in range(number + 1, len(states)):
        thread = states[n].threads.get(path)
        if thread is None or isinstance(thread.state, Halt | Fail):
            return n
        inner = thread.kont
        while inner and inner is not kont:
            inner = inner[1]
        if inner is not kont:
            return n
    return number


def check(program, value, oracle, keys):
    linked, states, viewer = opened(program, value, oracle)
    stepper = viewer.stepper
    for key in keys:
        wanted = expected(states, stepper.number, stepper.path, key)
        press(viewer, key)
        assert stepper.number == wanted
        assert encode_machine(linked, stepper.state) == encode_machine(linked, states[wanted])
        page = stepper.page()
        assert tuple(page.counters.values()) == states[wanted].counters
        assert page.number == wanted
        assert not page.within.startswith("loop "), "no step, but a mark for listeners"


@given(programs(), inputs, seeds, KEYS)
def test_a_program_is_shown_as_it_is(program, value, seed, keys):
    check(program, value, content(seed), keys)


@given(agents(), inputs, seeds, KEYS)
def test_an_agent_is_shown_as_it_is(agent, value, seed, keys):
    check(compiled(agent), value, answers(seed), keys)


@given(agents(), inputs, seeds, KEYS, SIZES)
def test_screens_have_the_size_that_is_asked_for(agent, value, seed, keys, size):
    _, _, viewer = opened(compiled(agent), value, answers(seed))
    for key in keys:
        press(viewer, key)
        lines = viewer.screen(size, with_marks=True)
        assert len(lines) == size.height
        assert all(columns(line) <= size.width for line in text_of(lines).split("\n"))
        assert all(columns("".join(piece.text for piece in line)) <= size.width for line in lines)


@few
@given(agents(), inputs, seeds, NEEDLES, st.integers(0, MOST))
def test_a_search_finds_the_next_and_the_last_place(agent, value, seed, needle, place):
    _, states, viewer = opened(compiled(agent), value, answers(seed))
    stepper = viewer.stepper
    press(viewer, "end")
    sight = stepper.sight
    made = [transition_of(sight.readback, stepper.history.move(n)) for n in range(1, len(states))]
    finder = Finder(sight, needle, library())
    shown = [each.number for each in made if finder.shows(each)]
    for each in made:
        if any(
            needle.casefold() in sight.term(term).casefold() for term in (each.redex, each.result)
        ):
            assert each.number in shown
    number = place % len(states)
    press(viewer, str(number))
    for key in ("/", *needle, "enter"):
        viewer.press(key)
    finished(viewer)
    assert stepper.number == next((n for n in shown if n > number), number)
    press(viewer, str(number))
    press(viewer, "P")
    assert stepper.number == next((n for n in reversed(shown) if n < number), number)


@few
@given(agents(), inputs, seeds, st.data())
def test_what_is_shown_is_not_passed_by(agent, value, seed, data):
    _, states, viewer = opened(compiled(agent), value, answers(seed))
    stepper = viewer.stepper
    press(viewer, "end")
    sight = stepper.sight
    moves = [stepper.history.move(number) for number in range(1, len(states))]
    made = [transition_of(sight.readback, move) for move in moves]
    texts = " ".join(sight.term(term) for each in made for term in (each.redex, each.result))
    pieces = re.findall(r"[^\W\d_]{2,}", texts) + re.findall(r"\S+ \S+", texts)
    words = sorted({piece[:n].strip() for piece in pieces for n in (2, 5, 60)})
    for needle in data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=2)):
        finder = Finder(sight, needle, library())
        shown = [finder.shows(each) for each in made]
        assert [finder.shown_by(move) for move in moves] == shown
