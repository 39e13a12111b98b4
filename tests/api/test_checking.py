"""Checks of runs that have no end of their own."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lambdagent import load_program
from lambdagent.api.checking import check
from lambdagent.api.kept import Run
from lambdagent.api.recording import document, load
from lambdagent.api.running import Session
from lambdagent.api.standing import standing_of
from lambdagent.cli.commands import trace
from lambdagent.cli.main import main
from lambdagent.effects.execution import Execution
from lambdagent.effects.redaction import Redaction
from lambdagent.errors import BudgetError, CheckpointError
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import link
from lambdagent.machine.step import start

OMEGA = "λx. (λw. w w) (λw. w w)"


def stopped(folder: Path, text: str = OMEGA, **options: Any) -> Path:
    """Record a run that was stopped in the middle of its work."""
    (folder / "a.lam").write_text(text, encoding="utf-8")
    path = folder / "run.json"
    with Session(load_program(folder / "a.lam")) as session:
        with pytest.raises(BudgetError) as caught:
            session.run("x", **options)
        execution = session.history()
        assert execution is not None
        outcome = {"error": str(caught.value), "trace": []}
        path.write_text(document(execution, outcome, Redaction({})))
    return path


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Where the machine was stopped after 1,000 transitions."""
    return stopped(tmp_path, transition_limit=1_000)


@pytest.fixture
def older(endless: Path) -> Path:
    """A file that does not say where the run was stopped."""
    data = json.loads(endless.read_text())
    del data["stopped"]
    endless.write_text(json.dumps(data))
    return endless


def test_a_run_that_was_stopped_is_checked_to_there(endless: Path):
    recording = load(endless)
    verdict = check(recording)
    assert verdict.wrong is None
    assert (verdict.transitions, verdict.stopped, verdict.is_open) == (1_000, 1_000, False)
    assert recording.history.length == recording.execution.machine.transitions == 1_000
    assert verdict.to_json()["stopped"] == 1_000


@pytest.mark.parametrize(("was", "now"), [("1000", "999"), ('"beta": ', '"beta": 1')])
def test_where_it_was_stopped_is_checked(endless: Path, was: str, now: str):
    head, key, rest = endless.read_text().partition('"stopped": ')
    endless.write_text(head + key + rest.replace(was, now, 1))
    wrong = check(load(endless)).wrong
    assert wrong is not None
    assert (wrong.where, wrong.what) == ("`stopped`", "reductions")


@pytest.mark.parametrize("row", ["3", "{}", '{"engine": "cek", "engine_reason": "no"}'])
def test_what_does_not_say_where_it_was_stopped_is_refused(endless: Path, row: str):
    data = json.loads(endless.read_text()) | {"stopped": json.loads(row)}
    endless.write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match="`stopped` does not say where it stood"):
        load(endless)


def test_what_was_counted_at_the_stop_is_told(endless: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["trace", str(endless), "--check"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[1:] == ["it was stopped after 1,000 transitions"]
    assert main(["trace", str(endless), "--stats"]) == 0
    said, noted = capsys.readouterr()
    assert "transitions  1,000" in said.splitlines()
    assert "engine       cek (only cek counts transitions, which are limited)" in said.splitlines()
    assert not noted
    assert main(["trace", str(endless), "--slow"]) == 0
    said, noted = capsys.readouterr()
    assert "step 1,000 of" not in said
    assert noted == "stopped after 1,000 transitions\n"


def test_a_stop_beyond_the_limit_of_the_replay_is_told(endless: Path):
    verdict = check(load(endless, limit=500))
    assert verdict.wrong is None
    assert (verdict.transitions, verdict.stopped, verdict.is_open) == (500, 1_000, True)


def test_direct_style_has_no_transitions_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    path = stopped(tmp_path, transition_limit=1_000)
    linked = link(load_program(tmp_path / "a.lam"))
    choice = Choice("recursive", "nobody asked for another one")
    standing = standing_of(Execution(linked, start(linked, "x"), choice=choice))
    assert standing is not None
    assert standing.stop is None
    data = json.loads(path.read_text()) | {"stopped": standing.to_json()}
    path.write_text(json.dumps(data))
    monkeypatch.setattr(trace, "load", partial(load, limit=5_000))
    assert main(["trace", str(path), "--check"]) == 0
    assert "it was stopped in direct style, which makes no transitions" in capsys.readouterr().out
    assert main(["trace", str(path), "--stats"]) == 0
    said, noted = capsys.readouterr()
    assert "5,000, of the replay; the run was in direct style" in said
    assert noted == "stopped after 5,000 transitions\n"


def test_the_order_of_threads_that_were_stopped_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    text = f"par[2] ({OMEGA}) ({OMEGA})"
    path = stopped(tmp_path, transition_limit=1_000, text=text)
    monkeypatch.setattr(trace, "load", partial(load, limit=5_000))
    assert main(["trace", str(path), "--check"]) == 0
    said = capsys.readouterr().out
    assert "it was stopped after 1,000 transitions; not all of them are checked" in said


def test_an_older_run_that_was_stopped_is_not_gone_through_for_ever(older: Path):
    verdict = check(load(older, limit=5_000))
    assert verdict.wrong is None
    assert verdict.transitions < 5_000
    assert verdict.is_open
    assert verdict.to_json()["open"] is True


def test_a_run_that_goes_on_has_not_failed(older: Path):
    older.write_text(older.read_text().replace("error[R005]", "error[R004]"))
    wrong = check(load(older, limit=5_000)).wrong
    assert wrong is not None
    assert (wrong.where, wrong.computed) == ("`error`", "it goes on")


def test_what_is_not_known_of_an_older_run_is_said(
    older: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(trace, "load", partial(load, limit=5_000))
    assert main(["trace", str(older), "--check"]) == 0
    said = capsys.readouterr().out
    assert "it was stopped while it could go on; where it stood then is not recorded" in said
    assert main(["trace", str(older), "--stats"]) == 0
    assert capsys.readouterr().err == "stopped after 5,000 transitions\n"


def test_a_kept_run_that_was_stopped_says_where(tmp_path: Path, capsys):
    program = tmp_path / "a.lam"
    program.write_text(OMEGA, encoding="utf-8")
    with Run.begin(load_program(program), "x", tmp_path / "runs") as run:
        for _ in range(2):
            with pytest.raises(BudgetError):
                run.resume(timeout_s=0.01)
            kept = load(run.path)
            assert kept.stop is not None
            assert kept.history.length == kept.stop.transitions
            assert run.history().machine.counters == kept.stop.counters
    assert main(["trace", str(run.path), "--check"]) == 0
    assert "it was stopped after " in capsys.readouterr().out


def test_a_kept_run_that_was_killed_ends_somewhere(tmp_path: Path):
    program = tmp_path / "a.lam"
    program.write_text(OMEGA, encoding="utf-8")
    with Run.begin(load_program(program), "x", tmp_path / "runs") as run:
        assert run.history().can_move
        verdict = check(load(run.path, limit=5_000))
    assert (verdict.transitions, verdict.stopped, verdict.is_open) == (5_000, None, True)
