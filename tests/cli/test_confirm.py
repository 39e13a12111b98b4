"""Calls that wait for a person: ``--approve``, ``--deny``, and the question in a terminal."""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.cli.command import PATIENCE_S, ROOT, Command, environment
from tests.cli.test_interrupt import PROGRAM
from tests.cli.test_kept_runs import KEPT, only_run

SCRIPT = """\
model:
  provider: scripted
  script:
    rules:
      - {match: 'DENIED: send', reply: '{"tool": "terminate", "args": "not sent"}'}
      - {match: 'from send', reply: '{"tool": "terminate", "args": "sent"}'}
      - {match: 'from look', reply: '{"tool": "send", "args": "hello"}'}
      - {reply: '{"tool": "look", "args": "around"}'}
"""
WORKER = f"""\
type: react
name: worker
systemPrompt: Work.
{SCRIPT}confirm: [send]
mcp: {{localTools: [terminate]}}
"""
COUNCIL = f"""\
type: parallel
name: council
systemPrompt: All.
{SCRIPT}parallel:
  merge: concat
  agents:
    - &worker
      type: react
      systemPrompt: Work.
      confirm: [send]
      mcp: {{localTools: [terminate]}}
    - *worker
"""
TOOLS = (
    *("--tool", 'send=read -r what; echo "$what" >> calls; echo ok'),
    *("--tool", "look=echo look >> calls; echo seen"),
)


@pytest.fixture(autouse=True)
def agents(command: Command) -> None:
    command.write("worker.yml", WORKER)
    command.write("council.yml", COUNCIL)


def calls(command: Command) -> list[str]:
    path = command.folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def suspended(command: Command, file: str = "worker.yml") -> str:
    done = command("run", file, "go", *TOOLS, *KEPT)
    assert (done.code, done.out) == (75, "")
    return only_run(command)


# --- without a terminal --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "answer"),
    [
        (("--approve",), "The letter is sent.\n"),
        (("--deny", "no"), "The letter was not sent.\n"),
    ],
)
def test_the_example_waits_as_its_comment_says(
    command: Command, decision: tuple[str, ...], answer: str
):
    example = ROOT / "examples" / "approval.yml"
    said = [line.removeprefix("#   lambdagent ") for line in example.read_text().splitlines()]
    _, begin, go_on = (shlex.split(line) for line in said if line.startswith("run "))
    assert go_on == ["run", "--resume", "runs", "--approve"]
    begin[1] = str(example)
    done = command(*begin)
    assert (done.code, done.out) == (75, "")
    done = command(*go_on[:-1], *decision)
    assert (done.code, done.out) == (0, answer)


def test_a_run_suspends_and_says_how_to_go_on(command: Command):
    done = command("run", "worker.yml", "go", *TOOLS, *KEPT)
    run = only_run(command)
    assert (done.code, done.out, calls(command)) == (75, "", ["look"])
    assert "error[R008]: the run waits until somebody confirms the call of `send`" in done.err
    assert "at @3, with: hello\n" in done.err
    assert f'fix: `lambdagent run --resume {run} --approve` makes the call, `--deny "why"`' in (
        done.err
    )
    assert "to go on:" not in done.err


def test_a_run_that_waits_is_listed_as_such(command: Command):
    suspended(command)
    assert "waits for confirm:send" in command("checkpoints", "runs").out
    (row,) = json.loads(command("checkpoints", "runs", "--format", "json").out)
    assert (row["stands"], row["calls"]) == ("waits for confirm:send", 3)
    shown = command("checkpoints", "runs", "--show", Path(only_run(command)).name)
    assert "asks confirm:send (@3): hello" in shown.out


def test_approved_in_another_process_it_goes_on_and_repeats_nothing(command: Command):
    run = suspended(command)
    done = command.process("run", "--resume", run, "--approve", "--trace")
    assert (done.code, done.out) == (0, "sent\n")
    assert calls(command) == ["look", "hello"]
    assert "approved: the call of `send` at @3, with: hello" in done.err
    assert re.search(r'Confirm:send .*"hello" → "approved"', done.err)
    again = command("run", "--resume", run)
    assert (again.code, again.out, calls(command)) == (0, "sent\n", ["look", "hello"])


def test_denied_in_another_process_the_model_is_told_why(command: Command):
    run = suspended(command)
    done = command.process("run", "--resume", "runs", "--deny", "not on Sundays", "--trace")
    assert (done.code, done.out, calls(command)) == (0, "not sent\n", ["look"])
    assert "denied: the call of `send` at @3, with: hello" in done.err
    assert "[DENIED: send] not on Sundays" in done.err
    assert command("run", "--resume", run).out == "not sent\n"


def test_a_run_waits_as_long_as_it_takes(command: Command):
    run = suspended(command)
    for _ in range(2):
        done = command("run", "--resume", run)
        assert (done.code, done.out, calls(command)) == (75, "", ["look"])
        assert "error[R008]" in done.err
    assert command("run", "--resume", run, "--approve").code == 0


def test_a_decision_is_made_once(command: Command):
    run = suspended(command)
    assert command("run", "--resume", run, "--approve").code == 0
    for option in (("--approve",), ("--deny", "why"), ("--approve", "@3")):
        again = command("run", "--resume", run, *option)
        assert (again.code, again.out) == (2, "")
        assert "error[U014]: no call waits to be confirmed" in again.err
    assert calls(command) == ["look", "hello"]


def test_a_run_that_is_not_kept_is_lost_and_says_so(command: Command):
    done = command("run", "worker.yml", "go", *TOOLS)
    assert (done.code, done.out, calls(command)) == (75, "", ["look"])
    assert "error[R009]" in done.err
    assert "the run is not kept, so it is lost" in done.err
    assert "--checkpoint-dir DIR" in done.err


def test_branches_are_decided_one_by_one_or_all_at_once(command: Command):
    run = suspended(command, "council.yml")
    keys = re.findall(r"--approve (@[\d.]+)`", command("run", "--resume", run).err)
    assert keys == ["@0.0.3", "@0.1.3"]
    one = command("run", "--resume", run, "--approve", keys[0])
    assert (one.code, calls(command)) == (75, ["look", "look", "hello"])
    assert "at @0.1.3, with: hello" in one.err
    other = command("run", "--resume", run, "--deny", f"{keys[1]}=one is enough")
    assert (other.code, other.out) == (0, "sent\n\nnot sent\n")
    assert calls(command) == ["look", "look", "hello"]


def test_all_that_wait_are_decided_together(command: Command):
    run = suspended(command, "council.yml")
    done = command("run", "--resume", run, "--approve")
    assert (done.code, done.out) == (0, "sent\n\nsent\n")
    assert calls(command) == ["look", "look", "hello", "hello"]


def test_what_is_named_goes_before_what_is_about_all(command: Command):
    run = suspended(command, "council.yml")
    done = command("run", "--resume", run, "--approve", "@0.1.3", "--deny", "enough", "--quiet")
    assert (done.code, done.out, done.err) == (0, "not sent\n\nsent\n", "")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--approve", "@9"), "U014"),
        (("--approve", "send"), "U014"),
        (("--deny", "@9=why"), "U014"),
        (("--approve", "--deny", "why"), "U001"),
        (("--approve", "@3", "--deny", "@3=why"), "U001"),
        (("--approve", "--approve"), "U001"),
        (("--approve", "--at", "1"), "U001"),
        (("--deny", "why", "--edit", "input=x"), "U001"),
    ],
)
def test_what_decides_nothing_is_refused(command: Command, options: tuple[str, ...], error: str):
    run = suspended(command)
    done = command("run", "--resume", run, *options)
    assert (done.code, done.out, calls(command)) == (2, "", ["look"])
    assert f"error[{error}]" in done.err


def test_a_decision_belongs_to_a_run_that_goes_on(command: Command):
    for option in (("--approve",), ("--deny", "why")):
        done = command("run", "worker.yml", "go", *TOOLS, *option)
        assert (done.code, calls(command)) == (2, [])
        assert "error[U011]" in done.err


def test_programs_read_what_waits(command: Command, tmp_path: Path):
    done = command("run", "worker.yml", "go", *TOOLS, *KEPT, "--format", "json")
    found = json.loads(done.out)
    assert done.code == 75
    assert found["suspended"] == {
        "run": only_run(command),
        "confirm": [{"key": "@3", "tool": "send", "argument": "hello"}],
    }
    assert [each["kind"] for each in found["trace"]][-2:] == ["llm", "route"]
    lost = command("run", "worker.yml", "go", *TOOLS, "--format", "json", "--output", "out.json")
    assert (lost.code, lost.out) == (75, "")
    assert json.loads((tmp_path / "out.json").read_text())["suspended"]["run"] is None


def test_a_trace_file_tells_how_far_it_came(command: Command, tmp_path: Path):
    done = command("run", "worker.yml", "go", *TOOLS, *KEPT, "--trace-file", "t.json", "--trace")
    found = json.loads((tmp_path / "t.json").read_text())
    assert (done.code, len(found["trace"])) == (75, 5)
    assert "R008" in found["error"]
    assert len(re.findall(r"^β\[", done.err, re.MULTILINE)) == 5


def test_the_policy_of_the_file_decides_who_is_confirmed(command: Command):
    text = WORKER.replace("confirm: [send]\n", "")
    for mode, code in (("force", 75), ("intelligence", 75), ("disable", 0), ("auto", 0)):
        policy = f"mcp: {{localTools: [terminate], policy: {{mode: {mode}}}}}\n"
        command.write("mode.yml", re.sub(r"mcp: .*\n", policy, text))
        assert command("run", "mode.yml", "go", *TOOLS).code == code
    assert calls(command) == ["look", "hello"] * 2


# --- in a terminal -------------------------------------------------------------------------------


# The terminal sends its signals to the session that it is the terminal of.
IN_TERMINAL = f"import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{PROGRAM}"


@attrs.define
class Terminal:
    """The command in a terminal, as a person sees it; its answer goes elsewhere."""

    process: subprocess.Popen[bytes]
    master: int
    seen: str = ""

    def wait_for(self, text: str) -> None:
        """Return when the terminal shows `text`."""
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], PATIENCE_S)
            assert ready, f"it does not say {text!r}, but {self.seen!r}"
            self.seen += os.read(self.master, 1000).decode()

    def type(self, text: str) -> None:
        """Type a text, or a control character."""
        self.seen = ""
        os.write(self.master, text.encode())

    def end(self) -> tuple[int, str]:
        """Return the exit code and the answer."""
        assert self.process.stdout is not None
        out = self.process.stdout.read().decode()
        return self.process.wait(PATIENCE_S), out


@pytest.fixture
def terminal(command: Command) -> Iterator[type[Terminal]]:
    """Makes commands in a terminal."""
    made: list[Terminal] = []

    def make(*argv: str) -> Terminal:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *argv],
            cwd=command.folder,
            env=environment(),
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        made.append(Terminal(process, master))
        return made[-1]

    yield make  # type: ignore[misc]
    for each in made:
        each.process.kill()
        each.process.wait()
        if each.process.stdout is not None:
            each.process.stdout.close()
        os.close(each.master)


QUESTION = "[y] make it   [n] do not, and say why   [s] stop here, and decide later"
RUN = ("run", "worker.yml", "go", *TOOLS)


@pytest.mark.parametrize("kept", [(), KEPT], ids=["lost", "kept"])
def test_a_person_in_a_terminal_is_asked(command: Command, terminal, kept: tuple[str, ...]):
    asked = terminal(*RUN, *kept)
    asked.wait_for(QUESTION)
    assert "`send` is about to be called, with: hello" in asked.seen
    assert calls(command) == ["look"]
    asked.type("perhaps\n")
    asked.wait_for(QUESTION)
    asked.type("y\n")
    assert asked.end() == (0, "sent\n")
    assert calls(command) == ["look", "hello"]


@pytest.mark.parametrize("kept", [(), KEPT], ids=["lost", "kept"])
def test_a_person_in_a_terminal_denies_with_a_reason(command: Command, terminal, kept):
    asked = terminal(*RUN, *kept, "--trace")
    asked.wait_for(QUESTION)
    asked.type("n\n")
    asked.wait_for("Why not, on one line:")
    asked.type("not today\n")
    asked.wait_for("[DENIED: send] not today")
    assert asked.end() == (0, "not sent\n")
    assert calls(command) == ["look"]


@pytest.mark.parametrize("key", ["s\n", "\x04"], ids=["stop", "end of input"])
def test_a_person_may_decide_later(command: Command, terminal, key: str):
    asked = terminal(*RUN, *KEPT)
    asked.wait_for(QUESTION)
    asked.type(key)
    asked.wait_for("--approve")
    assert asked.end() == (75, "")
    later = terminal("run", "--resume", "runs")
    later.wait_for(QUESTION)
    later.type("y\n")
    assert later.end() == (0, "sent\n")
    assert calls(command) == ["look", "hello"]


@pytest.mark.parametrize("kept", [(), KEPT], ids=["lost", "kept"])
def test_ctrl_c_at_the_question_ends_the_process(command: Command, terminal, kept):
    asked = terminal(*RUN, *kept)
    asked.wait_for(QUESTION)
    asked.type("\x03")
    asked.wait_for("interrupted")
    assert "to go on: lambdagent run --resume" in asked.seen or not kept
    assert asked.end() == (130, "")
    if kept:
        assert command("run", "--resume", "runs", "--approve").out == "sent\n"


def test_a_kill_at_the_question_loses_nothing(command: Command, terminal):
    asked = terminal(*RUN, *KEPT)
    asked.wait_for(QUESTION)
    asked.process.send_signal(signal.SIGKILL)
    assert asked.end() == (-signal.SIGKILL, "")
    assert "waits for confirm:send" in command("checkpoints", "runs").out
    done = command("run", "--resume", "runs", "--approve")
    assert (done.code, done.out, calls(command)) == (0, "sent\n", ["look", "hello"])


def test_what_an_option_decides_nobody_is_asked_about(command: Command, terminal):
    run = suspended(command, "council.yml")
    asked = terminal("run", "--resume", run, "--approve", "@0.0.3")
    asked.wait_for(QUESTION)
    assert asked.seen.count("is about to be called") == 1
    asked.type("n\n")
    asked.wait_for("Why not")
    asked.type("\n")
    assert asked.end() == (0, "sent\n\nnot sent\n")
