"""`lambdagent trace --slow`: keys of a terminal, and what is printed where there is none."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import attrs
import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from lambdagent.cli.slow import has_screen, watch
from tests.cli.command import PATIENCE_S, Command, environment
from tests.trace.viewing import viewer_of

RUN = ("run", "react.yml", "count", "--tool", "wc=echo 3 f.txt", "--quiet")
TO_SCREEN, FROM_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
RIGHT, LEFT, UP, HOME, END = "\x1b[C", "\x1b[D", "\x1b[A", "\x1b[H", "\x1b[F"


@pytest.fixture
def recorded(command: Command) -> Command:
    assert command(*RUN, "--trace-file", "run.json").code == 0
    return command


def pressed(recorded: Command, text: str) -> tuple[int, str]:
    """Return where the keys of `text` lead, and the view."""
    viewer = viewer_of(recorded.folder / "run.json")
    with create_pipe_input() as source:
        source.send_text(text)
        watch(viewer, source, DummyOutput())
    return viewer.stepper.number, viewer.view


def test_keys_of_a_terminal_do_what_is_said(recorded: Command):
    assert pressed(recorded, "q") == (0, "all")
    assert pressed(recorded, f"\r {RIGHT}q") == (3, "all")
    assert pressed(recorded, f"\r\r\rb{LEFT}\x7fq") == (0, "all")
    assert pressed(recorded, f"{END}{HOME}g12\rkq") == (12, "continuation")
    assert pressed(recorded, f"g12\r{END}t{UP}b\x04")[1] == "tree"
    assert pressed(recorded, "/tool:wc\rq") == pressed(recorded, "/TOOL:W\x7fW\x7fwc\rq")
    assert pressed(recorded, "\x1b[200~qqq\x1b[201~hq") == (0, "help")
    assert pressed(recorded, "g\x1b[200~1\x1b[201~2\rq") == (12, "all")


def test_ctrl_c_quits_as_an_interruption(recorded: Command):
    with pytest.raises(KeyboardInterrupt):
        pressed(recorded, "\r\x03")
    assert pressed(recorded, "/x\x03q") == (0, "all")


def test_escape_is_a_key_of_its_own(recorded: Command):
    viewer = viewer_of(recorded.folder / "run.json")
    viewer.press("k")
    with create_pipe_input() as source:
        source.send_text("\x1b")
        seen = viewer.press

        def quits(key: str) -> None:
            seen(key)
            seen("q")

        viewer.press = quits  # type: ignore[method-assign]
        watch(viewer, source, DummyOutput())
    assert viewer.view == "all"


def test_where_there_is_no_terminal_the_steps_are_printed(recorded: Command):
    done = recorded("trace", "run.json", "--slow")
    last = viewer_of(recorded.folder / "run.json").stepper
    last.ensure(1_000)
    assert done.code == 0
    assert done.out.count("\nstep ") + 1 == last.history.length
    assert done.out.count("  before  ") == done.out.count("  after   ") == last.history.length
    assert "\x1b" not in done.out
    one = recorded("trace", "run.json", "--slow", "--step", "2").out
    assert one.startswith("step 2: β beta\n  (λx. t) v ⟶ t[x := v]\n  The argument takes")
    assert one.count("step ") == 1
    assert recorded("trace", "run.json", "--slow", "--step", "999").code == 2


@pytest.mark.parametrize("more", [("--filter", "text"), ("--format", "json"), ("--level", "beta")])
def test_what_is_another_view_is_refused(recorded: Command, more: tuple[str, str]):
    done = recorded("trace", "run.json", "--slow", *more)
    assert (done.code, done.out) == (2, "")
    assert f"error[U001]: `--slow` and `{more[0]}` exclude each other" in done.err


@pytest.mark.parametrize("term", [None, "dumb"])
def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch, term: str | None):
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert has_screen()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        assert not has_screen()
    if term is None:
        monkeypatch.delenv("TERM")
    else:
        monkeypatch.setenv("TERM", term)
    assert not has_screen()


# --- a real terminal -----------------------------------------------------------------------------


@attrs.define
class Terminal:
    """A terminal with a process in it."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int
    seen: bytes = b""

    def wait_for(self, text: bytes) -> None:
        until = time.monotonic() + PATIENCE_S
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += os.read(self.master, 65536)
            assert time.monotonic() < until, self.seen

    def press(self, text: str) -> None:
        os.write(self.master, text.encode())


@pytest.fixture
def terminal(recorded: Command) -> Iterator[Terminal]:
    """`trace --slow` in a terminal of 90 × 20, with its first screen shown."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 90, 0, 0))
    command = [sys.executable, "-m", "lambdagent", "trace", "run.json", "--slow"]
    process = subprocess.Popen(
        command,
        cwd=recorded.folder,
        env=environment({"TERM": "xterm", "NO_COLOR": "1"}),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    shown = Terminal(process, master, slave)
    try:
        yield shown
    finally:
        process.kill()
        process.wait()
        for descriptor in (master, slave):
            os.close(descriptor)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "code"), [("q", 0), ("\x03", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_terminal_is_as_before_when_all_is_over(
    terminal: Terminal, end: str | signal.Signals, code: int
):
    before = termios.tcgetattr(terminal.slave)
    terminal.wait_for(b"step 0 of ")
    assert terminal.seen.count(TO_SCREEN) == 1
    terminal.press("g2\r")
    terminal.wait_for(b"t[x := v]")
    assert "‹".encode() in terminal.seen
    assert b"\x1b[35m" not in terminal.seen
    if isinstance(end, str):
        terminal.press(end)
    else:
        terminal.process.send_signal(end)
    terminal.wait_for(FROM_SCREEN)
    assert terminal.process.wait(PATIENCE_S) == code
    assert termios.tcgetattr(terminal.slave) == before
    assert b"Traceback" not in terminal.seen


@pytest.mark.slow
def test_a_terminal_that_changes_its_size_gets_another_screen(terminal: Terminal):
    terminal.wait_for(b"step 0 of ")
    fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 30, 0, 0))
    terminal.process.send_signal(signal.SIGWINCH)
    terminal.wait_for("at least 40×12".encode())
    terminal.press("q")
    assert terminal.process.wait(PATIENCE_S) == 0
