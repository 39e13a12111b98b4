"""Specification 12.3, L_T01 to L_T06, and 18, C02 and C03; the shared cases of configurations."""

from pathlib import Path

import pytest

from lambdagent import lint_config
from tests.acceptance import agents
from tests.cases import load_cases
from tests.cli.command import Command

GOOD = agents.scripted("react").replace("temperature", "x-temperature")


def errors(told: set[tuple[str, str]]) -> list[str]:
    return sorted(code for level, code in told if level == "error")


def found(folder: Path, text: str) -> set[tuple[str, str]]:
    path = folder / "agent.yml"
    path.write_text(text, encoding="utf-8")
    return {(each.level, each.diagnostic.code) for each in lint_config(path)}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("L_T01", GOOD.replace("systemPrompt: You calculate.\n", ""), ("error", "L001")),
        ("L_T02", GOOD.replace(", terminate", ""), ("error", "L004")),
        ("L_T03", GOOD.replace("maxSteps: 20", "maxSteps: 0"), ("error", "L003")),
        (
            "L_T04",
            agents.scripted("router").split("  routes:")[0] + "  routes: {}\n",
            ("error", "L005"),
        ),
        ("L_T06", GOOD.replace("provider:", "temperature: 2.0\n  provider:"), ("warn", "L007")),
    ],
)
def test_a_faulty_configuration_is_told(
    tmp_path: Path, name: str, text: str, expected: tuple[str, str]
):
    assert expected in found(tmp_path, text)


@pytest.mark.parametrize("kind", agents.TYPES)
def test_l_t05_a_good_configuration_has_no_errors(tmp_path: Path, kind: str):
    assert {
        code for level, code in found(tmp_path, agents.scripted(kind)) if level == "error"
    } == set()


def test_c02_lint_of_a_good_file_succeeds(command: Command):
    command.write("agent-cofig.yml", GOOD)  # the specification's spelling
    done = command("lint", "agent-cofig.yml")
    assert (done.code, done.err) == (0, "")
    assert "0 error(s)" in done.out


def test_c03_lint_of_a_bad_file_fails(command: Command):
    command.write("bad-config.yml", GOOD.replace(", terminate", ""))
    done = command("lint", "bad-config.yml")
    assert (done.code, done.err) == (3, "")
    assert "1 error(s)" in done.out


@pytest.mark.parametrize("case", load_cases("config"), ids=lambda case: case["id"])
def test_the_shared_configurations_have_the_findings_they_should(tmp_path: Path, case):
    text = case["text"].replace("strategy: sqlite", "strategy: local")
    told = found(tmp_path, text)
    expect = case["expect"]
    assert sorted(code for level, code in told if level == "error") == expect["lint_errors"]
    assert set(expect.get("lint_warnings_has", ())) <= {
        code for level, code in told if level == "warn"
    }
