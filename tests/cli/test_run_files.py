"""``lambdagent run``: the answer, the trace and the recording in files."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lambdagent import Scripted
from lambdagent.cli.commands import run as run_command
from tests.cli.command import PATIENCE_S, Command, environment, scripted

USAGE = 2
AGENTS = """\
type: parallel
name: council
systemPrompt: Speak.
model: MODEL
parallel:
  merge: concat
  agents:
    - {type: simple, name: one, systemPrompt: a}
    - type: react
      name: two
      systemPrompt: b
      mcp: {localTools: [terminate]}
"""
REPLIES = {
    "one": ["from one"],
    "two": ['{"tool": "t", "args": "x"}', '{"tool": "terminate", "args": "from two"}'],
}


def shell(command: Command, line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which ``$L`` is `lambdagent`."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=command.folder,
        env=environment({"L": f"{sys.executable} -m lambdagent"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )


# --- pipes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--output", "--trace-file", "--record"])
def test_a_result_may_go_to_standard_output_in_a_pipe(command: Command, option: str):
    done = shell(command, f"$L run simple.yml Hello -q {option} /dev/stdout | cat")
    assert (done.stdout[:9], done.stderr) == (b"Hi there\n", b"")  # before what tells of the run
    assert b"Hi there" in done.stdout


@pytest.mark.parametrize("option", ["--output", "--trace-file", "--record"])
def test_a_result_may_go_to_a_process(command: Command, option: str):
    """What the process gets goes to standard error, which is read to its end."""
    done = shell(command, f"$L run simple.yml Hello -q {option} >(cat >&2)")
    assert b"Hi there" in done.stderr
    assert (done.returncode, b"cannot be written" in done.stderr) == (0, False)


# --- the trace outlives the answer ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("$L run {} > /dev/full", USAGE),
        ("mkfifo p; (exec < p) & exec 3> p; wait; $L run {} >&3", 141),  # the reader has left
    ],
)
def test_files_are_kept_when_nobody_takes_the_answer(command: Command, line: str, code: int):
    options = "simple.yml Hello --trace-file t.json --record r.jsonl"
    done = shell(command, line.format(options))
    assert done.returncode == code
    assert json.loads((command.folder / "t.json").read_text())["result"] == "Hi there"
    assert "Hi there" in (command.folder / "r.jsonl").read_text()


def test_the_answer_is_given_when_no_file_can_be_written(command: Command):
    (command.folder / "d").mkdir()
    argv = ("run", "react.yml", "x", "--tool", "wc=rmdir d")
    done = command(*argv, "--trace-file", "d/t.json", "--record", "d/r.jsonl")
    assert (done.code, done.out) == (USAGE, "done\n")
    assert "`d/t.json` cannot be written" in done.err
    assert "`d/r.jsonl` cannot be written" in done.err


# --- permissions, names --------------------------------------------------------------------------


def test_a_trace_and_a_recording_are_private_and_keep_what_was_chosen(command: Command):
    argv = ("run", "simple.yml", "Hello", "--trace-file", "t.json", "--record", "r.jsonl")
    paths = [command.folder / "t.json", command.folder / "r.jsonl"]
    for chosen in (0o600, 0o640):
        assert command(*argv).code == 0
        assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [chosen] * 2
        for path in paths:
            path.chmod(0o640)


def test_a_long_name_is_no_obstacle(command: Command):
    name = "n" * 250
    assert command("run", "simple.yml", "Hello", "--output", name).code == 0
    assert (command.folder / name).read_text() == "Hi there\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--output", "x", "--trace-file", "./x"),
        ("--output", "x", "--record", "x"),
        ("--trace-file", "x", "--record", "x"),
    ],
)
def test_one_file_for_two_results_is_refused_before_the_run(
    command: Command, options: tuple[str, ...]
):
    done = command("run", "react.yml", "x", "--tool", "wc=touch ran.txt", *options)
    assert (done.code, done.out) == (USAGE, "")
    assert "error[U006]" in done.err
    assert not (command.folder / "ran.txt").exists()
    assert not (command.folder / "x").exists()


def test_the_trace_file_of_the_environment_counts_too(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAMBDAGENT_TRACE_FILE", "x")
    assert "error[U006]" in command("run", "simple.yml", "Hello", "--output", "x").err


# --- numbers that JSON does not have -------------------------------------------------------------


def refuse(name: str) -> None:
    raise AssertionError(name)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_every_json_is_json(command: Command, monkeypatch: pytest.MonkeyPatch, name: str):
    from lambdagent.api import running

    def poisoned(result: running.Result) -> dict[str, object]:
        value = float(name.replace("Infinity", "inf"))
        return {"result": [{"n": value}, (value, 1.5)], "trace": []}

    monkeypatch.setattr(run_command.running, "to_json", poisoned)
    done = command("run", "simple.yml", "Hello", "--format", "json", "--trace-file", "t.json")
    for text in (done.out, (command.folder / "t.json").read_text()):
        document = json.loads(text, parse_constant=refuse)
        assert document["result"] == [{"n": name}, [name, 1.5]]


def test_a_compiled_script_with_such_a_number_is_json(command: Command):
    model = "{provider: scripted, script: {replies: [.nan]}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    done = command("compile", "a.yml", "--format", "json")
    if done.code == 0:
        assert json.loads(done.out, parse_constant=refuse)


# --- recordings ----------------------------------------------------------------------------------


def recorded(command: Command, name: str = "r.jsonl") -> list[tuple[str, str]]:
    """Return the agents and texts of a recording."""
    head, *lines = (command.folder / name).read_text().splitlines()
    assert json.loads(head) == {"lambdagent-recording": 1}
    rows = [json.loads(line) for line in lines]
    return [(row["agent"], row["reply"]["text"]) for row in rows]


def test_a_recording_plays_back_to_the_same_answer(command: Command):
    script = json.dumps({"replies": REPLIES})
    first = f"{{provider: scripted, script: {script}}}"
    again = "{provider: scripted, script: {recording: r.jsonl}}"
    command.write("a.yml", AGENTS.replace("MODEL", first))
    command.write("b.yml", AGENTS.replace("MODEL", again))
    options = ("x", "--tool", "t=echo seen", "--format", "json")
    one = command("run", "a.yml", *options, "--record", "r.jsonl")
    two = command("run", "b.yml", *options, "--record", "s.jsonl")
    assert (one.code, two.code) == (0, 0)
    answers = [json.loads(done.out) for done in (one, two)]
    assert answers[0]["result"] == answers[1]["result"] == "from one\n\nfrom two"
    rows = [[(row["term"], row["output"]) for row in each["trace"]] for each in answers]
    assert rows[0] == rows[1]
    assert recorded(command) == [(name, text) for name in REPLIES for text in REPLIES[name]]
    assert recorded(command, "s.jsonl") == recorded(command)


def test_a_recording_may_replace_the_one_that_is_played_back(command: Command):
    command.write("a.yml", scripted("yes"))
    command("run", "a.yml", "x", "--record", "r.jsonl")
    model = "{provider: scripted, script: {recording: r.jsonl}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    for _ in range(2):
        assert command("run", "a.yml", "x", "--record", "r.jsonl").out == "yes\n"
    assert recorded(command) == [("a", "yes")]


def test_tokens_and_tool_calls_are_recorded_too(command: Command):
    reply = {"text": "yes", "finish_reason": "stop", "usage": {"input": 7, "output": 3}}
    lines = [{"lambdagent-recording": 1}, {"agent": "a", "reply": reply}]
    command.write("in.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    model = "{provider: scripted, script: {recording: in.jsonl}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    assert command("run", "a.yml", "x", "--record", "out.jsonl").code == 0
    kept = (command.folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == lines


def test_a_failed_run_keeps_what_was_said(command: Command):
    command.write("a.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    done = command("run", "a.yml", "x", "--record", "r.jsonl")
    assert (done.code, recorded(command)) == (1, [("a", "bad")])


def test_a_run_out_of_replies_keeps_those_that_came(command: Command):
    command.write(
        "a.yml", AGENTS.replace("MODEL", "{provider: scripted, script: {replies: [only]}}")
    )
    done = command("run", "a.yml", "x", "--record", "r.jsonl")
    assert (done.code, recorded(command)) == (1, [("one", "only")])


def test_an_interrupted_run_keeps_what_was_said(command: Command, monkeypatch: pytest.MonkeyPatch):
    chat = Scripted.chat

    def interrupted(self: Scripted, call: object) -> object:
        if self.served:
            raise KeyboardInterrupt
        return chat(self, call)  # type: ignore[arg-type]

    monkeypatch.setattr(Scripted, "chat", interrupted)
    command.write(
        "a.yml", AGENTS.replace("MODEL", "{provider: scripted, script: {replies: [one, two]}}")
    )
    done = command("run", "a.yml", "x", "--record", "r.jsonl")
    assert (done.code, done.err) == (130, "interrupted\n")
    assert recorded(command) == [("one", "one")]


def test_the_recording_is_written_at_once(command: Command):
    """While the run is under way, the file is the old one."""
    command.write("r.jsonl", "old")
    argv = ("run", "react.yml", "x", "--tool", "wc=cp r.jsonl seen; ls -A > names")
    assert command(*argv, "--record", "r.jsonl").code == 0
    assert (command.folder / "seen").read_text() == "old"
    assert ".tmp" not in (command.folder / "names").read_text()
    assert len(recorded(command)) == 2
    assert list(command.folder.glob(".*.tmp")) == []


def test_without_record_nothing_is_written(command: Command):
    before = set(Path.cwd().iterdir())
    command("run", "simple.yml", "Hello")
    assert set(Path.cwd().iterdir()) == before
