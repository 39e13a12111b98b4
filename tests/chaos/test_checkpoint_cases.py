"""The shared cases of checkpoints, with real processes."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases import load_cases
from tests.cli.command import PATIENCE_S, environment
from tests.effects.llm.completions import says
from tests.effects.local_server import LocalServer

TOOL = "append_line=cat >> log; echo >> log; echo added"


@pytest.fixture
def server() -> Iterator[LocalServer]:
    made = LocalServer()
    yield made
    made.close()


def command(folder: Path, server: LocalServer, *argv: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "lambdagent", "run", *argv],
        cwd=folder,
        env=environment({"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": server.url}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(is_so: Any) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not get there"
        time.sleep(0.01)


@pytest.mark.parametrize("case", load_cases("checkpoint"), ids=lambda case: case["id"])
def test_a_case(case: dict[str, Any], tmp_path: Path, server: LocalServer):
    for name, text in case["files"].items():
        (tmp_path / name).write_text(text)
    check = _killed if "kill" in case["fault"] else _cut_short
    check(case, tmp_path, server)


def _killed(case: dict[str, Any], folder: Path, server: LocalServer) -> None:
    """Kill the run when its first tool result is on disk and the next question has gone out."""
    first, *others = [says(text) for text in case["fake_llm"]]
    server.answer(first)
    process = command(folder, server, "a.yml", "go", "--tool", TOOL)
    with process:
        wait_until(lambda: len(server.asked) == 2)
        process.kill()
    assert (folder / "log").read_text().split() == case["expect"]["log_lines"][:1]
    server.answer(*others)
    resumed = command(folder, server, "--resume", "ckpt")
    out, err = resumed.communicate(timeout=PATIENCE_S)
    assert (resumed.returncode, out) == (0, case["expect"]["result"] + "\n"), err
    assert (folder / "log").read_text().split() == case["expect"]["log_lines"]
    # The question that was open when the process died is the only one that was asked twice.
    assert len(server.asked) - 1 == case["expect"]["llm_calls_total"]
    assert server.asked[1].body == server.asked[2].body


def _cut_short(case: dict[str, Any], folder: Path, server: LocalServer) -> None:
    """Cut the newest states, and the journal, to so many bytes."""
    expected = case["expect"]["one_of"]
    for name in ("states", "journal"):
        server.answer(*map(says, case["fake_llm"]))
        process = command(folder, server, "a.yml", "go", "--tool", TOOL)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, err
        newest = max((folder / "ckpt").iterdir(), key=os.path.getmtime)
        os.truncate(newest / name, case["fault"]["keep_bytes"])
        server.answer(*map(says, case["fake_llm"]))
        resumed = command(folder, server, "--resume", str(newest), "--in-doubt", "retry")
        out, err = resumed.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in err
        server.answers.clear()
        if resumed.returncode == 0:
            assert {"resumed_from": "previous"} in expected
            assert out == "finished\n"
        else:
            (told,) = [each for each in expected if each.get("error") == "checkpoint"]
            assert all(word in err for word in told["message_has"])


def test_a_flipped_bit_is_told_as_corrupt(tmp_path: Path, server: LocalServer):
    case = load_cases("checkpoint")[-1]
    (tmp_path / "a.yml").write_text(case["files"]["a.yml"])
    server.answer(*map(says, case["fake_llm"]))
    process = command(tmp_path, server, "a.yml", "go", "--tool", TOOL)
    process.communicate(timeout=PATIENCE_S)
    (run,) = (tmp_path / "ckpt").iterdir()
    for name in ("states", "journal"):
        raw = bytearray((run / name).read_bytes())
        raw[30] ^= 4
        (run / name).write_bytes(raw)
        resumed = command(tmp_path, server, "--resume", str(run))
        _, err = resumed.communicate(timeout=PATIENCE_S)
        # The journal makes up for states, and nothing for the journal.
        assert resumed.returncode == (1 if name == "journal" else 0)
        assert "corrupt" in err
        raw[30] ^= 4
        (run / name).write_bytes(raw)
