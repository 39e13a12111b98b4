"""A file with very many findings is told that it has more than are shown."""

import pytest

from lambdagent.errors import CompileError
from lambdagent.frontend.check import check_config
from lambdagent.frontend.nodes import MAX_FINDINGS
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.source import Source


def findings(count: int) -> list[str]:
    keys = "".join(f"bad{i}: 1\n" for i in range(count))
    source = Source("a.yml", f"type: simple\nsystemPrompt: p\n{keys}")
    with pytest.raises(CompileError) as caught:
        check_config(parse_yaml(source), source, {})
    return [each.code for each in caught.value.diagnostics]


def test_hundreds_of_findings_are_told_at_once():
    assert findings(300) == ["S102"] * 300


def test_what_is_left_out_is_told():
    codes = findings(MAX_FINDINGS + 5)
    assert codes == [*["S102"] * MAX_FINDINGS, "S016"]
