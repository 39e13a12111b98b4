"""Law 21: pure λ has three shapes and free sites, and means what the program means."""

from functools import partial

import attrs
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from lambdagent.api.compiling import Compiled
from lambdagent.api.running import run
from lambdagent.desugar.pure import TooLargeError, desugar_pure
from lambdagent.desugar.typing import NoTypeError
from lambdagent.errors import EffectError
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir import church
from lambdagent.ir.abi import LARGEST_NUMERAL, is_type
from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import nodes, site_names, size
from lambdagent.machine.engines import ENGINES
from lambdagent.machine.link import link
from lambdagent.machine.values import project
from lambdagent.source import Source
from tests.laws.agents import agents, answers, compiled
from tests.laws.observe import Oracle, Seen, content, observe, observe_fast
from tests.laws.terms import (
    BOOL,
    DATA,
    NAT,
    SMALL,
    STR,
    TURN,
    WORLD,
    Maker,
    functions,
    inputs,
    list_of,
    pair_of,
    program,
    programs,
    seeds,
    site,
    spine,
    sum_of,
    thunk,
)

LIMIT = 2_000_000

worldly = st.sampled_from([*WORLD, "text", True, -1, 1.5])


def program_of(text: str) -> Program:
    return lambda_program(parse_lambda(Source("p.lam", text)))


def what_is_seen(seen: Seen) -> object:
    """The outcome, and where nothing failed the effects and the store."""
    if seen.error is not None:
        return (seen.error["kind"], seen.error["message"], seen.error["data"])
    calls = [(call.site, call.argument, call.answer) for call in seen.obs.log]
    return (project(seen.value), calls, seen.obs.store)


def check(program: Program, value: Data, oracle: Oracle) -> None:
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


def shows_keys(program: Program) -> bool:
    """Whether an error, which names the thread that failed, may be seen after a fork.

    Pure λ has no forks, so threads have other names there.
    """
    names = {node.name for node in nodes(program.term) if type(node) is Prim}
    return "catch" in names and not names.isdisjoint({"par", "pmap"})


def keyless(strategy: st.SearchStrategy[Program]) -> st.SearchStrategy[Program]:
    return strategy.filter(lambda program: not shows_keys(program))


@given(agents(depth=3), inputs, seeds)
def test_an_agent_in_pure_lambda_does_the_same(agent, value, seed):
    check(typed(compiled(agent)), value, answers(seed))


@given(programs(pure=True), inputs)
def test_a_program_without_effects_comes_to_the_same(program, value):
    try:
        check(program, value, content(0))
    except NoTypeError:
        assert site_names(program.term)


@given(keyless(programs()), inputs, seeds)
def test_a_program_with_effects_comes_to_the_same(program, value, seed):
    try:
        check(program, value, content(seed))
    except NoTypeError:
        assert site_names(program.term)


@given(keyless(programs(given=NAT)), st.integers(0, 9), seeds)
def test_a_program_that_gets_a_number_comes_to_the_same(program, value, seed):
    check(typed(program), value, content(seed))


@given(keyless(programs(given=DATA)), worldly, seeds)
def test_a_program_that_gets_anything_comes_to_the_same(program, value, seed):
    check(typed(program), value, content(seed))


@given(st.sampled_from([t for t in SMALL if t[0] != "fun"]), worldly, seeds, st.data())
def test_a_value_of_the_world_in_the_place_of_one_of_the_term_is_an_atom(kind, value, seed, data):
    own = [Maker(data.draw, pure=True).term(kind, fuel=2) for _ in range(2)]
    either = spine(Prim("if"), App(site("tool:bool"), Var(0)), Lam(Var(1)), thunk(own[0]))
    asked = [App(site("tool:data"), each) for each in (either, own[1])]
    whole = typed(program(Lam(spine(Prim("pair"), either, spine(Prim("pair"), *asked)))))
    after = observe_fast(desugar_pure(whole), value, content(seed))
    if after.error is None or after.error["kind"] != "EncodingError":  # it takes a number apart
        assert what_is_seen(after) == what_is_seen(observe_fast(whole, value, content(seed)))


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
    ("par[2] (λu. u) (λu. [u])", (None, (None,))),
    ("catch (λu. u) (λe. ())", None),
    ("catch (λ_. 1) (λe. 2)", 1),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_a_value_decodes_to_itself(text, value):
    pure = desugar_pure(program_of(f"λ_. {text}"))
    assert is_pure(pure.term)
    assert project(observe_fast(pure, "", content(0)).value) == value


@pytest.mark.parametrize(
    "head", [App(Prim("if"), Lit(True)), App(Prim("if"), Lit(False)), Prim("par", (2,))]
)
def test_a_branch_gets_the_unit(head):
    branches = [App(site("tool:data"), Var(0)), Var(0)]
    check(program(Lam(spine(head, *map(Lam, branches)))), "", content(0))


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


ATOMS = [-1, 1.5, LARGEST_NUMERAL + 1, "a text", True, None, (1, 2), Record(a=1)]


@pytest.mark.parametrize("value", ATOMS)
def test_a_value_that_nothing_takes_apart_is_an_atom(value):
    texts = (
        "λx. if true then x else 3",
        'λx. [x, "a"]',
        "λx. x :: [x]",
        "λx. if true then x else ()",
        "λx. ⟨tool.t x, tool.t ()⟩",
        "λx. if true then x else true",
        "λx. ⟨tool.t x, tool.t true⟩",
        "λx. if true then x else ⟨(), true⟩",
        "λx. ⟨tool.t x, tool.t ⟨(), true⟩⟩",
        'λx. if true then x else tag["a", "b", 0] ()',
        'λx. ⟨tool.t x, tool.t (tag["a", "b", 0] ())⟩',
    )
    for text in texts:
        check(program_of(text), value, content(0))


@pytest.mark.parametrize("value", [each for each in ATOMS if each != (1, 2)])
def test_a_value_that_has_no_encoding_is_refused_where_it_is_taken_apart(value):
    for text, wanted in (("succ x", "natural number up to 100,000"), ("pmap fst x", "list")):
        error = observe_fast(desugar_pure(program_of(f"λx. {text}")), value, content(0)).error
        assert error["kind"] == "EncodingError"
        assert error["data"]["code"] == "R007"
        assert error["data"]["what"] == f"the input is no {wanted}: {data_text(value)}"


def test_an_answer_that_has_no_encoding_is_refused_with_its_site():
    pure = desugar_pure(program_of("λx. succ (tool.n x)"))
    error = observe_fast(pure, "", lambda *_: "many").error
    assert error["data"]["what"].startswith("the answer of `tool:n` is no natural number")


def test_numbers_of_a_list_are_counted_with():
    pure = desugar_pure(program_of("λx. pmap succ x"))
    assert project(observe_fast(pure, (1, 2, 3), content(0)).value) == (2, 3, 4)
    assert "no natural number" in observe_fast(pure, (1, -2), content(0)).error["data"]["what"]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_encodes_what_comes_from_outside(engine):
    pure = desugar_pure(program_of("λx. pmap (λn. ⟨n, succ n⟩) x"))
    assert run(pure, [1, 20], engine=engine).value == [(1, 2), (20, 21)]
    with pytest.raises(EffectError, match="the input is no natural number up to 100,000: -1"):
        run(pure, [-1], engine=engine)


@given(
    st.sampled_from((STR, NAT, BOOL)).flatmap(partial(functions, TURN, pure=True)),
    inputs,
)
def test_the_turns_of_a_conversation_are_taken_apart(function, value):
    spoken = App(site("conv.append:one"), spine(Prim("pair"), Var(0), Lit("reply")))
    window = App(site("conv.read:one"), Lit(UNIT))
    turns = spine(Prim("pmap"), function, App(Prim("fst"), window))
    check(program(Lam(App(Lam(turns), spoken))), value, content(0))


def test_a_number_too_large_to_count_with_is_refused():
    assert desugar_pure(program_of(f"λ_. [1, {LARGEST_NUMERAL + 1}]"))
    with pytest.raises(NoTypeError, match="numerals end at 100,000"):
        desugar_pure(program_of(f"λ_. succ {LARGEST_NUMERAL + 1}"))
    many = "0x" + "f" * 4000  # more digits than Python writes
    with pytest.raises(NoTypeError, match="it counts with 0xfff"):
        desugar_pure(program_of(f"λ_. succ {many}"))
    with pytest.raises(TooLargeError, match=r"^guard\[0xfff"):
        desugar_pure(program_of(f"λ_. guard[{many}]"))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (f"λx. Y[{LARGEST_NUMERAL}] (λf. f) (λn. n) x", True),
        (f"λx. Y[{LARGEST_NUMERAL + 1}] (λf. f) (λn. n) x", False),
        (f"λ_. succ (Y[{LARGEST_NUMERAL - 9}] (λf. f) (λn. n) 9)", True),
        (f"λ_. succ (Y[{LARGEST_NUMERAL - 9}] (λf. f) (λn. n) 10)", False),
    ],
)
def test_all_numerals_together_have_a_limit(text, fits):
    if fits:
        desugar_pure(program_of(text))
    else:
        with pytest.raises(TooLargeError):
            desugar_pure(program_of(text))


def test_a_shared_term_counts_each_time():
    term: Term = spine(Prim("fix", (2,)), church.IDENTITY, church.IDENTITY, Lit("text"))
    for _ in range(100):
        term = App(Prim("fst"), spine(Prim("pair"), term, term))
    with pytest.raises(TooLargeError, match=r"^Y\[2\]$"):
        desugar_pure(Program(Lam(term), {}))


def test_small_numbers_that_nothing_counts_with_are_atoms_where_they_are_many():
    many = ", ".join(["1000"] * 101)
    pure = desugar_pure(program_of(f"λ_. [{many}]"))
    assert size(pure.term) < 1000
    assert project(observe_fast(pure, "", content(0)).value) == (1000,) * 101


# --- the border alone ----------------------------------------------------------------------------


def encoded(kind: Data, value: Term) -> Program:
    """``λ_. border.out (border.in value)``: encoded as `kind` and decoded again."""
    sites = {
        "border:in": Site("border:in", "border", arg="data", result=kind),
        "border:out": Site("border:out", "border", arg=kind, result="data"),
    }
    inner = App(Prim("site", ("border:in",)), value)
    return Program(Lam(App(Prim("site", ("border:out",)), inner)), sites)


SIMPLE = {"unit": ("unit",), "bool": ("bool",), "nat": NAT, "text": ("str",), "data": ("data",)}
kinds = st.recursive(
    st.sampled_from(sorted(SIMPLE)),
    lambda inner: (
        st.tuples(st.just("pair"), inner, inner)
        | st.tuples(st.just("list"), inner)
        | st.tuples(
            st.just("sum"), st.builds(Record, st.fixed_dictionaries({"a": inner, "b": inner}))
        )
    ),
    max_leaves=4,
)


def type_of(kind: Data):
    """Return a type of the ABI as one of `terms`."""
    match kind:
        case ("pair", left, right):
            return pair_of(type_of(left), type_of(right))
        case ("list", item):
            return list_of(type_of(item))
        case ("sum", Record() as parts):
            return sum_of(**{label: type_of(part) for label, part in parts.items()})
    return SIMPLE[kind]


@given(kinds, st.data())
def test_decoding_undoes_encoding(kind, data):
    assert is_type(kind)
    value = Maker(data.draw, pure=True).term(type_of(kind))
    plain = observe(Program(Lam(value), {}), "", content(0))
    again = observe(encoded(kind, value), "", content(0))
    assert again.result == plain.result


@pytest.mark.parametrize(
    ("kind", "native"),
    [("bool", "no boolean"), (("list", "nat"), (1, 2)), ("text", "grüße\ud800")],
)
def test_a_value_of_the_world_goes_through_the_border(kind, native):
    assert project(observe_fast(encoded(kind, Lit(native)), "", content(0)).value) == native


@pytest.mark.parametrize(
    ("kind", "answer", "text", "value"),
    [
        ("nat", 3, "n succ 4", 7),
        ("text", "größe", "n (λ_ k. succ k) 0", 7),
        (
            "text",
            "A",
            "n (λh t. h (λb₇ b₆ b₅ b₄ b₃ b₂ b₁ b₀. ⟨b₆ 1 0, b₁ 1 0⟩) :: t) nil",
            ((1, 0),),
        ),
        (("list", "bool"), (True, False), "n (λh t. h 1 0 :: t) nil", (1, 0)),
    ],
)
def test_a_term_applies_what_a_site_of_its_table_answers(kind, answer, text, value):
    program = program_of(f"λ_. let n = tool.n () in {text}")
    sites = {name: attrs.evolve(s, result=kind) for name, s in program.sites.items()}
    typed = desugar_pure(attrs.evolve(program, sites=sites))
    assert project(observe_fast(typed, "", lambda *_: answer).value) == value


@pytest.mark.slow
def test_a_deep_term_is_no_problem():
    term: Term = Lit(True)
    for _ in range(100_000):
        term = App(Prim("fst"), App(App(Prim("pair"), term), term))
    pure = desugar_pure(Program(Lam(term), {}))
    assert size(pure.term) < 500_000


def test_a_byte_of_a_text_is_written_once():
    assert size(church.text("a" * 1000)) < size(church.text("a")) + 1000 * 4
    assert link(Program(Lam(church.text("ab")), {})).codes
