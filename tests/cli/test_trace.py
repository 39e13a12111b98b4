"""`lambdagent trace`: levels, steps, filters and forms, of files and of kept runs."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from lambdagent.api.recording import load
from lambdagent.cli.commands import trace
from lambdagent.ir.fitting import columns
from tests.cli.command import ROOT, Command, scripted

EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_file())
TOOL = ("--tool", "wc=echo 3 f.txt")
RUN = ("run", "react.yml", "count", *TOOL, "--quiet", "--trace-file", "run.json")


@pytest.fixture
def recorded(command: Command) -> Command:
    assert command(*RUN).code == 0
    return command


def test_the_agent_level_is_the_trace_that_run_prints(command: Command):
    printed = command(*RUN[:5], "--trace", "--trace-file", "run.json").err
    shown = command("trace", "run.json")
    assert (shown.code, shown.out) == (0, printed)


def rows(done) -> list[dict]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_beta_level_has_what_the_machine_counts(recorded: Command):
    stats = json.loads((recorded.folder / "run.json").read_text())["stats"]
    found = rows(recorded("trace", "run.json", "--level", "beta", "--format", "jsonl"))
    for kind, count in stats["reductions"].items():
        assert sum(row["kind"] == kind for row in found) == count
    assert found[-1]["counters"] == stats["reductions"]
    text = recorded("trace", "run.json", "--level", "beta").out
    assert len(text.splitlines()) == len(found)
    everything = recorded("trace", "run.json", "--level", "machine", "--format", "json")
    whole = json.loads(everything.out)
    assert [row["i"] for row in whole] == [*range(1, len(whole) + 1)]
    assert [row for row in whole if row["kind"] != "administrative"] == found


@pytest.mark.parametrize("engine", ["cek", "recursive"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_each_example_is_what_its_trace_says(command: Command, example: Path, engine: str):
    """The kinds in the trace are what the engine counted, and nobody is asked to see that."""
    more = ("--engine", engine, "--trace-file", "run.json")
    done = command("run", str(example), "Thank Ada: 1 + 1", *more)
    assert done.code == 0, done.err
    stats = json.loads((command.folder / "run.json").read_text())["stats"]
    found = rows(command("trace", "run.json", "--level", "beta", "--format", "jsonl"))
    kinds = [row["kind"] for row in found]
    assert stats["reductions"] == {kind: kinds.count(kind) for kind in stats["reductions"]}
    if found:
        assert found[-1]["counters"] == stats["reductions"]
    checked = command("trace", "run.json", "--check")
    assert checked.code == 0, checked.out


def test_a_kept_run_is_shown_too(command: Command):
    command(*RUN[:5], "--checkpoint-dir", "runs")
    (run,) = (command.folder / "runs").iterdir()
    recorded = command(*RUN)
    assert recorded.code == 0
    for more in ((), ("--level", "machine")):
        of_file, of_run = command("trace", "run.json", *more), command("trace", str(run), *more)
        assert re.sub(r"\d+\.\ds", "", of_file.out) == re.sub(r"\d+\.\ds", "", of_run.out)


def test_a_filter_is_a_name_a_kind_a_rule_or_a_glob(recorded: Command):
    def steps(*more: str) -> list[str]:
        found = rows(recorded("trace", "run.json", "--format", "jsonl", "--filter", *more))
        return [row.get("rule") or row["term"] for row in found]

    assert set(steps("llm")) == {"think"}
    assert steps("wc") == steps("TOOL:*") == steps("Tool:wc") != []
    assert set(steps("beta", "--level", "beta")) == {"beta"}
    assert set(steps("tool:wc", "--level", "machine")) == {"ask", "answer"}
    assert steps("nothing") == []


def test_one_step_is_shown_whole(recorded: Command):
    shown = recorded("trace", "run.json", "--step", "0").out
    assert shown.startswith("step 0: llm think (@0)\n")
    assert "  input:\n    count\n" in shown
    found = rows(
        recorded("trace", "run.json", "--level", "beta", "--filter", "answer", "--format", "jsonl")
    )
    number = str(found[0]["i"])
    shown = recorded("trace", "run.json", "--level", "machine", "--step", number).out
    assert shown.startswith(f"step {number}: ε answer\n")
    for part in ("The answer of the world arrives.", "‹", "continuation", "□"):
        assert part in shown


@pytest.mark.parametrize("more", [("--step", "99"), ("--level", "machine", "--step", "0")])
def test_a_step_that_is_not_there_is_refused(recorded: Command, more: tuple[str, ...]):
    done = recorded("trace", "run.json", *more)
    assert (done.code, done.out) == (2, "")
    assert "error[U015]: the run has no step" in done.err


def test_what_is_there_instead_is_said_in_chinese(
    recorded: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAMBDAGENT_LANG", "zh")
    done = recorded("trace", "run.json", "--step", "99")
    assert "它在这一层的步骤：0 到 " in done.err


def test_a_run_without_steps_says_so(command: Command):
    command.write("pure.lam", "λx. x\n")
    assert command("run", "pure.lam", "x", "--trace-file", "run.json").code == 0
    assert "fix: its steps at this level: none" in command("trace", "run.json", "--step", "0").err
    assert "fix: its steps at this level: 1 to 4" in (
        command("trace", "run.json", "--step", "9", "--level", "machine").err
    )


@pytest.mark.parametrize(
    "more", [("--slow",), ("--level", "beta"), ("--level", "machine", "--format", "jsonl")]
)
def test_where_a_run_is_cut_is_told(
    recorded: Command, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
):
    monkeypatch.setattr(trace, "load", partial(load, limit=20))
    assert "stopped after 20 transitions" in recorded("trace", "run.json", *more).err


@pytest.mark.parametrize("reply", ["中文", "λ", "e\u0301", "ｶﾞ", "Ａ"])
def test_no_line_is_wider_than_the_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, reply: str
):
    monkeypatch.setenv("COLUMNS", "70")
    command.write("wide.yml", scripted(reply * 99))
    assert command("run", "wide.yml", reply * 99, "--trace-file", "run.json").code == 0
    for how in ("--level=machine", "--level=beta", "--slow"):
        lines = command("trace", "run.json", how).out.splitlines()
        assert max(map(columns, lines)) <= 70


def test_a_run_that_failed_is_recorded_as_far_as_it_came(command: Command):
    command.write("a.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    assert command("run", "a.yml", "x", "--trace-file", "f.json").code == 1
    shown = command("trace", "f.json")
    assert shown.code == 0
    assert shown.out.startswith('β[0]  a             (0.0s)  "x" → "bad"\n')
    assert "error[R002]" in json.loads((command.folder / "f.json").read_text())["error"]
    last = rows(command("trace", "f.json", "--level", "machine", "--format", "jsonl"))[-1]
    assert last["rule"] == "fail"


def damaged(text: str) -> dict[str, str]:
    data = json.loads(text)
    return {
        "nothing": "",
        "no JSON": text[:-20],
        "no object": "[1]",
        "no format": json.dumps({**data, "lambdagent-trace": None}),
        "true": json.dumps({**data, "lambdagent-trace": True}),
        "later": json.dumps({**data, "lambdagent-trace": 2}),
        "no program": json.dumps({**data, "program": {}}),
        "no journal": json.dumps({**data, "journal": 1}),
        "a record": json.dumps({**data, "journal": [[0]]}),
        "a key": json.dumps({**data, "journal": [[0, "x", "llm:worker", 1, 1]]}),
        "no start": json.dumps({**data, "start": None}),
        "another start": json.dumps({**data, "start": {**data["start"], "rows": []}}),
        "another program": json.dumps({**data, "start": {**data["start"], "program": "x"}}),
        "deep": "[" * 100_000,
    }


def test_a_damaged_file_is_refused_with_what_is_wrong(recorded: Command, tmp_path: Path):
    for name, text in damaged((recorded.folder / "run.json").read_text()).items():
        (recorded.folder / "bad.json").write_text(text)
        done = recorded("trace", "bad.json")
        assert (done.code, done.out) == (1, ""), name
        assert re.match(r"error\[T00[12]\]: `bad.json` is ", done.err), (name, done.err)
    assert recorded("trace", "missing.json").code == 4


def test_a_journal_of_another_program_is_told(recorded: Command):
    path = recorded.folder / "run.json"
    data = json.loads(path.read_text())
    data["journal"][0][3] += 1
    path.write_text(json.dumps(data))
    done = recorded("trace", "run.json")
    assert (done.code, done.out) == (1, "")
    assert "error[K006]" in done.err


def test_secrets_are_not_recorded(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THE_API_KEY", "opensesame-123456")
    command.write("s.yml", (command.folder / "react.yml").read_text() + "\n# opensesame-123456\n")
    assert command("run", "s.yml", "is it opensesame-123456?", "--trace-file", "s.json").code == 0
    text = (command.folder / "s.json").read_text()
    assert "opensesame" not in text
    assert "[THE_API_KEY]" in text
