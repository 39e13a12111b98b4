import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from lambdagent.desugar.passes import desugar
from lambdagent.ir import outline, surface
from lambdagent.ir.bounds import bounds
from lambdagent.ir.costs import NEVER
from lambdagent.ir.measure import constructs
from lambdagent.ir.model import Model
from lambdagent.ir.program import Program
from tests.ir.surface_terms import AGENTS, CHAIN, REACT, SAMPLES, deep, react

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "outline"
LAM = surface.Lam("w")


def program(term: surface.Term) -> Program:
    return desugar(term, lambda text, names: (text, *names))


def described(term: surface.Term, name: str) -> str:
    return outline.describe(term, name, bounds(program(term)).model_calls)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_agent_is_described(name: str, golden: Any):
    term = SAMPLES[name]
    golden(GOLDEN / f"{name}.txt", described(term, "SeeCoderManus"))


def test_a_react_agent_is_described_as_the_specification_says():
    assert (
        described(REACT, "SeeCoderManus")
        == """SeeCoderManus =
  Memory(
    Y₂₀(λself.λstate.
      let t = think(state) in
      CASE t [(search, Tool), (calc, Tool), (terminate, λx.x)]
      >> IF is_terminate THEN t ELSE self(state ⊕ obs)
    ),
    local(size=20, ttl=7200)
  )

Constructs used: Lam, Loop, Route, Tool(×3), Memory
β-reduction bound: max 20 steps
Base case: terminate = λx.x
"""
    )


@pytest.mark.parametrize(
    ("term", "bound"),
    [
        (surface.Fst(), "no model calls"),
        (LAM, "exactly 1 model call"),
        (CHAIN, "3 to 5 model calls"),
        (surface.If("x", LAM), "max 1 model call"),
        (surface.Guard(react("t"), "x", 2), "max 60 steps"),
        (surface.Loop(LAM >> LAM, "x", 3), "max 3 steps, 2 to 6 model calls"),
        (surface.Loop(LAM, "x", 1), "max 1 step"),
        (LAM >> react("t"), "2 to 21 model calls"),
        (surface.Compose(LAM, surface.Guard(LAM, "x", 2**99)), "2 to 2^100 model calls"),
    ],
)
def test_the_bound_is_said(term: surface.Term, bound: str):
    assert f"β-reduction bound: {bound}\n" in described(term, "a")


def test_without_terminate_an_answer_is_the_base_case():
    assert "Base case: an answer without a tool call\n" in described(react("t"), "a")


def test_hidden_characters_stay_out_of_the_text():
    text = described(surface.Lam("a\n\x1b[31m\u202e"), "b\nc")
    assert text.startswith("b ⏎ c =\n  Lam(a ⏎ \\u001b[31m\\u202e)\n")


@given(AGENTS)
def test_every_agent_can_be_described(term: surface.Term):
    assert described(term, "a")
    assert sum(constructs(term).values()) == sum(1 for _ in surface.subterms(term))


@given(AGENTS)
def test_json_is_deterministic_and_serialisable(term: surface.Term):
    first, second = (json.dumps(outline.to_json(term, program(term))) for _ in range(2))
    assert first == second


def test_json_has_all_but_bindings(golden: Any):
    found = outline.to_json(CHAIN, program(CHAIN))
    golden(GOLDEN / "chain.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")


def test_json_holds_no_secret():
    settings = {"api_key": "hush", "max_tokens": 3, "url": "http://h/?sig=hush&q=1"}
    model = Model(provider="openai", base_url="https://me:hush@x.cn?api_key=hush")
    term = surface.Memory(surface.Lam("w", "p", model), initial=settings)
    text = json.dumps(outline.to_json(term, program(term)), ensure_ascii=False)
    assert "hush" not in text
    assert '"max_tokens": 3' in text
    assert '"base_url": "https://x.cn"' in text
    assert "http://h/?sig=•••&q=1" in text


def test_json_knows_no_registry_keys():
    term = surface.Tool("len", len)
    assert "len#" not in json.dumps(outline.to_json(term, program(term)))


def test_an_unknown_term_is_described_by_its_class():
    assert outline.describe(surface.Term(), "a", NEVER).startswith("a =\n  Term\n")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_an_agent_100000_levels_deep_is_described(number: int):
    term = deep(number, 100_000)
    assert outline.describe(term, "a", NEVER)


@pytest.mark.parametrize("number", range(8))
def test_deep_agents_have_shallow_json(number: int):
    term = deep(number, 500)
    found = outline.to_json(term, program(term))
    assert json.dumps(found)
    assert len(found["parts"]) >= 9
