"""Agents as text for people: its look. That it reads back is law 2, in tests/laws/test_text.py."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from lambdagent.ir import surface
from lambdagent.ir.agent_text import print_agent, print_brief
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.program_text import BRIEF
from tests.ir.surface_terms import AGENTS, SAMPLES, deep

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "agents"
LONG = "Write a poem of four lines about the sea, and let it rhyme."


@pytest.mark.parametrize("name", SAMPLES)
def test_an_agent_is_printed(name: str, golden: Any):
    golden(GOLDEN / f"{name}.lam.txt", print_agent(SAMPLES[name]))


def test_short_prompts_of_usual_models_need_no_table():
    text = print_agent(surface.Lam("w", "Write.", "qwen3-max"))
    assert text == 'λx. LLM_{qwen3-max, "Write.", w}(x)\n'


def test_a_long_prompt_is_shown_up_to_a_word_and_is_whole_in_its_row():
    text = print_agent(surface.Lam("w", LONG))
    assert text == (
        'λx. LLM_{"Write a poem of four lines…", w}(x)\n\n'
        f'where {{\n  llm.w = {{prompt: "{LONG}"}}\n}}\n'
    )


def test_the_lines_of_a_prompt_are_lines_of_its_row():
    text = print_agent(surface.Lam("w", f"Be kind.\n{LONG}"))
    assert text.startswith('λx. LLM_{"Be kind.…", w}(x)\n')
    assert f'prompt: ["Be kind.", "{LONG}"]' in text


def test_a_prompt_that_ends_like_a_cut_one_is_in_its_row():
    assert 'llm.w = {prompt: "Go on…"}' in print_agent(surface.Lam("w", "Go on…"))


def test_agents_of_one_name_have_rows_of_their_own():
    text = print_agent(
        surface.Lam("w", LONG) >> surface.Lam("w", f"{LONG} Now.") >> SAMPLES["tool"]
    )
    assert "llm.w = {prompt:" in text
    assert 'llm.`w#2` = {\n    agent: "w",' in text
    assert 'tool.ls = {command: "ls -l", idempotent: true}' in text


def test_agents_of_equal_models_share_a_row():
    models = [Model(provider="scripted", script=Record(replies=(n,))) for n in (1, 1, 2)]
    text = print_agent(surface.Par(*(surface.Lam("w", "p", model) for model in models)))
    assert text.count('LLM_{scripted, "p", w}') == 2
    assert "`scripted#2`" in text
    assert text.count("provider:") == 2


def test_an_agent_that_occurs_twice_is_defined():
    writer = surface.ConversationLam("writer", "p", "gpt-4o")
    text = print_agent(surface.Par(writer, writer >> surface.Fst()))
    assert text == (
        'writer = λx. LLM_{gpt-4o, "p", writer}(history ⊕ x);\n\n'
        "PAR(writer, writer >> (λp. fst p))\n"
    )


def test_definitions_have_names_of_their_own():
    twice = [surface.Lam(name, "p") for name in ("x", "if", "Y_3", "w", "w")]
    text = print_agent(surface.Par(*twice, *twice))
    names = [line.partition(" ")[0] for line in text.splitlines() if " = λ" in line]
    assert names == ["x_2", "agent", "agent_2", "w", "w_2"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("len(x) > 3", "{x | len(x) > 3}"),
        ("x == '}'", "{x | x == '}'}"),
        ("x == {'a': 1}", "{x | \"x == {'a': 1}\"}"),
        ('"x"', '{x | "\\"x\\""}'),
        ("x or\nx", '{x | "x or\\nx"}'),
        ("", '{x | ""}'),
    ],
)
def test_an_expression_is_bare_where_it_can_be(text: str, shown: str):
    assert shown in print_agent(surface.Guard(surface.Compose(), text))


def test_an_exit_test_shows_the_names_that_it_uses():
    text = print_agent(SAMPLES["react-early-stop"])
    assert "ELSE IF {turn | turn > 3} THEN t ELSE" in text


def test_a_brief_text_has_no_table_and_says_so():
    assert print_brief(surface.Lam("w", LONG)).startswith(f"{BRIEF}λx. LLM_{{")
    assert "where" not in print_brief(surface.Lam("w", LONG))


@given(AGENTS)
def test_every_agent_can_be_printed(term: surface.Term):
    assert print_agent(term)


def test_an_unknown_term_is_shown_by_its_class():
    assert print_agent(surface.Term()) == "Term\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_an_agent_100000_levels_deep_is_printed(number: int):
    assert print_agent(deep(number, 100_000))
