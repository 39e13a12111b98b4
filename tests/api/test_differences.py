"""What is told of two programs that differ: what it was, what it is, and no secret."""

from typing import Any

import pytest

from lambdagent.api.differences import difference
from lambdagent.effects.redaction import Redaction
from tests.api.kept_world import MODEL, World, agent, council, react

SECRET = "sk-0123456789abcdef"
REDACTION = Redaction({"OPENAI_API_KEY": SECRET})
BASE: dict[str, Any] = {"type": "simple", "systemPrompt": "Be kind."}


def told(before: dict[str, Any], after: dict[str, Any]) -> str:
    first, second = (agent(World(str), **BASE | more) for more in (before, after))
    return difference(first, second, REDACTION.text)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {}, "its term is another one"),
        (
            {},
            {"systemPrompt": "Be wise."},
            '`llm:one` has another `prompt`: "Be kind." → "Be wise."',
        ),
        (
            {},
            {"model": {**MODEL, "name": "n", "temperature": 0.5}},
            '`llm:one` has another `model.name`: "m" → "n", `model.temperature`: 0.3 → 0.5',
        ),
        (
            {"systemPrompt": f"{'a' * 500} kind {'b' * 500}"},
            {"systemPrompt": f"{'a' * 500} wise {'b' * 500}"},
            f"`prompt`: …{'a' * 9} kind {'b' * 23}… → …{'a' * 9} wise {'b' * 23}…",
        ),
        ({}, {"systemPrompt": f"Say {SECRET}."}, '"Be kind." → "Say [OPENAI_API_KEY]."'),
        (
            {"model": {**MODEL, "baseUrl": "http://a:first-password@h/v1"}},
            {"model": {**MODEL, "baseUrl": "http://a:second-password@g/v1"}},
            '`model.base_url`: "http://h/v1" → "http://g/v1"',
        ),
    ],
)
def test_a_change_is_told_by_what_it_was_and_is(before, after, words):
    found = told(before, after)
    assert words in found
    assert "password" not in found
    assert SECRET not in found


def test_sites_that_come_and_go_are_told():
    world = World(str)
    assert difference(react(world), council(world), str).startswith("`action:worker")
    two, three = council(world, 2), council(world, 3)
    assert "`llm:b2` is new" in difference(two, three, str)
    assert "`llm:b2` is gone" in difference(three, two, str)


def test_of_many_changes_some_are_told():
    world = World(str)
    many, others = council(world, 9), council(world, 9, model={**MODEL, "name": "n"})
    found = difference(many, others, str)
    assert found.count("`model.name`") == 5
    assert found.endswith("; and 4 more")
