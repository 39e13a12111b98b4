"""Checks of runs that have no end of their own."""

from functools import partial
from pathlib import Path

import pytest

from lambdagent import load_program
from lambdagent.api.checking import check
from lambdagent.api.recording import document, load
from lambdagent.api.running import Session
from lambdagent.cli.commands import trace
from lambdagent.cli.main import main
from lambdagent.effects.redaction import Redaction
from lambdagent.errors import BudgetError


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A recorded run that was stopped in the middle of its work."""
    (tmp_path / "a.lam").write_text("λx. (λw. w w) (λw. w w)", encoding="utf-8")
    path = tmp_path / "run.json"
    with Session(load_program(tmp_path / "a.lam")) as session:
        with pytest.raises(BudgetError) as caught:
            session.run("x", transition_limit=1_000)
        execution = session.history()
        assert execution is not None
        outcome = {"error": str(caught.value), "trace": []}
        path.write_text(document(execution, outcome, Redaction({})))
    return path


def test_a_run_that_was_stopped_is_not_gone_through_for_ever(endless: Path):
    verdict = check(load(endless, limit=5_000))
    assert verdict.wrong is None
    assert verdict.transitions < 5_000
    assert verdict.is_open
    assert verdict.to_json()["open"] is True


def test_a_run_that_goes_on_has_not_failed(endless: Path):
    endless.write_text(endless.read_text().replace("error[R005]", "error[R004]"))
    wrong = check(load(endless, limit=5_000)).wrong
    assert wrong is not None
    assert (wrong.where, wrong.computed) == ("`error`", "it goes on")


def test_what_is_not_known_of_a_run_that_was_stopped_is_said(
    endless: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(trace, "load", partial(load, limit=5_000))
    assert main(["trace", str(endless), "--check"]) == 0
    said = capsys.readouterr().out
    assert "it was stopped while it could go on; where it stood then is not recorded" in said
    assert main(["trace", str(endless), "--stats"]) == 0
    assert capsys.readouterr().err == "stopped after 5,000 transitions\n"
