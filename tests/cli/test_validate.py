"""``lambdagent compile --validate`` lints the file, too."""

import json

import pytest

from tests.cli.command import Command

SCRIPT = "model: {provider: scripted, script: {replies: [a]}, temperature: 1.9}"
HOT = f"type: simple\nname: a\nsystemPrompt: p\n{SCRIPT}\n"
# A guard that nothing passes compiles, and is an error of lint.
VAIN = HOT.replace(", temperature: 1.9", "") + "guard: {validator: 'False', retry: 1}\n"


def test_a_finding_is_told_beside_the_structure(command: Command):
    done = command("compile", command.write("agent.yml", HOT), "--validate")
    assert done.code == 0
    assert done.out.startswith("a =\n")
    assert "agent.yml:4:" in done.err
    assert "warning[L007]" in done.err


def test_nothing_is_told_without_it(command: Command):
    assert command("compile", command.write("agent.yml", HOT)).err == ""


@pytest.mark.parametrize("form", ["text", "json", "python", "github", "sarif"])
def test_errors_make_the_exit_code_3(command: Command, form: str):
    name = command.write("agent.yml", VAIN)
    assert command("compile", name).code == 0
    done = command("compile", name, "--validate", "--format", form)
    assert (done.code, "L017" in (done.out if form in {"github", "sarif"} else done.err)) == (
        3,
        True,
    )


def test_json_stays_json(command: Command):
    done = command("compile", command.write("agent.yml", HOT), "--validate", "--format", "json")
    assert isinstance(json.loads(done.out), dict)


@pytest.mark.parametrize("kind", ["simple", "react", "chain", "router", "parallel"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_new_writes_lints_clean(command: Command, kind: str, language: str):
    command("new", kind, "--lang", language, "--output", "made.yml")
    done = command("compile", "made.yml", "--validate")
    assert (done.code, done.err) == (0, "")
