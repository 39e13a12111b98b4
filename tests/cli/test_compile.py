"""``lambdagent compile`` and ``lambda``: what they show, and that nothing else happens."""

import json

import pytest

import lambdagent
from lambdagent import from_config
from tests.acceptance import agents
from tests.cli.command import Command


@pytest.fixture(params=agents.TYPES)
def kind(request: pytest.FixtureRequest, command: Command) -> str:
    """A type of agent, whose file is ``agent.yml``."""
    name: str = request.param
    command.write("agent.yml", agents.scripted(name).replace("add, ", ""))
    return name


def test_text_shows_the_agent_by_its_name(command: Command, kind: str):
    done = command("compile", "agent.yml")
    assert (done.code, done.err) == (0, "")
    name = agents.TYPES[kind][0].split("name: ")[1].split("\n")[0]
    assert done.out.startswith(f"{name} =\n")
    assert "Constructs used: " in done.out


def test_json_is_json(command: Command, kind: str):
    done = command("compile", "agent.yml", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert isinstance(json.loads(done.out), dict)


def test_bounds_are_a_table_and_part_of_the_json(command: Command, kind: str):
    table = command("compile", "agent.yml", "--bounds")
    assert (table.code, table.err) == (0, "")
    assert table.out.startswith("site ")
    alone = command("compile", "agent.yml", "--bounds", "--format", "json")
    whole = command("compile", "agent.yml", "--format", "json")
    found = json.loads(whole.out)["bounds"]
    assert json.loads(alone.out) == found
    assert json.dumps(found["modelCalls"]) in table.out


def test_python_rebuilds_the_term(command: Command, kind: str):
    done = command("compile", "agent.yml", "--format", "python")
    assert (done.code, done.err) == (0, "")
    names: dict[str, object] = {}
    exec(done.out, names)
    assert from_config("agent.yml") in [
        v for v in names.values() if isinstance(v, lambdagent.Term)
    ]


def test_lambda_shows_a_lambda_expression(command: Command, kind: str):
    done = command("lambda", "agent.yml")
    assert (done.code, done.err) == (0, "")
    assert "λx" in done.out


@pytest.mark.parametrize("verb", ["compile", "lambda"])
def test_a_missing_file_has_exit_code_4(command: Command, verb: str):
    done = command(verb, "nowhere.yml")
    assert (done.code, done.out) == (4, "")
    assert "there is no file `nowhere.yml`" in done.err


def test_compiling_asks_for_no_key(command: Command):
    command.write("agent.yml", f"{agents.SIMPLE}model: {{provider: openai, name: m}}\n")
    assert command("compile", "agent.yml").code == 0
    assert command("run", "agent.yml", "x").code == 1


def test_an_unknown_form_is_refused(command: Command):
    done = command("compile", "simple.yml", "--format", "xml")
    assert (done.code, done.out) == (2, "")
    assert 'there is no "xml"' in done.err


def test_bounds_have_no_form_in_python(command: Command):
    done = command("compile", "simple.yml", "--bounds", "--format", "python")
    assert (done.code, done.out) == (2, "")
    assert "exclude each other" in done.err


def test_a_route_that_stands_for_all_others_is_a_finding(command: Command):
    text = (
        "type: router\nsystemPrompt: p\nmodel: {provider: scripted, script: {replies: [a]}}\n"
        "router:\n  classifier: {prompt: c, categories: [_, q]}\n"
        "  routes: {NAME: {type: simple, systemPrompt: x}}\n"
        "  default: {type: simple, systemPrompt: y}\n"
    )
    fine = command("compile", command.write("fine.yml", text.replace("NAME", "q")))
    assert fine.code == 0
    refused = command("compile", command.write("no.yml", text.replace("NAME", "_")))
    assert refused.code == 2
    assert "error[S104]: `router.routes._` must be a name other than `_`" in refused.err
