"""The JSON Schema of agent files says what the checker says, as far as a schema can."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lambdagent.frontend.json_schema import json_schema
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.source import Source
from tests.cases import load_cases
from tests.frontend.harvest import core_value, harvest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yml"))
SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

# Findings that no schema can have, by code. What the text itself does wrong (`S0…`) has no values.
BEYOND_A_SCHEMA = {
    "S106": "a variable of the environment is not set",
    "S107": "an expression does not parse, or uses what it may not",
    "S108": "the checker accepts it, the compiler not yet; the description says so",
    "S203": "the caller brings what nothing uses",
    "S204": "a name that no tool has",
}
# And single ones, by what is said.
_CALLER = "it is not in the file: the caller said it"
_INHERITED = "it may be inherited from the agent around it, or follow from a name"
_READER = "readers of YAML and of JSON have numbers that we do not read"
_LOST = "tags and quotes are no part of the value"
UNSAID = {
    "`max_steps` must be a whole number from 1, got 0": _CALLER,
    "`max_tokens` must be a whole number from 1, got 0": _CALLER,
    "`temperature` must be a number from 0 to 2, got 3.0": _CALLER,
    "`temperature` must be a number from 0 to 2, got NaN": _CALLER,
    "`tool_timeout` must be a number above 0, got 0.0": _CALLER,
    "`memory.customStore` is missing": "the caller may bring the store",
    "`memory.name` is missing": "the name of its agent may stand for it",
    "`model.name` is missing": _INHERITED,
    "`model.provider` is missing": _INHERITED,
    "`model.provider` must be a known provider, got mine": "the caller may bring a provider",
    "`model.provider` must be a known provider, got opnai": "the caller may bring a provider",
    "`model.script` has an effect only with `provider: scripted`": _INHERITED,
    "`model.script` is missing": _INHERITED,
    "`model.maxTokens` must be a whole number from 1, got 0x10": _READER,
    "`model.maxTokens` must be a whole number from 1, got 1.0": _READER,
    "`model.temperature` must be a number from 0 to 2, got .nan": _READER,
    "`model.timeout` must be a number above 0, got .inf": _READER,
    "`model.timeout` must be a number above 0, got 1e999": _READER,
    "`sharedMemory.store.k` must be a number that is not infinite, got 1e999": _READER,
    f"`sharedMemory.store.k` must be a whole number from {-(2**63)} to {2**63 - 1}, got {2**63}": (
        "any value may stand there"
    ),
    '`model.conversation` must be true or false, got the text "yes"': _LOST,
    "`model.name` must be text, got 5": _LOST,
    '`model.script.rules[0].match` must be a regular expression, got the text "("': (
        "the patterns of JSON Schema are not those of Python"
    ),
}


def test_it_is_a_json_schema_of_2020():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_languages_differ_in_descriptions_alone():
    def bare(value):
        if isinstance(value, dict):
            prose = {"description", "title"} if isinstance(value.get("description"), str) else ()
            return {key: bare(each) for key, each in value.items() if key not in prose}
        return [bare(each) for each in value] if isinstance(value, list) else value

    chinese = json_schema("zh")
    assert {**bare(chinese), "title": ""} == {**bare(SCHEMA), "title": ""}
    assert chinese != SCHEMA
    assert chinese["$defs"]["agent"]["description"] == "一个 Agent。"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_each_example_is_valid(path):
    tree = parse_yaml(Source(path.name, path.read_text(encoding="utf-8")))
    assert list(VALIDATOR.iter_errors(core_value(tree.root))) == []


@pytest.mark.parametrize("case", load_cases("config"), ids=lambda case: case["id"])
def test_each_shared_configuration_is_valid(case):
    tree = parse_yaml(Source("agent.yml", case["text"]))
    assert list(VALIDATOR.iter_errors(core_value(tree.root))) == []


def test_what_the_checker_accepts_is_valid():
    accepted = [held.value for held in harvest() if not held.findings]
    assert len(accepted) > 100
    assert [value for value in accepted if not VALIDATOR.is_valid(value)] == []


def test_what_the_checker_refuses_is_invalid_unless_a_schema_cannot_say_it():
    refused = [held for held in harvest() if held.findings]
    assert len(refused) > 100
    missed = [held.findings for held in refused if VALIDATOR.is_valid(held.value)]
    assert {code for found in missed for code, _ in found} >= BEYOND_A_SCHEMA.keys()
    said = {what for found in missed for code, what in found if code not in BEYOND_A_SCHEMA}
    assert said == UNSAID.keys()
