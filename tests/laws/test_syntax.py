"""Laws 1 to 3: names of variables, rows, substitution."""

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.alpha import alpha_equal, digest
from lambdagent.ir.codec import decode_term, encode_term
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.walk import free_reach, instantiate, nodes, shift
from tests.laws.observe import content, observe
from tests.laws.terms import inputs, program, programs, raw_terms, seeds, show


def renamed(root: Term, names: list[str]) -> Term:
    """Return `root` with other names of variables, taken from `names` in turn."""
    done: dict[int, Term] = {}
    for number, term in enumerate(nodes(root)):
        name = names[number % len(names)]
        match term:
            case Var(index):
                done[id(term)] = Var(index, name)
            case Lam(body):
                done[id(term)] = Lam(done[id(body)], name)
            case App(function, argument, label):
                done[id(term)] = App(done[id(function)], done[id(argument)], label)
            case _:
                done[id(term)] = term
    return done[id(root)]


name_lists = st.lists(st.sampled_from(["", "x", "y", "self", "_"]), min_size=1, max_size=5)


# --- law 1: α ------------------------------------------------------------------------------------


@given(raw_terms, name_lists)
def test_names_of_variables_change_neither_equality_nor_digest(term, names):
    other = renamed(term, names)
    assert alpha_equal(term, other)
    assert digest(term) == digest(other)


@given(raw_terms, raw_terms)
def test_digests_are_equal_just_for_equal_terms(left, right):
    assert alpha_equal(left, right) == (digest(left) == digest(right))


@given(programs(), inputs, seeds, name_lists)
def test_names_of_variables_change_no_run(one, value, seed, names):
    other = program(renamed(one.term, names))
    assert other.digest() == one.digest()
    assert observe(other, value, content(seed)) == observe(one, value, content(seed))


# --- law 2, its part about rows ------------------------------------------------------------------


@given(raw_terms)
def test_decoding_gives_back_what_was_encoded(term):
    rows = encode_term(term)
    decoded = decode_term(rows)
    assert alpha_equal(decoded, term)
    assert show(decoded) == show(term)
    assert encode_term(decoded) == rows


# --- law 3: substitution -------------------------------------------------------------------------


def substituted(term: Term, index: int, replacement: Term) -> Term:
    """Return `term` with the free variable `index` replaced and those beyond it moved inwards.

    By definition, case by case, and so without the sharing of `walk.rebuild`.
    """
    match term:
        case Var(i):
            if i == index:
                return shifted(replacement, index, 0)
            return Var(i - 1) if i > index else term
        case Lam(body):
            return Lam(substituted(body, index + 1, replacement))
        case App(function, argument, label):
            return App(
                substituted(function, index, replacement),
                substituted(argument, index, replacement),
                label,
            )
    return term


def shifted(term: Term, by: int, depth: int) -> Term:
    match term:
        case Var(i):
            return Var(i + by) if i >= depth else term
        case Lam(body):
            return Lam(shifted(body, by, depth + 1))
        case App(function, argument, label):
            return App(shifted(function, by, depth), shifted(argument, by, depth), label)
    return term


@given(raw_terms, raw_terms)
def test_instantiation_is_substitution_as_defined(body, argument):
    assert alpha_equal(instantiate(body, argument), substituted(body, 0, argument))


@given(raw_terms, st.integers(0, 4))
def test_shifting_is_as_defined(term, by):
    assert alpha_equal(shift(term, by), shifted(term, by, 0))


@given(raw_terms, raw_terms, raw_terms)
def test_substitutions_commute(t, s, u):
    # t[x:=s][y:=u] = t[y:=u][x:=s[y:=u]], where x is variable 0 of t, and y is variable 1 (0 of s)
    left = instantiate(instantiate(t, s), u)
    inner = instantiate(s, u)
    right = instantiate(substituted(t, 1, u), inner)
    assert alpha_equal(left, right)


@given(raw_terms, raw_terms)
def test_instantiating_a_term_without_the_variable_leaves_it(term, argument):
    assert alpha_equal(instantiate(shift(term, 1), argument), term)


@given(raw_terms, raw_terms)
def test_substitution_captures_nothing(body, argument):
    result = instantiate(body, argument)
    assert free_reach(result) <= max(free_reach(body) - 1, free_reach(argument), 0)


def test_a_free_variable_of_the_argument_stays_free_below_a_lambda():
    # (λx. λy. x) z with z free gives λy. z, and not λy. y
    result = instantiate(Lam(Var(1, "x"), "y"), Var(0, "y"))
    assert alpha_equal(result, Lam(Var(1)))
    assert not alpha_equal(result, Lam(Var(0)))


def test_names_are_no_identity():
    assert not alpha_equal(Lam(Lam(Var(0, "x"), "x"), "x"), Lam(Lam(Var(1, "x"), "x"), "x"))
    assert not alpha_equal(Lit(1), Lit(True))
    assert not alpha_equal(Prim("fix", (1,)), Prim("fix", (2,)))
