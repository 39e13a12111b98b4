"""Every field of the table does something: the program changes by it, or it is refused."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lambdagent.api.compiling import build_agent, compile_file, compile_term
from lambdagent.errors import SchemaError
from lambdagent.frontend import kinds
from lambdagent.frontend.check import check_config
from lambdagent.frontend.json_schema import json_schema
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.schema import AGENT
from lambdagent.frontend.schema.paths import FIELDS, SERVED, served_yet
from lambdagent.ir.data import thaw
from lambdagent.ir.registry import lookup
from lambdagent.ir.surface import Tool
from lambdagent.source import Source
from tests.frontend.fields import MODEL_SAMPLE, file_with, place_of, two, wrong
from tests.frontend.test_build import told

VALIDATOR = Draft202012Validator(json_schema())
LOCAL = {"mcp": {"localTools": ["a", "terminate"]}}

ONE_NODE = {"mcp": {"custom": {"nodes": {"k": {"url": "http://localhost"}}}}}
REACTS = {"type": "react", "react": {"maxSteps": 3}}
CALLS_K = {**REACTS, "mcp": {"onlineTool": {"k": ["t"]}}}
NODE = FIELDS["app.mcp.custom.nodes"].kind.value.fields
SERVER = FIELDS["mcpServers"].kind.item.fields

DECLARED = {s: [Tool(t, None, server=s) for t in ("a", "b")] for s in ("a", "b")}

# What stands beside a field that would say nothing alone.
BESIDE: dict[str, dict[str, Any]] = {
    "confirm": LOCAL,
    "mcp.onlineTool": {"app": ONE_NODE},
    **{
        f"app.mcp.custom.nodes{rest}": CALLS_K
        for rest in ("", *(f".SERVER.{name}" for name in NODE))
    },
    **{f"mcpServers{rest}": REACTS for rest in ("", *(f"[].{name}" for name in SERVER))},
    "checkpoint.directory": {"checkpoint": {"enabled": True}},
    "checkpoint.maxCheckpoints": {"checkpoint": {"enabled": True}},
    "checkpoint.autoSaveSteps": {"checkpoint": {"enabled": True}},
    "mcp.policy.mode": LOCAL,
    "memory.scope": {"name": "a"},
    "memory.settings": {"memory": {"customStore": "a:B"}},
    "mcp.policy.retryOnFail": LOCAL,
    "react.toolTimeout": LOCAL,
}
# Two values between which there is a difference, where any two would not do.
VALUES: dict[str, tuple[Any, Any]] = {
    "confirm": ([], ["a"]),
    "mcp.policy.mode": ("auto", "force"),
    "memory.strategy": ("local", "redis"),
    "model.name": ("m", "n"),
    "model.provider": ("openai", "anthropic"),
    "model.script.rules[].match": ("a", "b"),
    "runtime.rateLimits": ({}, {MODEL_SAMPLE["provider"]: {"requestsPerMinute": 1}}),
    "runtime.prices": ({}, {MODEL_SAMPLE["name"]: {"input": 1, "output": 2}}),
    "tools[].parameters": ({"a": "string"}, {"a?": "string"}),
    "type": ("simple", "react"),
}
# Blocks whose fields are tested one by one; without any of them they say what the defaults say.
HOLDERS = [
    path
    for path, field in FIELDS.items()
    if isinstance(field.kind, kinds.Block) and served_yet(path) is SERVED
]
REFUSED = [path for path in FIELDS if served_yet(path) is None]
DEFAULTED = [path for path, field in FIELDS.items() if field.default is not None]
COMPILED = [path for path in FIELDS if served_yet(path) is SERVED and path not in HOLDERS]


def values(path: str) -> tuple[Any, Any]:
    """Return two good values of the field at `path`."""
    return VALUES.get(path) or two(FIELDS[path].kind)


def merged(held: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return `held` with what `more` has beside it, at any depth."""
    for key, value in more.items():
        known = held.get(key)
        if key == "type":
            held[key] = value
        else:
            held[key] = merged(known, value) if isinstance(known, dict) else known or value
    return held


def compiled(held: dict[str, Any]) -> tuple[Any, ...]:
    """Return the term, its servers, and what the file asks of its runs."""
    term = build_agent(held, declared=DECLARED)
    program = compile_term(term)
    bound = [lookup(site.binding) for site in program.sites.values() if site.binding is not None]
    return term, bound, program.engine, program.checkpoints, program.limits


def test_each_field_is_compiled_or_holds_others_or_is_refused():
    assert set(COMPILED) | set(HOLDERS) | set(REFUSED) == FIELDS.keys()
    assert len(COMPILED) > 60
    assert len(REFUSED) > 80


@pytest.mark.parametrize("path", FIELDS)
def test_a_file_with_the_field_is_checked_and_is_valid(path):
    held = merged(file_with(path, values(path)[0]), BESIDE.get(path, {}))
    assert list(VALIDATOR.iter_errors(held)) == []
    assert checked(held)


@pytest.mark.parametrize("path", FIELDS)
def test_a_wrong_value_is_refused_at_its_place(path):
    held = merged(file_with(path, wrong(FIELDS[path].kind)), BESIDE.get(path, {}))
    with pytest.raises(SchemaError) as caught:
        build_agent(held)
    told = [each.field for each in caught.value.diagnostics]
    assert place_of(path) in told
    if served_yet(path) is SERVED:
        assert set(told) == {place_of(path)}  # nothing is said of what follows from it
    assert not VALIDATOR.is_valid(held)


@pytest.mark.parametrize("path", [path for path in COMPILED if path != "description"])
def test_the_program_changes_by_the_field(path):
    beside = BESIDE.get(path, {})
    one, other = (merged(file_with(path, value), beside) for value in values(path))
    assert compiled(one) != compiled(other)


@pytest.mark.parametrize("path", [path for path in HOLDERS if path in AGENT.fields])
def test_each_block_that_is_compiled_has_fields_that_are(path):
    assert any(each.startswith(f"{path}.") for each in COMPILED)


def test_compile_shows_the_description(tmp_path):
    file = tmp_path / "a.yml"
    file.write_text("type: simple\nsystemPrompt: p\ndescription: For\n  you.\n")
    assert compile_file(file).describe().startswith("# For you.\n\na =\n")


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_not_compiled_yet_is_refused_whatever_it_holds(path):
    found = told(file_with(path, values(path)[0]))
    assert {code for code, _ in found} == {"S108"}
    assert any(path == known or path.startswith((f"{known}.", f"{known}[")) for _, known in found)


@pytest.mark.parametrize("path", DEFAULTED)
def test_a_field_that_is_left_out_has_the_default_of_the_table(path):
    held = file_with(path, thaw(FIELDS[path].default))
    assert checked(held) == checked(without(held, place_of(path)))


def checked(held: Any) -> Any:
    return check_config(tree_of(held), Source("", ""), {}).data


def around(held: Any, place: str) -> tuple[Any, str]:
    """Return the block of `held` that what stands at `place` is in, and its key there."""
    *keys, last = place.replace("[0]", ".0").split(".")
    for key in keys:
        held = held[int(key)] if isinstance(held, list) else held[key]
    return held, last


def without(held: Any, place: str) -> Any:
    """Return `held` without what stands at `place`."""
    held = json.loads(json.dumps(held))
    block, key = around(held, place)
    del block[key]
    return held


@pytest.mark.parametrize("path", FIELDS)
def test_a_key_of_the_writer_says_nothing_wherever_it_stands(path):
    held = file_with(path, values(path)[0])
    before = checked(held)
    around(held, place_of(path))[0]["x-note"] = {"of": ["mine"]}
    assert VALIDATOR.is_valid(held)
    assert checked(held) == before


@pytest.mark.parametrize("path", FIELDS)
def test_a_misspelt_key_is_refused_wherever_it_stands(path):
    held = file_with(path, values(path)[0])
    block, key = around(held, place_of(path))
    block[f"{key}Q"] = block.pop(key)
    assert not VALIDATOR.is_valid(held)
    with pytest.raises(SchemaError) as caught:
        checked(held)
    assert caught.value.diagnostic.fix == f"write `{key}`"
