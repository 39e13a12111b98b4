"""Runs that are gone on with from another directory do the same as from the first one."""

import json
import shutil

import pytest

from lambdagent.effects.run_directory import RunDirectory, _check
from lambdagent.ir.data import freeze
from tests.cli.command import Command
from tests.cli.test_kept_runs import KEPT, cut_after, only_run

TOOL = "wc=echo call >> calls; test -d other && echo first || echo elsewhere"
RUN = ("run", "react.yml", "where", "--tool", TOOL)


@pytest.fixture
def elsewhere(command: Command, monkeypatch: pytest.MonkeyPatch):
    """Goes to another directory."""
    other = command.folder / "other" / "place"
    other.mkdir(parents=True)
    return lambda: monkeypatch.chdir(other)


def test_commands_run_where_the_run_began(command: Command, elsewhere):
    command(*RUN, *KEPT)  # where `other` is
    run = command.folder / only_run(command)
    cut_after(command, str(run), 2)
    elsewhere()
    done = command("run", "--resume", str(run), "--trace")
    assert (done.code, done.out) == (0, "done\n")
    assert '→ "first"' in done.err
    assert (command.folder / "calls").read_text() == "call\ncall\n"
    assert "K019" not in done.err


def test_forks_work_there_too(command: Command, elsewhere):
    command(*RUN, *KEPT)
    run = command.folder / only_run(command)
    elsewhere()
    forked = command("run", "--resume", str(run), "--at", "1", "--trace")
    assert '→ "first"' in forked.err


def test_recordings_are_found_and_files_given_again(command: Command, elsewhere):
    command("run", "react.yml", "x", "--tool", TOOL, "--record", "said.json")
    model = "model: {provider: scripted, script: {recording: ./said.json}}\n"
    played = "type: react\nname: worker\nsystemPrompt: Work.\nreact: {maxSteps: 4}\n"
    command.write("played.yml", played + "mcp: {localTools: [terminate]}\n" + model)
    command("run", "played.yml", "x", "--tool", TOOL, *KEPT)
    run = command.folder / only_run(command)
    cut_after(command, str(run), 2)
    copy = shutil.copytree(run, run.with_name("copy"))
    elsewhere()
    assert command("run", "--resume", str(run)).out == "done\n"
    again = command("run", "../../played.yml", "--tool", TOOL, "--resume", str(copy))
    assert (again.code, again.out) == (0, "done\n")


def test_a_place_that_is_gone_is_told(command: Command, elsewhere):
    command(*RUN, "--checkpoint-dir", "../runs")
    (run,) = (command.folder.parent / "runs").iterdir()
    cut_after(command, str(run), 2)
    elsewhere()
    command.folder.rename(command.folder.with_name("moved"))
    done = command("run", "--resume", str(run), "--trace")
    assert (done.code, done.out) == (0, "done\n")
    assert f"note[K019]: the run began in `{command.folder}`, which is not there" in done.err
    assert '→ "elsewhere"' in done.err
    assert "K019" not in command("run", "--resume", str(run)).err  # it has ended


def test_a_run_that_does_not_say_where_it_began_works_here(command: Command, elsewhere):
    """As those of earlier versions."""
    command(*RUN, *KEPT)
    run = command.folder / only_run(command)
    cut_after(command, str(run), 2)
    row = json.loads((run / "run.json").read_text())
    del row["directory"]
    (run / "run.json").write_text(json.dumps({**row, "check": _check(freeze(row))}))
    assert RunDirectory(run).beginning().directory is None
    elsewhere()
    done = command("run", "--resume", str(run), "--trace")
    assert '→ "elsewhere"' in done.err
