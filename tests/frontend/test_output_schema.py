"""`outputSchema` in agent files, λ texts and lint."""

import pytest

from lambdagent.errors import CompileError, LambdaSyntaxError
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.surface import Compose, ConversationLam, Lam, Loop
from lambdagent.source import Source
from tests.frontend.test_build import SIMPLE, build, told

SCHEMA = {"type": "object", "required": ("age",)}
WRITTEN = "outputSchema: {type: object, required: [age]}\n"


def step(fields: str) -> str:
    return f"{SIMPLE.replace('simple', 'chain')}chain: {{steps: [{{prompt: p, {fields}}}]}}\n"


def test_a_simple_agent_has_a_schema_and_is_read_as_json():
    agent = build(f"{SIMPLE}{WRITTEN}")
    assert isinstance(agent, ConversationLam)
    assert (agent.output_parser, dict(agent.output_schema)) == ("json", SCHEMA)
    assert build(SIMPLE).output_schema is None


def test_so_have_a_step_and_the_model_of_a_react_agent():
    chain = build(step("outputParser: json, outputSchema: {type: array}"))
    assert isinstance(chain, Compose)
    assert isinstance(chain.stages[0], Lam)
    assert dict(chain.stages[0].output_schema) == {"type": "array"}
    react = build(f"{SIMPLE.replace('simple', 'react')}{WRITTEN}")
    assert isinstance(react, Loop)
    assert dict(react.body.think.output_schema) == SCHEMA


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (f"{SIMPLE}outputSchema: {{typ: object}}\n", [("S104", "outputSchema.typ")]),
        (f"{SIMPLE}outputSchema: {{type: text}}\n", [("S104", "outputSchema.type")]),
        (
            f"{SIMPLE}outputSchema: {{properties: {{a: {{pattern: '('}}}}}}\n",
            [("S104", "outputSchema.properties.a.pattern")],
        ),
        (f"{SIMPLE}outputSchema: {{$ref: other.json}}\n", [("S104", 'outputSchema["$ref"]')]),
        (f"{SIMPLE}outputSchema: object\n", [("S103", "outputSchema")]),
        (
            step("outputParser: number, outputSchema: {minimum: 1}"),
            [("S104", "chain.steps[0].outputParser")],
        ),
    ],
)
def test_what_cannot_be_checked_is_told_at_its_place(text, findings):
    assert told(text) == findings


@pytest.mark.parametrize(
    ("schema", "actual", "fix"),
    [
        ("{typ: object}", "typ", "write `type`"),
        ("{type: integr}", "integr", "write `integer`"),
        ("{properties: {a: {minimum: x}}}", "x", "remove it, or say it in the prompt"),
        ("{anyOf: [{minimum: x}]}", "minimum", "remove it, or say it in the prompt"),
    ],
)
def test_what_stands_there_is_told_and_what_may_be_meant(schema, actual, fix):
    with pytest.raises(CompileError) as caught:
        build(f"{SIMPLE}outputSchema: {schema}\n")
    (found,) = caught.value.diagnostics
    assert (found.actual, found.fix) == (actual, fix)


@pytest.mark.parametrize(
    ("parser", "schema"), [("", "{typ: 1}"), ("", "3"), ("number", "{minimum: 1}")]
)
def test_a_row_with_a_schema_that_cannot_be_is_refused(parser, schema):
    text = f'λx. {parser}(LLM_{{"F", f}}(x)) where {{llm.f = {{output_schema: {schema}}}}}'
    with pytest.raises(LambdaSyntaxError) as caught:
        parse_lambda(Source("a.lam", text))
    assert [found.code for found in caught.value.diagnostics] == ["P027"]
