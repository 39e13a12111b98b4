"""What models cost, in every view of a run."""

import json
from collections import deque

import pytest

from lambdagent.api.pages import page_data
from lambdagent.api.recording import load
from lambdagent.api.reducing import library
from lambdagent.api.stepping import Stepper
from lambdagent.trace.screen import Look, Size, render, text_of
from tests.cli.command import Command

USAGE = {"input": 700, "output": 30, "cached": 100, "usd": 0.0123}


@pytest.fixture
def recorded(command: Command) -> Command:
    """A run of two calls in ``run.json``, recorded with what they cost."""
    lines = [{"lambdagent-recording": 1}]
    lines += [{"agent": name, "reply": {"text": "yes", "usage": USAGE}} for name in ("a", "b")]
    command.write("a.rec", "\n".join(map(json.dumps, lines)) + "\n")
    command.write(
        "a.yml",
        "type: chain\nsystemPrompt: s\nmodel: {provider: scripted, script: {recording: a.rec}}\n"
        "chain: {steps: [{name: a, prompt: p}, {name: b, prompt: q}]}\n",
    )
    done = command("run", "a.yml", "x", "--trace-file", "run.json")
    assert done.code == 0, done.err
    return command


def test_a_run_tells_it(recorded: Command):
    done = recorded("run", "a.yml", "x", "--format", "json")
    document = json.loads(done.out)
    assert document["stats"]["total_cost_usd"] == pytest.approx(0.0246)
    assert [each["cost_usd"] for each in document["trace"]] == [0.0123, 0.0123]
    assert "~1460 tokens, $0.0246" in done.err


def test_the_file_of_a_run_keeps_it(recorded: Command):
    document = json.loads((recorded.folder / "run.json").read_text())
    assert document["stats"]["total_cost_usd"] == pytest.approx(0.0246)
    assert recorded("trace", "run.json", "--check").code == 0
    document["stats"]["total_cost_usd"] = 1.0
    (recorded.folder / "run.json").write_text(json.dumps(document))
    refused = recorded("trace", "run.json", "--check")
    assert refused.code == 1
    assert "total_cost_usd" in refused.out + refused.err


def test_a_cost_that_no_number_can_be_is_not_known(recorded: Command):
    path = recorded.folder / "run.json"
    path.write_text(path.read_text().replace("0.0123", "1" + "0" * 400))
    done = recorded("trace", "run.json", "--stats")
    assert done.code in {0, 1}
    assert "$" not in done.out


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ((), "$0.0246"),
        (("--step", "0"), "700 tokens in, 30 out, $0.0123"),
        (("--stats",), "$0.0123"),
    ],
)
def test_a_view_tells_it(recorded: Command, view: tuple[str, ...], told: str):
    done = recorded("trace", "run.json", *view)
    assert done.code == 0
    assert told in done.out


def test_the_page_tells_it(recorded: Command):
    data = page_data(load(recorded.folder / "run.json"))
    assert data["head"]["cost"] == "$0.0246"
    assert [each["cost"] for each in data["records"]] == ["$0.0123", "$0.0123"]


def test_the_stepper_tells_what_was_spent_so_far(recorded: Command):
    stepper = Stepper(load(recorded.folder / "run.json"), library())
    assert stepper.page().cost.usd == 0
    deque(stepper.to_end(), 0)
    stepper.move_to(stepper.history.length)
    page = stepper.page()
    assert page.cost.usd == pytest.approx(0.0246)
    shown = text_of(render(page, Size(100, 40), Look()))
    assert "1,400 + 60 tokens · $0.0246" in shown
