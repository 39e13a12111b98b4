"""The command `lambdagent`, in this process and as a process of its own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0

SIMPLE = """\
type: simple
name: echo
systemPrompt: Echo.
model: {provider: scripted, script: {rules: [{match: '(?i)hello', reply: Hi there}, {reply: ok}]}}
"""
REACT = """\
type: react
name: worker
systemPrompt: Work.
model:
  provider: scripted
  script:
    replies:
      - '{"tool": "wc", "args": "f.txt"}'
    rules:
      - {match: '', reply: '{"tool": "terminate", "args": "done"}'}
react: {maxSteps: 4}
mcp: {localTools: [terminate]}
"""


def scripted(*replies: str, more: str = "") -> str:
    """Return a simple agent that answers `replies`, with `more` fields."""
    script = json.dumps({"replies": replies})
    model = f"{{provider: scripted, script: {script}}}"
    return f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n{more}"


@attrs.frozen
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class NeverRead(io.RawIOBase):
    """A standard input that nobody may read."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        what = "standard input was read"
        raise AssertionError(what)


@attrs.frozen(eq=False)
class Command:
    """`lambdagent`, in a folder of its own.

    Attributes:
        folder: The working directory; the agents in it are ``simple.yml`` and ``react.yml``.
    """

    folder: Path
    _patch: pytest.MonkeyPatch
    _capture: Callable[[], Any]

    def __call__(self, *argv: str, stdin: bytes | None = None) -> Done:
        """Run `main`; without `stdin`, reading it is a fault."""
        raw = io.BufferedReader(NeverRead()) if stdin is None else io.BytesIO(stdin)
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(raw))
        self._capture()
        code = main(argv)
        said = self._capture()
        return Done(code, said.out, said.err)

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file into the folder and return its name."""
        data = text.encode() if isinstance(text, str) else text
        (self.folder / name).write_bytes(data)
        return name

    def process(
        self, *argv: str, stdin: bytes | None = b"", env: Mapping[str, str] | None = None
    ) -> Done:
        """Run a real process."""
        done = subprocess.run(
            [sys.executable, "-m", "lambdagent", *argv],
            cwd=self.folder,
            env=environment(env),
            input=stdin,
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which `python -m lambdagent` is found, plus `more`."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(more or {})}


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """`lambdagent` in an empty folder with two agents."""
    monkeypatch.chdir(tmp_path)
    made = Command(tmp_path, monkeypatch, capsys.readouterr)
    made.write("simple.yml", SIMPLE)
    made.write("react.yml", REACT)
    return made
