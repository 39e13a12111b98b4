"""Runs on disk: ``run --checkpoint-dir``, ``run --resume``, ``checkpoints``."""

import json
import re
import signal
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from lambdagent import build_agent
from lambdagent.api.kept import Run
from lambdagent.cli import keeping
from lambdagent.effects.run_directory import RunDirectory
from tests.cli.command import PATIENCE_S, Command
from tests.cli.test_interrupt import POLITE, Lifeline, lifeline, start
from tests.cli.test_run_trace import timeless
from tests.effects.agents import speaker

__all__ = ["lifeline"]

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("--checkpoint-dir", "runs")
# Says how often it was called, so that a second call would be another answer.
COUNT = "wc=echo call >> calls; wc -l < calls"
RUN = ("run", "react.yml", "count", "--tool", COUNT)
SPEAKS = {
    "type": "simple",
    "name": "a",
    "systemPrompt": "p",
    "model": {"provider": "openai", "name": "m"},
}
TWICE = """\
type: react
name: twice
systemPrompt: Work.
model:
  provider: scripted
  script:
    rules:
      - {match: 'from wc: 1', reply: '{"tool": "wc", "args": "b"}'}
      - {match: 'from wc', reply: '{"tool": "terminate", "args": "done"}'}
      - {reply: '{"tool": "wc", "args": "a"}'}
react: {maxSteps: 6}
mcp: {localTools: [terminate]}
"""


def runs_of(command: Command, folder: str = "runs") -> list[str]:
    """Return the paths of the runs in `folder`, oldest first."""
    return [f"{folder}/{path.name}" for path in sorted((command.folder / folder).iterdir())]


def only_run(command: Command) -> str:
    (run,) = runs_of(command)
    return run


def calls(command: Command) -> int:
    return len((command.folder / "calls").read_text().splitlines())


def cut_after(command: Command, run: str, records: int) -> None:
    """Leave only the first records of a journal, and no states, as after a kill."""
    journal = command.folder / run / "journal"
    data, place = journal.read_bytes(), 8
    for _ in range(records):
        place += struct.unpack_from("<I", data, place)[0] + 11
    journal.write_bytes(data[:place])
    (command.folder / run / "states").unlink(missing_ok=True)


def test_a_kept_run_answers_as_any_other(command: Command):
    kept, plain = command(*RUN, *KEPT, "--trace"), command(*RUN, "--trace")
    assert (kept.code, kept.out) == (plain.code, plain.out) == (0, "done\n")
    noted, _, trace = kept.err.partition("\n")
    assert noted == f"kept in {only_run(command)}"
    assert timeless(trace).replace('"1"', '"2"').replace("wc: 1", "wc: 2") == timeless(plain.err)


def test_a_finished_run_resumes_to_its_answer_without_a_call(command: Command):
    command(*RUN, *KEPT)
    done = command("run", "--resume", only_run(command), "--trace")
    assert (done.code, done.out, calls(command)) == (0, "done\n", 1)
    assert len(re.findall(r"^β\[", done.err, re.MULTILINE)) == 6


@pytest.mark.parametrize("records", [0, 1, 2, 4])
def test_a_run_that_was_killed_goes_on_where_it_stood(command: Command, records: int):
    command(*RUN, *KEPT)
    run = only_run(command)
    cut_after(command, run, records)
    done = command("run", "--resume", "runs", "--trace")
    assert (done.code, done.out) == (0, "done\n")
    assert calls(command) == (1 if records == 4 else 2)


def test_the_formats_of_answers_are_those_of_any_run(command: Command):
    command(*RUN, *KEPT)
    done = command("run", "--resume", only_run(command), "--format", "json")
    found = json.loads(done.out)
    assert (found["result"], len(found["trace"])) == ("done", 6)
    assert found["stats"]["engine"] == "cek"


def test_a_call_in_doubt_is_not_made_again_unasked(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    cut_after(command, run, 3)
    refused = command("run", "--resume", run)
    assert (refused.code, calls(command)) == (1, 1)
    assert "error[K007]" in refused.err
    assert f"to go on: lambdagent run --resume {run}" in refused.err
    told = command("run", "--resume", run, "--answer", "@1=7", "--trace")
    assert (told.code, told.out, calls(command)) == (0, "done\n", 1)
    assert '→ "7"' in told.err


def test_a_call_in_doubt_can_be_made_again(command: Command):
    command(*RUN, *KEPT)
    cut_after(command, only_run(command), 3)
    done = command("run", "--resume", "runs", "--in-doubt", "retry", "--trace")
    assert (done.code, calls(command)) == (0, 2)
    assert '→ "2"' in done.err


def test_what_is_said_of_a_call_in_doubt_wins_over_making_it_again(command: Command):
    command(*RUN, *KEPT)
    cut_after(command, only_run(command), 3)
    done = command("run", "--resume", "runs", "--in-doubt", "retry", "--answer", "@1=7")
    assert (done.code, calls(command)) == (0, 1)


def test_an_answer_to_what_is_not_in_doubt_is_refused(command: Command):
    command(*RUN, *KEPT)
    done = command("run", "--resume", only_run(command), "--answer", "2=7")
    assert done.code == 2
    assert "error[U013]" in done.err


def test_the_reader_stops_where_a_writer_was_killed(command: Command):
    command(*RUN, *KEPT)
    journal = command.folder / only_run(command) / "journal"
    for end in (journal.read_bytes()[:-3], journal.read_bytes() + bytes(40)):
        journal.write_bytes(end)
        assert len(read_by_the_page(command, journal)) >= 4


def test_ctrl_c_leaves_a_run_that_goes_on(command: Command, lifeline: Lifeline):
    with start(command, POLITE, *KEPT) as process:
        try:
            lifeline.wait_for_the_tool()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    run = only_run(command)
    assert (process.returncode, out) == (130, b"")
    assert f"to go on: lambdagent run --resume {run}\n".encode() in err
    done = command("run", "--resume", run, "--answer", "@1=3")
    assert (done.code, done.out) == (0, "done\n")


def test_a_time_limit_leaves_a_run_that_goes_on(command: Command):
    slow = command("run", "react.yml", "x", "--tool", "wc=sleep 9", *KEPT, "--timeout", "1")
    assert slow.code == 1
    assert "error[R006]" in slow.err
    run = only_run(command)
    assert command("run", "--resume", run, "--answer", "@1=3").out == "done\n"


def test_two_do_not_go_on_with_one_run(command: Command, lifeline: Lifeline):
    with start(command, POLITE, *KEPT) as process:
        try:
            lifeline.wait_for_the_tool()
            other = command("run", "--resume", only_run(command), "--in-doubt", "retry")
        finally:
            process.kill()
    assert other.code == 1
    assert "error[K003]" in other.err


def test_nobody_is_asked_about_a_run_that_somebody_else_goes_on_with(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    command(*RUN, *KEPT)
    run = only_run(command)
    cut_after(command, run, 3)
    monkeypatch.setattr(keeping, "has_terminal", lambda: True)
    somebody = RunDirectory(command.folder / run)
    somebody.acquire()
    refused = command("run", "--resume", run, stdin=b"r\n")
    assert (refused.code, calls(command)) == (1, 1)
    assert refused.err.startswith("error[K003]")
    somebody.release()
    done = command("run", "--resume", run, stdin=b"r\n")
    assert (done.code, done.out, calls(command)) == (0, "done\n", 2)
    assert "Nobody knows whether it was carried out" in done.err


def test_states_that_are_no_use_are_told_and_do_no_harm(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    (command.folder / run / "states").write_bytes(b"lambdaS\x02")
    done = command("run", "--resume", run)
    assert (done.code, done.out, calls(command)) == (0, "done\n", 1)
    assert f"note[K017]: the states of the run are not used: `{run}/states` is of" in done.err
    assert "note" not in command("run", "--resume", run).err


def test_a_finished_run_needs_no_key(command: Command):
    model = build_agent(SPEAKS, providers={"openai": speaker("spoken")})
    with Run.begin(model, "in", command.folder / "runs") as run:
        run.resume()
    done = command("run", "--resume", "runs")
    assert (done.code, done.out) == (0, "spoken\n")


def test_a_fork_starts_from_a_step_with_another_answer(command: Command):
    command.write("twice.yml", TWICE)
    command("run", "twice.yml", "go", "--tool", COUNT, *KEPT)
    run = only_run(command)
    before = {path.name: path.read_bytes() for path in (command.folder / run).iterdir()}
    forked = command("run", "--resume", run, "--at", "3", "--answer", "2=9", "--trace")
    assert (forked.code, forked.out, calls(command)) == (0, "done\n", 2)
    assert '→ "9"' in forked.err
    assert "from wc: 1" not in forked.err
    assert {path.name: path.read_bytes() for path in (command.folder / run).iterdir()} == before
    listed = json.loads(command("checkpoints", "runs", "--format", "json").out)
    assert f"{Path(run).name}@2" in [row["parent"] for row in listed]


def test_a_fork_may_have_another_input_or_part_of_an_answer(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    other = command("run", "--resume", run, "--edit", "input=something else", "--trace")
    assert (other.code, '"something else"' in other.err) == (0, True)
    text = json.dumps('{"tool": "terminate", "args": "early"}')
    early = command("run", "--resume", run, "--edit", f"0:text={text}")
    assert (early.code, early.out) == (0, "early\n")


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (("--resume", "RUN", "--model", "m"), 2, "U008"),
        (("react.yml", "x", "--resume", "RUN"), 2, "U008"),
        (("react.yml", "--resume", "RUN"), 1, "K005"),
        (("react.yml", "x", "--at", "1"), 2, "U011"),
        (("react.yml", "x", "--in-doubt", "retry"), 2, "U011"),
        ((), 2, "U009"),
        (("--resume", "nowhere"), 4, "K002"),
        (("--resume", "react.yml"), 4, "K002"),
        (("--resume", "RUN", "--force"), 2, "U018"),
        (("react.yml", "--resume", "RUN", "--engine", "recursive"), 2, "U001"),
        (("react.yml", "x", "--checkpoint-dir", "d", "--engine", "recursive"), 2, "U001"),
        (("--resume", "RUN", "--answer", "2=1", "--answer", "2=2"), 2, "U017"),
        (("--resume", "RUN", "--answer", "2=1", "--answer", "@1=2"), 2, "U017"),
        (("--resume", "RUN", "--at", "3", "--answer", "2=1", "--answer", "@1=1"), 2, "U017"),
        (("--resume", "RUN", "--edit", "2=1", "--edit", "2=1"), 2, "U017"),
        (("--resume", "RUN", "--edit", "2=1", "--edit", "@1=1"), 2, "U017"),
        (("--resume", "RUN", "--at", "3", "--edit", "2=1", "--answer", "2=1"), 2, "U017"),
        (("--resume", "RUN", "--edit", "input=1", "--edit", "input=2"), 2, "U017"),
        (("--resume", "RUN", "--at", "99"), 2, "U010"),
        (("--resume", "RUN", "--at", "x"), 2, "U010"),
        (("--resume", "RUN", "--at", "9" * 5000), 2, "U010"),
        (("--resume", "RUN", "--at", "@" + "9" * 5000), 2, "U010"),
        (("--resume", "RUN", "--at", "0", "--answer", "2=x"), 1, "K011"),
        (("--resume", "RUN", "--edit", "0:text.deep=1"), 2, "U012"),
        (("--resume", "RUN", "--edit", "1:text=1"), 2, "U012"),
    ],
)
def test_what_cannot_be_is_refused(command: Command, argv: tuple[str, ...], code: int, error: str):
    command(*RUN, *KEPT)
    run = only_run(command)
    done = command("run", *(run if part == "RUN" else part for part in argv))
    assert (done.code, done.out) == (code, "")
    assert f"error[{error}]" in done.err


@pytest.mark.parametrize(
    "option", ["--resume", "--checkpoint-dir", "--output", "--trace-file", "--record", "--input"]
)
def test_a_path_that_is_empty_is_refused(command: Command, option: str):
    refused = command("run", "react.yml", "x", option, "")
    assert (refused.code, refused.out) == (2, "")
    assert f"argument {option}: expected a path" in refused.err


def test_a_changed_program_is_refused_with_the_difference(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    again = ("run", "react.yml", "--tool", COUNT, "--resume", run)
    assert command(*again).out == "done\n"
    command.write("react.yml", (command.folder / "react.yml").read_text().replace("Work", "Rest"))
    done = command(*again)
    assert (done.code, done.out) == (1, "")
    assert "error[K005]" in done.err
    assert '`llm:worker` has another `prompt`: "Work." → "Rest."' in done.err


def test_a_change_can_be_forced_where_nothing_was_called_that_changed(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    cut_after(command, run, 2)
    tool = ("--tool", "wc=echo other")
    done = command("run", "react.yml", *tool, "--resume", run, "--force", "--trace")
    assert (done.code, '→ "other"' in done.err) == (0, True)
    command.write("react.yml", (command.folder / "react.yml").read_text().replace("Work", "Rest"))
    called = command("run", "react.yml", *tool, "--resume", run, "--force")
    assert called.code == 1
    assert "error[K012]" in called.err
    assert command("run", "--resume", run).code == 0


def test_a_fork_with_another_program_leaves_the_old_run_as_it_was(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    before = {each.name: each.read_bytes() for each in (command.folder / run).iterdir()}
    other = ("run", "react.yml", "--tool", "wc=echo other", "--resume", run, "--at", "1")
    assert "error[K005]" in command(*other).err
    done = command(*other, "--force", "--trace")
    assert (done.code, '→ "other"' in done.err) == (0, True)
    called = command(*other[:-1], "3", "--force")
    assert (called.code, "error[K012]" in called.err) == (1, True)
    assert {each.name: each.read_bytes() for each in (command.folder / run).iterdir()} == before
    assert len(runs_of(command)) == 2


def test_several_runs_must_be_told_apart(command: Command):
    for _ in range(2):
        command(*RUN, *KEPT)
    for run in runs_of(command):
        cut_after(command, run, 2)
    done = command("run", "--resume", "runs")
    assert done.code == 1
    assert "error[K010]" in done.err
    assert all(Path(run).name in done.err for run in runs_of(command))


SCRIPT = """\
systemPrompt: p
model: {provider: scripted, script: {rules: [{match: ^go$, reply: nowhere}]}}
"""
FAILING = {
    "the only call": ("type: simple\n" + SCRIPT, "x", "@0"),
    "a later call": (
        "type: chain\nchain: {steps: [{name: a, prompt: A}, {name: b, prompt: B}]}\n" + SCRIPT,
        "go",
        "@1",
    ),
    "calls of branches": (
        "type: parallel\nparallel: {agents: [{type: simple, name: a, systemPrompt: A}, "
        "{type: simple, name: b, systemPrompt: B}]}\n" + SCRIPT,
        "x",
        "@0.0.0",
    ),
}


@pytest.mark.parametrize("case", FAILING)
def test_the_hint_after_a_call_that_failed_leads_on(command: Command, case: str):
    """What it says to type is a fork before that call, whether or not there is a step to name."""
    config, text, key = FAILING[case]
    command.write("failing.yml", f"name: f\n{config}")
    done = command("run", "failing.yml", text, *KEPT)
    assert (done.code, "E004" in done.err) == (1, True)
    words = re.search(r"to make that call again: lambdagent (.*)", done.err)[1].split()
    assert words[-1] == key
    assert "E004" in command(*words).err
    answers = [f"--answer={key}=by hand"] if case != "calls of branches" else []
    assert command(*words, *answers).code == (0 if answers else 1)


def test_the_hint_after_another_failure_names_no_call(command: Command):
    routes = "routes: {go: {type: simple, systemPrompt: p}}"
    config = f"router: {{classifier: {{prompt: q, categories: [go]}}, {routes}}}\n"
    command.write("lost.yml", f"name: f\ntype: router\n{config}{SCRIPT}")
    done = command("run", "lost.yml", "go", *KEPT)
    assert (done.code, "error[R" in done.err) == (1, True)
    assert "--at N" in done.err


# --- the file, the directory ---------------------------------------------------------------------


def test_the_file_can_ask_to_be_kept(command: Command):
    more = "checkpoint: {enabled: true, directory: mine, maxCheckpoints: 2, autoSaveSteps: 1}\n"
    command.write("kept.yml", (command.folder / "react.yml").read_text() + more)
    for _ in range(4):
        assert command("run", "kept.yml", "x", "--tool", COUNT).code == 0
    kept = runs_of(command, "mine")
    assert len(kept) == 2
    states = (command.folder / kept[-1] / "states").read_bytes()
    assert states.startswith(b"lambdaS\x01")


def test_a_file_that_does_not_enable_it_keeps_nothing(command: Command):
    text = (command.folder / "react.yml").read_text()
    command.write("not.yml", text + "checkpoint: {enabled: false, directory: mine}\n")
    assert command("run", "not.yml", "x", "--tool", COUNT).code == 0
    assert not (command.folder / "mine").exists()


def test_nobody_else_may_read_a_run(command: Command):
    command(*RUN, *KEPT)
    run = command.folder / only_run(command)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in run.iterdir()} == {0o600}


def test_a_place_that_cannot_be_written_is_told_before_anything_is_called(command: Command):
    done = command(*RUN, "--checkpoint-dir", "react.yml")
    assert (done.code, done.out) == (1, "")
    assert "error[K008]" in done.err
    assert not (command.folder / "calls").exists()


def test_what_the_models_said_can_be_recorded_of_a_kept_run(command: Command):
    command(*RUN, *KEPT, "--record", "said.json")
    said = (command.folder / "said.json").read_text()
    command(*RUN, "--record", "plain.json")
    assert said == (command.folder / "plain.json").read_text()


# --- the page ------------------------------------------------------------------------------------


def read_by_the_page(command: Command, journal: Path) -> list[str]:
    """Return what the reader of the page prints."""
    page = (ROOT / "docs/checkpoint-format.md").read_text(encoding="utf-8")
    (reader,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    command.write("reader.py", reader)
    read = subprocess.run(
        [sys.executable, "reader.py", str(journal)],
        cwd=command.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return read.stdout.splitlines()


def test_the_reader_of_the_page_reads_a_journal(command: Command):
    command(*RUN, *KEPT)
    records = read_by_the_page(command, command.folder / only_run(command) / "journal")
    assert records[0].startswith("[0, [0], 'llm:worker', ")
    assert records[3].startswith("[1, [1], '1', ")
    assert records[-1] == "[3, 'answered']"
