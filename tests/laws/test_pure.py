"""Law 21: pure λ has three shapes and free sites, and means what the program means."""

import pytest
from hypothesis import given, reject

from lambdagent.api.compiling import Compiled
from lambdagent.desugar.pure import desugar_pure
from lambdagent.desugar.typing import NoTypeError
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir import church
from lambdagent.ir.core import App, Lam, Lit, Prim, Term
from lambdagent.ir.data import Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import nodes, site_names, size
from lambdagent.machine.link import link
from lambdagent.machine.values import project
from lambdagent.source import Source
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import Oracle, Seen, content, observe_fast
from tests.laws.terms import inputs, programs, seeds

LIMIT = 2_000_000


def program_of(text: str) -> Program:
    return lambda_program(parse_lambda(Source("p.lam", text)))


def what_is_seen(seen: Seen) -> object:
    """The outcome, and where nothing failed the effects and the store."""
    if seen.error is not None:
        return (seen.error["kind"], seen.error["message"], seen.error["data"])
    calls = [(call.site, call.argument, call.answer) for call in seen.obs.log]
    return (project(seen.value), calls, seen.obs.store)


def check(program: Program, value: str, oracle: Oracle) -> None:
    pure = desugar_pure(program)
    before = observe_fast(program, value, oracle, limit=LIMIT)
    after = observe_fast(pure, value, oracle, limit=LIMIT)
    assert what_is_seen(after) == what_is_seen(before)


def typed(program: Program) -> Program:
    """Return `program`; one whose values have no type is not for these laws."""
    try:
        desugar_pure(program)
    except NoTypeError:
        reject()
    return program


def is_pure(term: Term) -> bool:
    """Whether nothing but sites, ``catch`` and atoms stands beside the three shapes."""
    return all(
        node.name in {"site", "catch"} for node in nodes(term) if type(node) is Prim
    ) and not any(isinstance(n.value, bool) for n in nodes(term) if type(n) is Lit)


@given(agents(depth=3), inputs, seeds)
def test_an_agent_in_pure_lambda_does_the_same(agent, value, seed):
    check(typed(compiled(agent)), value, answers(seed))


@given(programs(pure=True), inputs)
def test_a_program_without_effects_comes_to_the_same(program, value):
    try:
        check(program, value, content(0))
    except NoTypeError:
        assert site_names(program.term)


@given(programs(), inputs, seeds)
def test_a_program_with_effects_comes_to_the_same(program, value, seed):
    try:
        check(program, value, content(seed))
    except NoTypeError:
        assert site_names(program.term)


@given(agents(depth=4))
def test_pure_lambda_has_three_shapes_and_the_sites_of_its_table(agent):
    program = typed(compiled(agent))
    pure = desugar_pure(program)
    assert is_pure(pure.term)
    assert site_names(pure.term) <= {*pure.sites}
    assert desugar_pure(pure).digest() == pure.digest()


@given(agents(depth=3))
def test_pure_text_reads_back(agent):
    program = typed(compiled(agent))
    text = Compiled("a", None, program).pure().formal(sugar=False)
    assert program_of(text).digest() == desugar_pure(program).digest()
    assert "let" not in text.partition("where {")[0].split()


VALUES = [
    ("true", True),
    ("[true, false]", (True, False)),
    ("3", 3),
    ("()", None),
    ("succ (succ 1)", 3),
    ("⟨1, ⟨false, 2⟩⟩", (1, False, 2)),
    ("nil", ()),
    ("[1, 2, 3]", (1, 2, 3)),
    ('"grüße, λ"', "grüße, λ"),
    ('""', ""),
    ("-1", -1),
    ("4000000000", 4000000000),
    ("1.5", 1.5),
    ("null", None),
    ('json{"a": [1]}', {"a": (1,)}),
    ('if true then "a" else "b"', "a"),
    ("Y[3] (λself n. self (succ n)) (λn. n) 2", 5),
    ("guard[2] (λn. succ n) (λ_. false) (λn. succ n) 1", 3),
    ("pmap (λn. succ n) [1, 2]", (2, 3)),
    ("par[2] (λ_. 1) (λ_. true)", (1, True)),
    ("par[1] (λ_. 7)", 7),
    ("catch (λ_. 1) (λe. 2)", 1),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_a_value_decodes_to_itself(text, value):
    pure = desugar_pure(program_of(f"λ_. {text}"))
    assert is_pure(pure.term)
    assert project(observe_fast(pure, "", content(0)).value) == value


@pytest.mark.parametrize(
    "text",
    [
        "λx. if x then false else true",
        "λx. ⟨x, x⟩",
        "let twice = λf x. f (f x) in λx. twice (twice succ) 3",
    ],
)
def test_an_input_is_encoded(text):
    program = program_of(text)
    seen = [observe_fast(each, True, content(0)) for each in (program, desugar_pure(program))]
    assert project(seen[0].value) == project(seen[1].value)


def test_a_site_that_gets_two_kinds_of_values_is_refused():
    with pytest.raises(NoTypeError, match=r"a (bool|pair) in one place"):
        desugar_pure(program_of("λx. let _ = tool.a ⟨x, x⟩ in tool.a true"))


def test_a_value_of_its_own_type_does_not_cross_the_border():
    with pytest.raises(NoTypeError, match="its own type"):
        desugar_pure(program_of("λx. tool.a ((λf. f f) (λf. ⟨1, f f⟩))"))


@pytest.mark.parametrize(
    ("kind", "text", "native"),
    [
        ("unit", "()", None),
        ("bool", "true", True),
        ("bool", "false", False),
        (("pair", "bool", ("pair", "unit", "data")), "⟨false, ⟨(), 7⟩⟩", (False, None, 7)),
        (("sum", Record(a="bool", b="data")), 'tag["a", "b", 0] true', True),
        ("bool", '"no boolean"', "no boolean"),
    ],
)
def test_decoding_undoes_encoding(kind, text, native):
    value = program_of(f"λ_. {text}").term
    assert isinstance(value, Lam)
    sites = {
        "border:in": Site("border:in", "border", arg="data", result=kind),
        "border:out": Site("border:out", "border", arg=kind, result="data"),
    }
    encoded = App(Prim("site", ("border:in",)), value.body)
    term = Lam(App(Prim("site", ("border:out",)), encoded))
    assert project(observe_fast(Program(term, sites), "", content(0)).value) == native


def test_a_deep_term_is_no_problem():
    term: Term = Lit(True)
    for _ in range(100_000):
        term = App(Prim("fst"), App(App(Prim("pair"), term), term))
    pure = desugar_pure(Program(Lam(term), {}))
    assert size(pure.term) < 500_000


def test_a_byte_of_a_text_is_written_once():
    assert size(church.text("a" * 1000)) < size(church.text("a")) + 1000 * 4
    assert link(Program(Lam(church.text("ab")), {})).codes
