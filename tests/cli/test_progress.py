"""The line that tells how far long work on a recorded run is."""

import io
import os
import pty
import subprocess
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lambdagent import load_program
from lambdagent.api.recording import document
from lambdagent.api.running import Session
from lambdagent.cli import progress
from lambdagent.cli.commands import trace
from lambdagent.cli.output import Output
from lambdagent.effects.redaction import Redaction
from lambdagent.errors import BudgetError
from tests.cli import unhurried
from tests.cli.command import PATIENCE_S, ROOT

SHORT = 10_000
UNHURRIED = """\
from tests.cli.unhurried import patch
from lambdagent.cli.main import entry
patch()
entry()
"""


class Terminal:
    """What a terminal is sent."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self._told: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._master, 1 << 16):
                self._told.append(chunk)
        except OSError:  # the other side is closed
            return

    def told(self) -> str:
        """Return all of it, once everybody has closed the other side."""
        self._reader.join(PATIENCE_S)
        os.close(self._master)
        return b"".join(self._told).decode()


@contextmanager
def screen() -> Iterator[tuple[Terminal, io.TextIOWrapper]]:
    terminal = Terminal()
    with os.fdopen(terminal.slave, "w", encoding="utf-8") as stream:
        yield terminal, stream


def recorded(folder: Path, transitions: int) -> Path:
    """Record a run that was stopped after so many `transitions`."""
    (folder / "a.lam").write_text("λx. (λw. w w) (λw. w w)", encoding="utf-8")
    path = folder / "run.json"
    with Session(load_program(folder / "a.lam")) as session:
        with pytest.raises(BudgetError) as caught:
            session.run("x", transition_limit=transitions)
        execution = session.history()
        assert execution is not None
        outcome = {"error": str(caught.value), "trace": []}
        path.write_text(document(execution, outcome, Redaction({})), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("short"), SHORT)


def shown(
    monkeypatch: pytest.MonkeyPatch, *options: str, run: Path, after_s: float = 0.0
) -> tuple[str, str]:
    """Return what `trace` writes to its terminal, where errors go, and to standard output."""
    monkeypatch.setattr(progress, "_AFTER_S", after_s)
    if not after_s:
        monkeypatch.setattr(progress.ProgressLine, "at", unhurried.at)
    monkeypatch.setenv("TERM", "xterm")
    parser, written = ArgumentParser(), io.StringIO()
    trace.add_arguments(parser)
    with screen() as (terminal, stream):
        code = trace.run(parser.parse_args([str(run), *options]), Output(written, stream))
    assert code == 0
    return terminal.told(), written.getvalue()


@pytest.mark.parametrize("option", ["--check", "--slow"])
def test_long_work_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch, run: Path, option: str):
    told, written = shown(monkeypatch, option, run=run)
    assert "transitions" in told
    assert f" of {SHORT:,} | " in told
    assert " | " not in written.splitlines()[0]
    *_, last = told.rstrip().rpartition("\x1b[2K")
    assert " of " not in last, "the line is gone at the end"


def test_a_page_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch, run: Path, tmp_path: Path):
    told, _ = shown(monkeypatch, "--html", str(tmp_path / "run.html"), run=run)
    assert f" of {SHORT:,} | " in told
    assert told.rstrip().endswith("kB")


def test_short_work_and_quiet_work_tell_nothing(monkeypatch: pytest.MonkeyPatch, run: Path):
    told, _ = shown(monkeypatch, "--stats", run=run, after_s=PATIENCE_S)
    assert told == ""
    told, _ = shown(monkeypatch, "--check", "--quiet", run=run)
    assert told == ""


def test_without_a_terminal_there_is_nothing_and_with_one_there_is_after_a_second(tmp_path: Path):
    run = recorded(tmp_path, SHORT)
    command = [sys.executable, "-c", UNHURRIED, "trace", str(run), "--check"]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=PATIENCE_S, check=True
    )
    assert done.stderr == ""
    terminal = Terminal()
    subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=terminal.slave,
        env=environment,
        timeout=PATIENCE_S,
        check=True,
    )
    os.close(terminal.slave)
    assert f" of {SHORT:,} | " in terminal.told()
