"""The field tables: complete, documented, and the page written from them."""

from pathlib import Path

import pytest

from lambdagent.frontend import schema
from lambdagent.frontend.reference import render_reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "yaml.md"


def test_the_page_is_what_the_tables_say(request):
    if request.config.getoption("--accept"):
        PAGE.write_text(render_reference(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == render_reference()


@pytest.mark.parametrize("path", schema.FIELDS)
def test_each_field_says_what_it_is_in_a_sentence(path):
    assert schema.FIELDS[path].doc.endswith(".")
    assert "|" not in schema.FIELDS[path].doc


def test_paths_lead_through_lists_maps_and_blocks():
    assert schema.FIELDS["chain.steps[].guard.retry"].default == 0
    assert schema.FIELDS["app.mcp.custom.nodes.SERVER.headers"].kind.value.connection
    assert schema.FIELDS["model.script.rules[].reply"].required


def test_only_addresses_and_headers_expand_variables():
    kind_of = {path: field.kind for path, field in schema.FIELDS.items()}
    texts = {path: getattr(kind, "value", kind) for path, kind in kind_of.items()}
    expanded = [path for path, kind in texts.items() if getattr(kind, "connection", False)]
    node = "app.mcp.custom.nodes.SERVER"
    assert expanded == ["model.baseUrl", f"{node}.url", f"{node}.endpoint", f"{node}.headers"]


def test_each_type_with_a_body_has_a_block_of_that_name():
    for type_, block in schema.BODIES.items():
        assert schema.AGENT.fields[type_].kind is block
        assert schema.AGENT.fields[type_].types == (type_,)
