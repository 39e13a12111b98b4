"""The terminal of `trace --slow`: keys in, screens out; `api.viewer` says what they mean.

Loaded when it is wanted: the library for terminals takes its time.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from lambdagent.api.viewer import Viewer
from lambdagent.cli.output import ReaderGoneError
from lambdagent.trace.screen import Line, Size

_STYLE = Style.from_dict(
    {
        "redex": "bold underline ansimagenta",
        "title": "bold",
        "kind": "bold ansigreen",
        "key": "bold",
        "dim": "dim",
    }
)
_KEYS = {
    Keys.Enter: "enter",
    Keys.ControlJ: "enter",
    Keys.Right: "right",
    Keys.Left: "left",
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.PageUp: "pageup",
    Keys.PageDown: "pagedown",
    Keys.Home: "home",
    Keys.End: "end",
    Keys.Backspace: "backspace",
    Keys.Escape: "escape",
    Keys.ControlC: "c-c",
    Keys.ControlD: "c-d",
    Keys.SIGINT: "c-c",
}
# Seconds after Esc until it is a key of its own.
_ESCAPE_S = 0.05
# Seconds of work between two looks at the keyboard, and between two pictures of it.
_SLICE_S, _PICTURE_S = 0.02, 0.1


def has_screen() -> bool:
    """Whether there is a person at a terminal that can show more than lines."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    streams = sys.stdin, sys.stdout  # None where the process was started without them
    return all(stream is not None and stream.isatty() for stream in streams)


def watch(viewer: Viewer, source: Input | None = None, target: Output | None = None) -> None:
    """Show `viewer` until the person quits; the terminal is as before then.

    Args:
        viewer: Who looks at what.
        source: Where keys come from; the terminal by default.
        target: Where screens go; the terminal by default.

    Raises:
        KeyboardInterrupt: It was Ctrl-C that ended it.
        ReaderGoneError: The terminal is gone.
    """
    before = termios.tcgetattr(sys.stdin) if source is None else None
    try:
        _Screen(viewer, source, target).run()
    except (EOFError, OSError):
        raise ReaderGoneError from None
    finally:
        if before is not None:  # a signal may end the library before it has put things right
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


class _Screen:
    def __init__(self, viewer: Viewer, source: Input | None, target: Output | None) -> None:
        self.viewer = viewer
        self.is_plain = bool(os.environ.get("NO_COLOR"))
        self.woken: asyncio.Event | None = None
        control = FormattedTextControl(self.text, focusable=True, show_cursor=False)
        self.application: Application[None] = Application(
            layout=Layout(Window(control, wrap_lines=False, always_hide_cursor=True)),
            key_bindings=self.keys(),
            style=_STYLE,
            color_depth=ColorDepth.DEPTH_1_BIT if self.is_plain else None,
            full_screen=True,
            input=source,
            output=target,
        )
        self.application.ttimeoutlen = self.application.timeoutlen = _ESCAPE_S

    def run(self) -> None:
        self.application.run(pre_run=self.begin)

    def begin(self) -> None:
        self.woken = asyncio.Event()
        self.application.create_background_task(self.work())

    def text(self) -> StyleAndTextTuples:
        """Return the screen as the library wants it."""
        rows, columns = self.application.output.get_size()
        lines = self.viewer.screen(Size(columns, rows), with_marks=self.is_plain)
        return _fragments(lines)

    def keys(self) -> KeyBindings:
        bindings = KeyBindings()
        for key, name in _KEYS.items():
            bindings.add(key)(self.pressing(name))
        bindings.add(Keys.Any)(lambda event: self.press(event, event.data))

        @bindings.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            self.viewer.type(event.data)

        @bindings.add(Keys.ControlZ)
        def _(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        return bindings

    def pressing(self, name: str) -> Callable[[KeyPressEvent], None]:
        return lambda event: self.press(event, name)

    def press(self, event: KeyPressEvent, name: str) -> None:
        if event.app.is_done:  # keys that came with the one that quits
            return
        self.viewer.press(name)
        if self.viewer.has_quit and name == "c-c":
            event.app.exit(exception=KeyboardInterrupt())
        elif self.viewer.has_quit:
            event.app.exit()
        if self.woken is not None:
            self.woken.set()

    async def work(self) -> None:
        """Do what takes time, in pieces between which keys are heard."""
        assert self.woken is not None
        shown = 0.0
        while not self.viewer.has_quit:
            pause_s = self.viewer.pause_s
            if pause_s != 0:
                await self.wait(pause_s)
                continue
            until = time.monotonic() + _SLICE_S
            while self.viewer.pause_s == 0 and time.monotonic() < until:
                self.viewer.tick()
            if self.viewer.pause_s != 0 or time.monotonic() > shown + _PICTURE_S:
                self.application.invalidate()
                shown = time.monotonic()
            await asyncio.sleep(0)

    async def wait(self, pause_s: float | None) -> None:
        """Wait for a key, or until it is time for the next step."""
        assert self.woken is not None
        self.woken.clear()
        try:
            await asyncio.wait_for(self.woken.wait(), pause_s)
        except TimeoutError:
            self.viewer.tick()
            self.application.invalidate()


def _fragments(lines: list[Line]) -> StyleAndTextTuples:
    fragments: StyleAndTextTuples = []
    for line in lines:
        if fragments:
            fragments.append(("", "\n"))
        fragments += [(f"class:{style}" if style else "", text) for text, style in line]
    return fragments
