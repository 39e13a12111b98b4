"""What the caller brings and nothing in the file uses is refused."""

import pytest

from lambdagent.errors import SemanticError
from lambdagent.ir.surface import Tool
from tests.frontend.test_build import build


@pytest.mark.parametrize(
    "given", [{"max_steps": 3}, {"tool_timeout_s": 2.0}, {"tools": {"t": Tool("t")}}]
)
def test_what_only_a_loop_could_use_is_refused_without_one(given):
    with pytest.raises(SemanticError) as caught:
        build({"type": "simple", "systemPrompt": "p"}, **given)
    assert caught.value.diagnostic.code == "S203"


def test_a_provider_that_no_model_names_is_refused_beside_all_else():
    model = {"provider": "scripted", "script": {"replies": ["a"]}}
    held = {"type": "simple", "systemPrompt": "p", "model": model}
    with pytest.raises(SemanticError) as caught:
        build(held, providers={"openai": "key", "scripted": "key"}, max_steps=3)
    assert [each.code for each in caught.value.diagnostics] == ["S203", "S203"]


def test_terminate_cannot_be_injected():
    held = {
        "type": "react",
        "systemPrompt": "p",
        "react": {},
        "mcp": {"localTools": ["terminate"]},
    }
    with pytest.raises(SemanticError) as caught:
        build(held, tools={"terminate": Tool("terminate")})
    assert caught.value.diagnostic.code == "S203"
