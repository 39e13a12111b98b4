"""``lambdagent schema``: the JSON Schema of agent files, in both languages."""

import json

from jsonschema import Draft202012Validator

from tests.cli.command import Command


def described(done) -> str:
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["$defs"]["agent"]["description"]


def test_it_prints_a_schema_by_which_agents_are_valid(command: Command):
    schema = json.loads(command("schema").out)
    Draft202012Validator.check_schema(schema)
    model = {"provider": "scripted", "script": {"replies": ["a"]}}
    agent = {"type": "react", "systemPrompt": "Work.", "model": model, "react": {"maxSteps": 4}}
    validator = Draft202012Validator(schema)
    assert validator.is_valid(agent)
    assert not validator.is_valid({**agent, "react": {"maxSteps": 0}})
    assert not validator.is_valid({**agent, "system_prompt": "p"})


def test_the_language_is_an_option_or_in_the_environment(command: Command, monkeypatch):
    assert described(command("schema")) == "An agent."
    assert described(command("schema", "--lang", "zh")) == "一个 Agent。"
    monkeypatch.setenv("LAMBDAGENT_LANG", "zh")
    assert described(command("schema")) == "一个 Agent。"
    assert described(command("schema", "--lang", "en")) == "An agent."


def test_another_language_is_refused(command: Command):
    assert command("schema", "--lang", "fr").code == 2
