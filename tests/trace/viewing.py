"""Recorded runs to look at, with the same seconds each time."""

from pathlib import Path

import attrs

from lambdagent.api.recording import Recording, load
from lambdagent.api.reducing import library
from lambdagent.api.stepping import Stepper
from lambdagent.api.viewer import Viewer
from lambdagent.effects.journal import Recorded


def viewer_of(path: Path) -> Viewer:
    """Return who looks at the run in the file at `path`, in which each answer takes 0.5 s."""
    return Viewer(Stepper(timed(load(path)), library()))


def timed(recording: Recording) -> Recording:
    """Return `recording` as if its requests had gone out a second apart, clocks included."""
    answers = {
        key: Recorded(
            float(number) if isinstance(each.answer, float) else each.answer, float(number), 0.5
        )
        for number, (key, each) in enumerate(sorted(recording.told.answers.items()))
    }
    return attrs.evolve(recording, told=recording.told._replace(answers=answers))


def press(viewer: Viewer, *keys: str) -> None:
    """Press `keys`, one after the other, and wait for what each of them begins."""
    for key in keys:
        viewer.press(key)
        while viewer.is_walking:
            viewer.tick()


def known(viewer: Viewer) -> Viewer:
    """Go through the whole run, as happens while nobody presses a key."""
    while viewer.pause_s == 0:
        viewer.tick()
    return viewer
