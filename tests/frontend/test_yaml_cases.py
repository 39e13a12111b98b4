"""The shared cases of the area `yaml`: files from fault reports, and what must become of them."""

import base64

import pytest

from lambdagent import errors
from lambdagent.errors import CompileError
from lambdagent.frontend.check import check_config
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir.data import thaw
from lambdagent.source import Source
from tests.cases import load_cases


def text_of(case):
    if "generate" in case:
        parts = case["generate"]
        return parts["prefix"] + parts["repeat"] * parts["times"] + parts["suffix"]
    if "text_b64" in case:
        return base64.b64decode(case["text_b64"]).decode()
    return case["text"]


def at(pointer, data):
    """Return what a JSON Pointer finds."""
    for key in pointer.strip("/").split("/"):
        data = data[int(key)] if isinstance(data, list) else data[key]
    return data


@pytest.mark.parametrize("case", load_cases("yaml"), ids=lambda case: case["id"])
def test_a_reported_file_is_read_or_refused_as_it_should_be(case):
    source = Source("agent.yml", text_of(case))
    expect = case["expect"]
    if "ok" in expect:
        data = thaw(check_config(parse_yaml(source), source, case.get("env", {})).data)
        assert {pointer: at(pointer, data) for pointer in expect["ok"]} == expect["ok"]
        return
    with pytest.raises(CompileError) as caught:
        check_config(parse_yaml(source), source, case.get("env", {}))
    error, first = caught.value, caught.value.diagnostic
    assert isinstance(error, tuple(getattr(errors, name) for name in expect["error"]))
    assert first.where is not None
    assert expect.get("field", first.field) == first.field
    assert expect.get("line", first.where.line) == first.where.line
    for words in expect.get("message_has", ()):
        assert words.lower() in str(error).lower()
    assert len(error.diagnostics) == 1
