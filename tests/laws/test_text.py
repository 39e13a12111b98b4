"""Law 2: what is printed reads back equal, and prints the same again, in every format."""

import pytest
from hypothesis import given

from lambdagent.api.compiling import compile_file
from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.core import Term
from lambdagent.ir.printer import print_term
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import print_program, program_json
from lambdagent.source import Source
from tests.acceptance import agents as files
from tests.laws.agents import agents, compiled
from tests.laws.terms import programs, raw_terms

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
