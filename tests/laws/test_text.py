"""Law 2: what is printed reads back equal, and prints the same again, in every format."""

import re
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.compiling import compile_file
from lambdagent.api.programs import parse_program
from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.build import NO_OVERRIDES
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir import surface
from lambdagent.ir.agent_text import print_agent
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import Term
from lambdagent.ir.model import Model
from lambdagent.ir.printer import print_term
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import print_program, program_json
from lambdagent.machine.link import link
from lambdagent.source import Source
from tests.acceptance import agents as files
from tests.ir.surface_terms import RIGHT_AGENTS
from tests.laws.agents import agents, answers, compiled, run_agent
from tests.laws.observe import observe
from tests.laws.terms import inputs, programs, raw_terms, seeds

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    [*ROOT.glob("examples/*.yml"), *ROOT.glob("tests/conformance/*/agent.yml")], key=str
)
STYLES = {
    "formal": {},
    "ascii": {"ascii": True},
    "de-bruijn": {"de_bruijn": True},
    "human": {"lines": True},
    "all": {"ascii": True, "de_bruijn": True, "lines": True},
}


def term_of(text: str) -> Term:
    term = parse_lambda(Source("t", text)).term
    assert term is not None
    return term


def program_of(text: str) -> Program:
    return lambda_program(parse_lambda(Source("t", text)))


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(raw_terms)
def test_terms_read_back(style, term):
    text = print_term(term, **style)
    again = term_of(text)
    assert alpha_equal(again, term), text
    assert print_term(again, **style) == text


@given(programs())
def test_typed_terms_read_back(one):
    text = print_term(one.term)
    assert alpha_equal(term_of(text), one.term), text


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(agents())
def test_programs_of_agents_read_back(style, agent):
    program = compiled(agent)
    text = print_program(program, **style)
    again = program_of(text)
    assert again.digest() == program.digest(), text
    assert print_program(again, **style) == text
    assert text.isascii() or not style.get("ascii")


def agent_program(text: str) -> tuple[surface.Term | None, Program]:
    return parse_program(Source("t.lam", text), "agent", NO_OVERRIDES)


def check_agent(agent: surface.Term) -> None:
    """What is printed for people is the same program, and as an agent prints the same."""
    text = print_agent(agent)
    again, program = agent_program(text)
    expected = compiled(agent)
    assert alpha_equal(program.term, expected.term), text
    assert program.digest() == expected.digest(), text
    assert again is None or print_agent(again) == text


@given(agents(depth=4))
def test_agents_read_back(agent):
    check_agent(agent)


@given(RIGHT_AGENTS)
def test_agents_with_odd_names_and_settings_read_back(agent):
    check_agent(agent)


def test_a_loop_of_one_round_in_two_places_reads_back():
    step = surface.ReActStep("step", think=surface.Lam("w"), tools=())
    loop = surface.Loop(step, max_steps=1)
    check_agent(loop | loop)


def test_a_loop_of_one_round_that_is_the_body_of_a_loop_stays_one_agent():
    step = surface.ReActStep("step", think=surface.Lam("w"), tools=())
    loop = surface.Loop(step, max_steps=1)
    check_agent(loop | surface.Loop(loop, "x", 3))
    check_agent(surface.Loop(loop, loop, 3))
    named = surface.ReActStep("named", think=surface.Lam("w"), tools=(step,))
    check_agent(surface.Loop(named, max_steps=2) | surface.Loop(loop, max_steps=2) | step)


def test_conditions_that_are_agents_read_back():
    first = surface.Fst()
    check_agent(surface.If(first, first, first))
    check_agent(surface.Loop(first, first, 0))
    check_agent(surface.Guard(first, first))


def test_a_memory_of_the_user_stays_one():
    stored = surface.Memory(surface.Lam("w"), strategy="custom", binding="store#1")
    check_agent(stored)
    assert "Γ ∪ custom{" in print_agent(stored)
    _, program = agent_program(print_agent(stored))
    assert {site.binding for site in program.sites.values()} == {None}


@given(agents(depth=2), inputs, seeds)
def test_agents_that_were_read_back_run_the_same(agent, value, seed):
    _, program = agent_program(print_agent(agent))
    assert observe(link(program), value, answers(seed)) == run_agent(agent, value, seed)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_files_of_agents_read_back(path):
    term = compile_file(path).term
    assert term is not None
    check_agent(term)


@given(agents())
def test_tables_of_agents_read_back(agent):
    program = compiled(agent)
    text = program_json(program)
    again = parse_program_json(Source("t", text))
    assert again.digest() == program.digest()
    assert program_json(again) == text


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("kind", files.TYPES)
def test_agent_files_read_back(tmp_path, kind, style):
    path = tmp_path / "agent.yml"
    path.write_text(files.scripted(kind).replace("add, ", ""), encoding="utf-8")
    program = compile_file(path).program
    assert program_of(print_program(program, **style)).digest() == program.digest()


def test_a_text_that_was_cut_does_not_read_back():
    term = term_of("λx. ⟨x, ⟨x, x⟩⟩")
    with pytest.raises(LambdaSyntaxError):
        term_of(print_term(term, limit=12))


NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from([0, -0.0, 1 << 53, 2.5e16, 10**400, 1e308, True, None, "3"]),
)
# Every number of every node, by the class and the field that holds it.
FIELDS = {
    Model: ("temperature", "max_tokens", "top_p", "timeout_s", "context_window"),
    surface.ConversationLam: ("max_history_tokens", "recent_turns"),
    surface.Tool: ("timeout_s", "retries"),
    surface.ReActStep: ("timeout_s", "retries", "max_concurrent"),
    surface.Loop: ("max_steps",),
    surface.Guard: ("retry",),
    surface.Memory: ("size", "ttl_s"),
}
REST = {
    Model: {"provider": "scripted"},
    surface.ConversationLam: {"name": "w"},
    surface.Tool: {"name": "t"},
    surface.ReActStep: {"name": "s", "think": surface.Lam("w"), "tools": ()},
    surface.Loop: {"body": surface.Lam("w")},
    surface.Guard: {"agent": surface.Lam("w"), "validator": "x"},
    surface.Memory: {"agent": surface.Lam("w")},
}
PLACES = [(kind, field) for kind, fields in FIELDS.items() for field in fields]


def test_every_number_of_an_agent_is_in_the_law():
    kinds = [Model, *surface.Term.__subclasses__(), surface.ConversationLam]
    for kind in [*kinds, surface.ReActStep]:
        numbers = {f.name for f in attrs.fields(kind) if re.search("int|float", str(f.type))}
        assert numbers == set(FIELDS.get(kind, ()))


@given(st.sampled_from(PLACES), NUMBERS)
def test_a_number_is_refused_or_reads_back(place, number):
    kind, field = place
    try:
        made = kind(**REST[kind], **{field: number})
    except ValueError:
        return
    check_agent(surface.Lam("w", "p", made) if kind is Model else made)


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize(
    "number", [-1, -0.5, float("nan"), float("inf"), "x", 1 << 20_000], ids=range(6)
)
def test_a_number_that_means_nothing_is_refused(place, number):
    kind, field = place
    if (field, number) == ("max_steps", 1 << 20_000):
        return
    with pytest.raises(ValueError, match=rf"^{field} must be a .*number .*, got .{{1,60}}$"):
        kind(**REST[kind], **{field: number})


@pytest.mark.parametrize("kind", [Model, surface.Tool])
def test_no_time_at_all_is_refused(kind):
    with pytest.raises(ValueError, match=r"^timeout_s must be a number above 0, got 0\.0$"):
        kind(**REST[kind], timeout_s=0)


def test_a_tool_without_time_is_refused_in_a_text():
    with pytest.raises(LambdaSyntaxError, match=r"`timeout` .* must be a number of seconds"):
        agent_program('λx. Tool("t", x) where {tool.t = {timeout: 0}}')
