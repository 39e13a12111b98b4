"""Agent texts → agents: forms, names, depth, and the text of every error."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir import surface
from lambdagent.ir.agent_text import print_agent
from lambdagent.source import Source
from tests.ir.surface_terms import SAMPLES, deep
from tests.laws.agents import agents

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "agent-errors.txt"
ID = surface.Compose()
F = surface.Lam("f", "F")


def read(text: str) -> surface.Term | None:
    return parse_lambda(Source("a.lam", text)).agent


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ('λx. LLM_{"F", f}(x)', F),
        ('λx. LLM_{"F", f} x', F),
        ('\\question -> LLM_{\n"F", f}(question)', F),
        ('λx. LLM_{gpt-4o, "F"}(history ++ x)', surface.ConversationLam("agent", "F", "gpt-4o")),
        ('λx. json(LLM_{"F", f}(x))', surface.Lam("f", "F", None, "json")),
        ('λx. LLM_{"F…", `f 1`}(x) where {llm.`f 1` = {prompt: ["F", "G"]}}', None),
        ("PAR(λx. x) >> concat", surface.Par(ID) >> surface.Concat()),
        ('λx. (λx. LLM_{"F", f}(x)) x', surface.Compose(F)),
        ("PAIR(λp. fst p, λq. snd q)", surface.Pair(surface.Fst(), surface.Snd())),
        ("λx. IF {x | x > 1} x THEN (λx. x) x ELSE (λx. x) x", surface.If("x > 1", ID)),
        ('Guard(λx. x, {x | "x"}, fallback="no")', surface.Guard(ID, "x", 0, "no")),
        ("Guard(λx. x, Truth(λx. x))", surface.Guard(ID, ID)),
        ("Memory(λx. x, Γ ∪ local{})", surface.Memory(ID)),
        ("a = λx. x; b = PAR(a); b", surface.Par(ID)),
        ("λy. CASE ((λx. x) y) [] y", surface.Route(ID, {})),
        (
            "Y[3](λagain x. let y = (λx. x) x in IF {x | x} ⟨y, step⟩ THEN y ELSE again y)",
            surface.Loop(ID, "x", 3),
        ),
    ],
)
def test_a_text_reads_as(text: str, agent: surface.Term | None):
    assert read(text) == (agent or surface.Lam("f 1", "F\nG"))


def test_a_name_is_one_agent():
    par = read('f = λx. LLM_{"F", f}(x); PAR(f, f, λx. LLM_{"F", f}(x))')
    assert isinstance(par, surface.Par)
    first, second, third = par.branches
    assert first is second
    assert first is not third
    assert first == third


def test_a_text_without_a_form_of_agents_is_a_core_term():
    assert read("λx. x") is None
    assert read("λp. fst p") is None


REACT = print_agent(SAMPLES["react"])
STEP = print_agent(SAMPLES["bare-step"])
WRONG = [
    'λx. LLM_{gpt-4o, "Be kind…", w}(x)',
    'λx. LLM_{gpt-4o, "Be mean…", w}(x)\nwhere {llm.w = {prompt: "Be kind to all."}}',
    'λx. LLM_{gpt-4o, "Be", w}(x)\nwhere {llm.v = {agent: "w"}}',
    'λx. LLM_{gpt-4o, "Be", w}(x)\nwhere {llm.w = {prmpt: "a", recent_turns: "b"}}',
    'λx. LLM_{mine, "Be", w}(x)',
    'λx. LLM_{mine, "Be", w}(x)\nwhere {model.mine = {temperature: "hot"}}',
    'λx. LLM_{gpt-4o, "Be", w}(y)',
    'λx. LLM_{gpt-4o "Be", w}(x)',
    "λx. LLM_{gpt-4o, Be, w}(x)",
    'λx. LLM_{gpt-4o, "Be"',
    'λx. LLM_{gpt-4o, "Be", w}',
    'LLM_{gpt-4o, "Be", w}',
    'λx. LLM{gpt-4o, "Be", w}(x)',
    'λx. yaml(LLM_{"Be", w}(x))',
    'λx. CASE (f x) [("a", λx. x), ("a", λx. x), (b, λx. x)] x',
    'λx. CASE ((λx. x) x) [("a", λx. x)]',
    "λx. CASE ((λx. x) x) (λx. x) x",
    'λx. CASE ((λx. x) x) [("_", λx. x)] x',
    "Guard(λx. x, {x | len(x) > }, retry=2)",
    "Guard(λx. x, {y | len(x) > 2}, retry=2)",
    "Guard(λx. x, {x | len(x) > 2}, retri=-2, fallback=5)",
    "Guard(λx. x, {x | len(x) > 2, retry=-2)",
    "Guard(λx. x)",
    "Guard(λx. x, λx. x)",
    "Truth(λx. x)",
    "λx. IF Truth() x THEN (λx. x) x ELSE (λx. x) x",
    "Memory(λx. x, Γ ∪ mongo{size=20, size=7})",
    "Memory(λx. x, local)",
    "Memory(retry=2, Γ ∪ local{})",
    "PAR()",
    "PAIR(λx. x)",
    "PAR(λx. x, retry=2)",
    "PAR(λx. llm.foo x, 3, (), {x | x}, concat 1, if 1 then 2 else 3)",
    "PAR(f, guard, λx. x)",
    "f = PAR(f); f",
    "f = PAR(g); f = g; g = λx. x; f",
    "f = PAR(λx. x);",
    "λx. (x = x)",
    "Guard (λx. x)",
    'PAR(λx. Tool("search", y), Tool("a", x)) where {tool.search = {}, tool.search = {}}',
    'λx. Tool("search", x) where {tool.search = {timeout: "x"}}',
    STEP.replace("(obs = t)", "(obs = state)"),
    STEP.replace("λobs", "λo"),
    STEP.replace("THEN t", "THEN"),
    STEP.replace("format(t, obs)", "t"),
    STEP.replace(">> λobs.", "λobs."),
    STEP.replace("(λx. LLM_{", "(λx. (λx. x) LLM_{"),
    STEP.replace('"terminate", λx. x', '"search", λx. Tool("find", x)'),
    STEP.replace('"terminate", λx. x', '"search", λx. x'),
    STEP.replace('"terminate"', "_"),
    REACT.replace("let t = ", "let t = PAR"),
]


def shown_faults() -> str:
    shown = []
    for text in WRONG:
        with pytest.raises(LambdaSyntaxError) as raised:
            read(text)
        shown.append(str(raised.value))
    return "\n\n".join(shown) + "\n"


def test_errors_say_what_was_expected_and_what_was_meant(golden):
    golden(GOLDEN, shown_faults())


def test_errors_say_the_same_in_chinese(golden, chinese):
    golden(GOLDEN.with_suffix(".zh.txt"), shown_faults())


@given(agents(), st.integers(0, 10_000), st.integers(1, 3), st.sampled_from(["", "(", "x", '"']))
def test_a_damaged_text_is_read_or_refused(agent, place, length, instead):
    text = print_agent(agent)
    place %= len(text)
    with contextlib.suppress(LambdaSyntaxError):
        parse_lambda(Source("a.lam", text[:place] + instead + text[place + length :]))


@pytest.mark.parametrize("number", range(8))
def test_deep_agents_read_back(number: int):
    text = print_agent(deep(number, 1_000))
    again = read(text)
    assert print_agent(again) == text
