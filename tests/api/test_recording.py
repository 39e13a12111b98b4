"""Recorded runs read back as what they were, whatever they hold."""

import json

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

from lambdagent.api.finite import finite
from lambdagent.api.recording import _lines, document, load
from lambdagent.api.running import Session, to_json
from lambdagent.errors import CheckpointError
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.surface import Lam, Tool
from lambdagent.machine.values import project
from tests.laws.terms import data

ENGINES = ("recursive", "cek")


def check(agent, value, engine, folder):
    """Record a run of `agent`, and compare what is read back."""
    with Session(agent, engine=engine) as session:
        result = session.run(value)
        text = document(result.execution, to_json(result), session.redaction)
    json.loads(text, parse_constant=pytest.fail)
    path = folder / "run.json"
    path.write_text(text, encoding="utf-8")
    found = load(path)
    timeless = [attrs.evolve(each, started_s=None, elapsed_s=0.0) for each in result.trace]
    again = [attrs.evolve(each, started_s=None, elapsed_s=0.0) for each in found.records]
    assert again == timeless
    assert found.history.last.counters == result.execution.machine.counters
    for last in (found.execution.machine, found.history.last):
        assert repr(project(last.root.state.value)) == repr(project(result.final))
    assert repr(found.input) == repr(project(result.execution.first.root.state.kont[2]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "answer",
    ['{"$number": "NaN"}', '{"$$number": 1}', "9" * 4_000, '"\\ud800 \\u202e"'],
)
def test_answers_that_json_has_no_words_for(answer, engine, tmp_path):
    model = Model(provider="scripted", script=Record(replies=(answer,)))
    check(Lam("a", "p", model, output_parser="json"), "x", engine, tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data, data)
def test_whatever_a_tool_is_given_and_returns(tmp_path, given, returned):
    for engine in ENGINES:
        check(Tool("t", lambda _: returned), given, engine, tmp_path)


def test_rows_are_lines_whatever_they_hold():
    rows = [["a", "\0", "b"], ["λ", 1 << 20_000], ["$number"], ["\x7f", "\u202e"], [1.5, None]]
    for few in (rows, rows[:1], rows[:1] * 3, rows[4:] * 3, rows[3:], []):
        text = _lines(few, finite)
        assert json.loads(text) == [finite(row) for row in few]
        assert len(text.splitlines()) == (len(few) + 2 if few else 1)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("threads", 0, 3, 1), 1),  # another part of the program, whose variables nobody binds
        (("threads", 0, 1), 3),
        (("threads", 0, 0), [0, 1]),
        (("counters", 0), -1),
        (("transitions",), -1),
    ],
)
def test_a_start_that_is_not_that_of_the_program_is_refused(place, value, tmp_path):
    model = Model(provider="scripted", script=Record(replies=("a",)))
    with Session(Lam("a", "p", model)) as session:
        result = session.run("x")
        found = json.loads(document(result.execution, to_json(result), session.redaction))
    *way, last = place
    inside = found["start"]
    for key in way:
        inside = inside[key]
    assert inside[last] != value
    inside[last] = value
    path = tmp_path / "run.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(CheckpointError, match="is no recorded run"):
        load(path)
