"""``checkpoints DIR``: what is listed, shown and removed."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.test_kept_runs import KEPT, RUN, cut_after, only_run, runs_of


def test_runs_are_listed_with_where_they_stand(command: Command):
    command(*RUN, *KEPT)
    cut_after(command, only_run(command), 3)
    done = command("checkpoints", "runs")
    head, line = done.out.splitlines()
    assert head.split() == ["RUN", "AGENT", "BEGAN", "STANDS", "CALLS", "SIZE"]
    assert "worker" in line
    assert "waits for tool:wc" in line
    assert re.search(r"  1  +[\d,]+ B$", line)


def test_a_damaged_run_is_listed_as_such(command: Command):
    command(*RUN, *KEPT)
    journal = command.folder / only_run(command) / "journal"
    data = bytearray(journal.read_bytes())
    data[20] ^= 1
    journal.write_bytes(data)
    assert "damaged" in command("checkpoints", "runs").out
    done = command("run", "--resume", only_run(command))
    assert (done.code, done.out) == (1, "")
    assert "error[K001]" in done.err
    assert "at byte 8" in done.err


def test_where_a_run_stands_is_shown_with_its_continuation(command: Command):
    command(*RUN, *KEPT)
    run = only_run(command)
    cut_after(command, run, 3)
    done = command("checkpoints", "runs", "--show", Path(run).name)
    assert done.code == 0
    assert "β[0]  think" in done.out
    assert "the run asks tool:wc (@1): f.txt" in done.out
    assert re.search(r"^  0  .*□", done.out, re.MULTILINE)


def test_finished_runs_are_removed_and_others_stay(command: Command):
    for _ in range(3):
        command(*RUN, *KEPT)
    first, *_ = runs_of(command)
    cut_after(command, first, 2)
    assert command("checkpoints", "runs", "--prune").code == 0
    assert runs_of(command) == [first]


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("runs", "--prune", "-3"), "expected a whole number from 0"),
        (("runs", "--prune", "many"), "expected a whole number from 0"),
        (("runs", "--prune", "--show", "x"), "U001"),
        (("runs", "--prune", "--format", "json"), "U001"),
        (("runs", "--show", "x", "--format", "text"), "U001"),
        (("runs", "--show", ""), "expected a path"),
        (("",), "expected a path"),
    ],
)
def test_what_cannot_be_listed_is_refused(command: Command, argv: tuple[str, ...], error: str):
    command(*RUN, *KEPT)
    refused = command("checkpoints", *argv)
    assert (refused.code, refused.out) == (2, "")
    assert error in refused.err
    assert len(runs_of(command)) == 1


def test_what_a_kill_left_of_runs_is_listed_and_removed(command: Command):
    command(*RUN, *KEPT)
    run = command.folder / only_run(command)
    left = [run.with_name(f"20200101-000000-{name}") for name in ("00000a", "00000b", "00000c")]
    for each in left:
        each.mkdir()
    shutil.copy(run / "journal", left[0])
    (left[1] / ".program.json.0123abcd").touch()
    (left[2] / "my own file").touch()  # somebody else's
    young = run.with_name("20200101-000000-00000d")  # may be about to become a run
    young.mkdir()
    for each in left:
        os.utime(each, (0, 0))
    listed = command("checkpoints", "runs").out
    assert listed.count("is left of no run") == 2
    assert command("run", "--resume", "runs").out == "done\n"
    assert command("checkpoints", "runs", "--prune", "9").code == 0
    assert sorted(run.parent.iterdir()) == sorted([left[2], young, run])


def test_a_linked_run_is_not_removed_through_the_link(command: Command):
    command(*RUN, *KEPT)
    run = command.folder / only_run(command)
    (command.folder / "links").mkdir()
    (command.folder / "links" / run.name).symlink_to(run)
    command("checkpoints", "links", "--prune")
    assert (run / "run.json").exists()
    assert command("run", "--resume", f"links/{run.name}").out == "done\n"


@pytest.mark.parametrize("file", ["journal", "run.json"])
def test_a_run_of_another_version_is_not_called_damaged(command: Command, file: str):
    command(*RUN, *KEPT)
    path = command.folder / only_run(command) / file
    new = path.read_bytes().replace(b"lambdaJ\1", b"lambdaJ\2", 1)
    path.write_bytes(new.replace(b'"lambdagent-run": 1', b'"lambdagent-run": 2'))
    done = command("checkpoints", "runs")
    assert ("of another version" in done.out, "damaged" in done.out) == (True, False)
    path.unlink()
    path.mkdir()
    done = command("checkpoints", "runs")
    assert (done.code, "damaged" in done.out) == (0, False)
    assert ("cannot be read" in done.out) == (file == "journal")  # else it is no run


def test_what_ended_a_run_is_told_though_its_files_are_gone(command: Command):
    """What is written at the end of a run that failed does not hide why."""
    slow = ("run", "react.yml", "x", "--tool", "wc=rm -r runs; sleep 9", "--timeout", "1")
    done = command(*slow, *KEPT, "--record", "said.json")
    assert done.code == 1
    assert "error[R006]" in done.err


def test_a_directory_without_runs(command: Command):
    (command.folder / "empty").mkdir()
    done = command("checkpoints", "empty")
    assert (done.code, done.out, done.err) == (0, "", "no runs in empty\n")
    assert command("checkpoints", "empty", "--format", "json").out == "[]\n"
    assert command("checkpoints", "nowhere").code == 4


FIXTURES = Path(__file__).parents[1] / "fixtures" / "runs"
STANDS = {"finished": "has come to", "joining": "waits for 2 of its 3", "stopped": "llm:worker"}


@pytest.mark.parametrize("form", sorted(path.name for path in FIXTURES.glob("format-*")))
def test_runs_of_each_format_are_shown(command: Command, form: str):
    """Whether they have states or not, which runs that are short have no more."""
    runs = command.folder / "runs"
    shutil.copytree(FIXTURES / form, runs)
    shown = []
    for _ in range(2):
        assert "damaged" not in command("checkpoints", "runs").out
        texts = []
        for name, stands in STANDS.items():
            done = command("checkpoints", "runs", "--show", name)
            assert (done.code, stands in done.out) == (0, True), done.err
            checked = command("trace", f"runs/{name}", "--check")
            assert (checked.code, "is what its program does" in checked.out) == (0, True)
            texts += [done.out, checked.out]
        shown.append(texts)
        for path in runs.glob("*/states"):
            path.unlink()
    assert shown[0] == shown[1]
