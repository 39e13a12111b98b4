"""Checks of runs that have no end of their own."""

from pathlib import Path

import pytest

from lambdagent import load_program
from lambdagent.api.checking import check
from lambdagent.api.recording import document, load
from lambdagent.api.running import Session
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


def test_a_run_that_goes_on_has_not_failed(endless: Path):
    endless.write_text(endless.read_text().replace("error[R005]", "error[R004]"))
    wrong = check(load(endless, limit=5_000)).wrong
    assert wrong is not None
    assert (wrong.where, wrong.computed) == ("`error`", "it goes on")
