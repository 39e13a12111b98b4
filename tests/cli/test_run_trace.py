"""``lambdagent run``: the trace on standard error, in files and as JSON."""

import json
import re

import pytest

from tests.cli.command import Command, scripted

RUN = ("run", "react.yml", "count", "--tool", "wc=echo 3 f.txt")
TRACE = """\
β[0]  think         (0.0s)  "count" → "{\\"tool\\": \\"wc\\", \\"args\\": \\"f.txt\\"}"
β[1]  route         (0.0s)  → selected: wc
β[2]  Tool:wc       (0.0s)  → "3 f.txt"
β[3]  think         (0.0s)  "Observation from wc: 3 f.txt" → \
"{\\"tool\\": \\"terminate\\", \\"args\\": \\"done\\"}"
β[4]  route         (0.0s)  → selected: terminate (λx.x)
β[5]  terminate     (0.0s)  → (identity: base case reached)
"""


def timeless(text: str) -> str:
    """Return `text` with all times replaced by 0."""
    return re.sub(r"\b\d+\.\d+s\b", "0.0s", text)


def test_the_trace_is_printed_as_the_specification_shows_it(command: Command):
    done = command(*RUN, "--trace")
    assert (done.code, done.out) == (0, "done\n")
    rule = "─" * 40
    assert timeless(done.err) == f"{TRACE}{rule}\nTotal: 6 β-reductions, 0.0s\n"


def test_the_total_counts_the_printed_lines(command: Command):
    err = command(*RUN, "--trace").err
    lines = [line for line in err.splitlines() if line.startswith("β[")]
    assert f"Total: {len(lines)} β-reductions" in err


def test_the_total_tells_the_tokens_that_the_provider_counted(command: Command):
    reply = {"text": "yes", "usage": {"input": 7, "output": 3}}
    command.write("a.json", json.dumps({"lambdagent-recording": 1}) + "\n")
    with (command.folder / "a.json").open("a") as file:
        file.write(json.dumps({"agent": "a", "reply": reply}) + "\n")
    model = "{provider: scripted, script: {recording: a.json}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    done = command("run", "a.yml", "x", "--format", "json")
    assert json.loads(done.out)["stats"]["total_tokens"] == 10
    assert done.err.endswith("s, ~10 tokens\n")


@pytest.mark.parametrize(
    ("value", "shown"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_lambdagent_trace_turns_the_trace_on(
    command: Command, monkeypatch: pytest.MonkeyPatch, value: str, shown: bool
):
    monkeypatch.setenv("LAMBDAGENT_TRACE", value)
    assert (TRACE in timeless(command(*RUN).err)) is shown


def test_quiet_wins_over_lambdagent_trace(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAMBDAGENT_TRACE", "1")
    assert command(*RUN, "--quiet").err == ""


def test_without_trace_only_the_total_is_told(command: Command):
    assert re.fullmatch(r"Total: 6 β-reductions, \d+\.\ds\n", command(*RUN).err)


def test_verbose_prints_each_step_and_the_total_once(command: Command):
    for more in (("--verbose",), ("--verbose", "--trace")):
        assert timeless(command(*RUN, *more).err) == f"{TRACE}Total: 6 β-reductions, 0.0s\n"


def test_the_file_can_ask_for_the_steps_itself(command: Command):
    text = (command.folder / "react.yml").read_text()
    command.write("react.yml", text.replace("maxSteps: 4", "maxSteps: 4, verbose: true"))
    assert TRACE in timeless(command(*RUN).err)
    assert command(*RUN, "--quiet").err == ""


def test_a_failed_run_shows_its_trace_and_no_answer(command: Command):
    command.write("a.yml", scripted("bad", more='guard: {validator: "len(x) > 9"}'))
    done = command("run", "a.yml", "x", "--trace", "--trace-file", "t.json")
    assert (done.code, done.out) == (1, "")
    assert 'β[0]  a             (0.0s)  "x" → "bad"' in done.err
    assert "error[R002]" in done.err
    kept = json.loads((command.folder / "t.json").read_text())
    assert "error[R002]" in kept["error"]
    assert [row["output"] for row in kept["trace"]] == ["bad"]


def test_the_trace_file_holds_what_format_json_prints(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    done = command(*RUN, "--trace-file", "t.json")
    kept = json.loads((command.folder / "t.json").read_text())
    assert done.out == "done\n"
    monkeypatch.setenv("LAMBDAGENT_TRACE_FILE", "u.json")
    printed = json.loads(command(*RUN, "--format", "json").out)
    for each in (printed, kept, json.loads((command.folder / "u.json").read_text())):
        for row in each["trace"]:
            row["duration_ms"] = 0
        each["stats"]["total_time_ms"] = 0
        assert {key: each[key] for key in printed} == printed


def test_the_option_names_another_trace_file_than_the_environment(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAMBDAGENT_TRACE_FILE", "environment.json")
    command(*RUN, "--trace-file", "option.json")
    assert (command.folder / "option.json").exists()
    assert not (command.folder / "environment.json").exists()


def test_format_json_is_the_document_of_the_specification(command: Command):
    done = command(*RUN, "--format", "json")
    document = json.loads(done.out)
    assert set(document) == {"result", "trace", "stats"}
    assert document["result"] == "done"
    assert [row["step"] for row in document["trace"]] == list(range(6))
    terms = [row["term"] for row in document["trace"]]
    assert terms == ["think", "route", "Tool:wc", "think", "route", "terminate"]
    for row in document["trace"]:
        assert {"step", "term", "duration_ms", "input", "output"} <= set(row)
        assert isinstance(row["duration_ms"], int)
    assert document["trace"][2]["output"] == "3 f.txt"
    assert document["stats"]["total_steps"] == 6
    assert {"total_time_ms", "total_tokens"} <= set(document["stats"])


def test_json_keeps_the_type_of_the_answer(command: Command):
    script = '{provider: scripted, script: {replies: ["{\\"n\\": 1}"]}}'
    chain = f"type: chain\nsystemPrompt: p\nmodel: {script}\n"
    command.write("a.yml", f"{chain}chain: {{steps: [{{prompt: q, outputParser: json}}]}}\n")
    assert json.loads(command("run", "a.yml", "x", "--format", "json").out)["result"] == {"n": 1}
    assert command("run", "a.yml", "x").out == '{"n": 1}\n'
