"""The field tables: complete, documented in two languages, true to the terms that they name."""

import re

import attrs
import pytest

from lambdagent.frontend import schema
from lambdagent.frontend.reference import target
from lambdagent.frontend.schema.paths import BLOCKS, FIELDS, SERVED, served_yet
from lambdagent.ir import surface

# Constructs that are to come.
PLANNED = {"Channel", "GroupChat", "Handoff", "RAG", "SharedMemory", "Skill"}
HOMES = [
    (f"{prefix}.{name}" if prefix else name, field, block)
    for prefix, block in BLOCKS
    for name, field in block.fields.items()
]


@pytest.mark.parametrize("path", FIELDS)
def test_each_field_says_what_it_is_in_english_and_in_chinese(path):
    field = FIELDS[path]
    assert field.doc.endswith(".")
    assert field.zh.endswith("。")
    assert re.search("[\u4e00-\u9fff]", field.zh)
    assert not re.search("[\u4e00-\u9fff]", field.doc)
    assert "|" not in field.doc + field.zh


@pytest.mark.parametrize(
    ("prefix", "block"), BLOCKS, ids=[prefix or "agent" for prefix, _ in BLOCKS]
)
def test_each_block_says_what_it_is_in_english_and_in_chinese(prefix, block):
    assert block.doc.endswith(".")
    assert block.zh.endswith("。")


@pytest.mark.parametrize(("path", "field", "block"), HOMES, ids=[path for path, _, _ in HOMES])
def test_each_field_compiles_to_something_that_exists_or_is_to_come(path, field, block):
    words = target(field, block)
    assert words
    for name, attribute in re.findall(r"`(\w+)(?:\.(\w+))?[^`]*`", words):
        if name in PLANNED:
            assert served_yet(path) is None
        elif name.isidentifier() and name[0].isupper():
            known = {each.name for each in attrs.fields(getattr(surface, name))}
            assert not attribute or attribute in known


def test_paths_lead_through_lists_maps_and_blocks():
    assert FIELDS["chain.steps[].guard.retry"].default == 0
    assert FIELDS["app.mcp.custom.nodes.SERVER.headers"].kind.value.connection
    assert FIELDS["model.script.rules[].reply"].required
    assert FIELDS["cli.pipelines.PIPELINE.parallel"].default is False


def test_only_addresses_headers_and_environments_expand_variables():
    kind_of = {path: field.kind for path, field in FIELDS.items()}
    texts = {path: getattr(kind, "value", kind) for path, kind in kind_of.items()}
    expanded = [path for path, kind in texts.items() if getattr(kind, "connection", False)]
    node = "app.mcp.custom.nodes.SERVER"
    assert sorted(expanded) == sorted(
        [
            "a2a.clients[].url",
            "mcpServers[].command",
            "mcpServers[].env",
            "mcpServers[].headers",
            "mcpServers[].url",
            "model.baseUrl",
            "rag.source",
            f"{node}.url",
            f"{node}.endpoint",
            f"{node}.headers",
        ]
    )


def test_each_type_with_a_body_has_a_block_of_that_name():
    for type_, block in schema.BODIES.items():
        assert schema.AGENT.fields[type_].kind is block
        assert schema.AGENT.fields[type_].types == (type_,)
    assert set(schema.TYPES) == {"simple", *schema.BODIES}


def test_what_a_field_depends_on_is_a_choice_beside_it():
    for _, block in BLOCKS:
        for field in block.conditional:
            key, value = field.only_with
            assert value in block.fields[key].kind.words


def test_what_is_not_compiled_yet_is_a_field():
    assert schema.NOT_YET.keys() <= FIELDS.keys()
    assert served_yet("cli.agents.AGENT.retry") is None
    assert served_yet("mcp.policy.retryOnFail") is SERVED
    assert served_yet("memory") is SERVED
    assert served_yet("model.name") is SERVED
