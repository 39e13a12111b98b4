"""Ctrl-C and limits in real processes: the end comes, and takes the tools along.

Every tool holds a pipe open for as long as any process of its group lives. The tests send their
signal when the tool has said so through the pipe, and read on until all of them are dead.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.cli.command import PATIENCE_S, Command, environment

# Who runs the tests in the background of a shell has Ctrl-C ignored, and so would the process.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from lambdagent.cli.main import entry
entry()
"""
POLITE = "echo $$ >&3; sleep 1000 & sleep 1000"
STUBBORN = f"trap '' TERM INT; {POLITE}; sleep 1000"


@attrs.define
class Lifeline:
    """The reading end of the pipe that a tool holds open."""

    path: Path
    descriptor: int
    leader: int | None = None

    def wait_for_the_tool(self) -> None:
        """Return when the tool has started."""
        self.leader = int(self._read(select.POLLIN) or 0)
        assert self.leader, "the tool did not start"

    def wait_for_the_end(self) -> None:
        """Return when no process of the tool lives."""
        assert self._read(select.POLLHUP) == b"", "the tool still lives"

    def _read(self, event: int) -> bytes | None:
        poller = select.poll()  # unlike `select`, it waits for the first writer too
        poller.register(self.descriptor, event)
        return os.read(self.descriptor, 100) if poller.poll(PATIENCE_S * 1000) else None


@pytest.fixture
def lifeline(tmp_path: Path) -> Iterator[Lifeline]:
    path = tmp_path / "lifeline"
    os.mkfifo(path)
    line = Lifeline(path, os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    yield line
    if line.leader is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(line.leader, signal.SIGKILL)
    os.close(line.descriptor)


def start(command: Command, script: str, *options: str) -> subprocess.Popen[bytes]:
    tool = f"wc=exec 3>lifeline; {script}"
    argv = ["run", "react.yml", "x", "--tool", tool, *options]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *argv],
        cwd=command.folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("script", [POLITE, STUBBORN], ids=["polite", "stubborn"])
def test_ctrl_c_ends_the_run_and_its_tool(command: Command, lifeline: Lifeline, script: str):
    with start(command, script, "--trace") as process:
        try:
            lifeline.wait_for_the_tool()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == "interrupted\n"
    lifeline.wait_for_the_end()


@pytest.mark.parametrize("option", ["--timeout", "--tool-timeout"])
def test_a_limit_ends_a_tool_that_wants_to_live(command: Command, lifeline: Lifeline, option: str):
    with start(command, STUBBORN, option, "0.5") as process:
        try:
            lifeline.wait_for_the_tool()
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    expected = (1, b"") if option == "--timeout" else (0, b"done\n")
    assert (process.returncode, out) == expected
    assert b"Traceback" not in err
    lifeline.wait_for_the_end()


CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
SAID = {signal.SIGINT: b"interrupted\n"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_termination_takes_the_tools_along(
    command: Command, lifeline: Lifeline, number: signal.Signals
):
    with start(command, POLITE) as process:
        try:
            lifeline.wait_for_the_tool()
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, b"Traceback" in err) == (CODES[number], False)
    lifeline.wait_for_the_end()


@pytest.mark.parametrize("number", CODES)
def test_repeated_signals_are_as_one(command: Command, lifeline: Lifeline, number: signal.Signals):
    with start(command, POLITE, "--trace") as process:
        try:
            lifeline.wait_for_the_tool()
            while process.poll() is None:
                process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (CODES[number], b"", SAID.get(number, b""))
    lifeline.wait_for_the_end()


# --- a process that gets its signals from itself, at a moment of our choice ----------------------

HEAD = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from lambdagent.cli import main
def hit(*numbers):
    for number in numbers:
        os.kill(os.getpid(), number)
"""
BEFORE = """
def begin(argv):
    hit(SIGNALS)
    return 0
main.main = begin
"""
WHILE_ENDING = """
def begin(argv):
    try:
        hit(SIGNALS)
    finally:
        hit(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        print("cleaned up", flush=True)
main.main = begin
"""
AFTER = """
import atexit
atexit.register(hit, SIGNALS)
main.main = lambda argv: 0
"""
HANGING = """
import threading
main._FAREWELL_S = 0.05
def begin(argv):
    try:
        hit(SIGNALS)
    finally:
        threading.Event().wait()
main.main = begin
"""
LATE = """
import atexit
atexit.register(hit, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def begin(argv):
    hit(SIGNALS)
main.main = begin
"""


def itself(body: str, number: signal.Signals) -> subprocess.CompletedProcess[bytes]:
    """Return how a process ended that sends itself signals where `body` says."""
    program = f"{HEAD}{body.replace('SIGNALS', f'signal.{number.name}')}\nmain.entry()\n"
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("body", [BEFORE, AFTER, HANGING, LATE])
@pytest.mark.parametrize("number", CODES)
def test_a_signal_has_its_exit_code_at_any_moment(body: str, number: signal.Signals):
    done = itself(body, number)
    assert (done.returncode, done.stderr) == (CODES[number], b"")


@pytest.mark.parametrize("number", CODES)
def test_what_ends_is_not_broken_off_by_further_signals(number: signal.Signals):
    done = itself(WHILE_ENDING, number)
    assert (done.returncode, done.stdout, done.stderr) == (CODES[number], b"cleaned up\n", b"")


@pytest.mark.parametrize("number", CODES)
def test_a_signal_that_was_ignored_before_stays_ignored(number: signal.Signals):
    """As `nohup` wants it, and a shell for what it runs in the background."""
    done = itself(f"signal.signal(SIGNALS, signal.SIG_IGN)\n{BEFORE}", number)
    assert (done.returncode, done.stderr) == (0, b"")
