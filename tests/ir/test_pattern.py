import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.pattern import MAX_SUBJECT, PatternError, compile_pattern

SAFE = [
    r"\d+x",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    "(?i)sorry|cannot",
    r"\d{4}-\d{2}-\d{2}",
    ".*foo.*bar",
    r"^(?:\w+\s)*$",
    r"(?:\w+\s+)*$",
    r"https?://\S+",
    r"\d{1,3}(,\d{3})*(\.\d+)?",
    r'"(?:[^"\\]|\\.)*"',
    "[一-龥]+",
    "(a|b)*c",
    "",
    "a|",
    "(?>a+)b",
    "a++b",
    "(?<=a)b",
]
UNSAFE = [
    "(a+)+b",
    "(a*)*",
    "(a|a)*b",
    "(a|ab)*c",
    r"(\w+\s*)*$",
    "(x+x+)+y",
    "a?" * 30,
    ".*.*.*.*.*=",
    "((a{0,30}){0,30}){0,30}",
    "(?:a{1,9}){9}b",
    "(a?)*b",
    "(|a)*b",
    "(?=(a+)+b)",
    r"(?:.|\n)*x(?:.|\n|x)*y",
    r"(.)\1",
    "(?P<a>x)(?(a)b|c)",
    "(?L)a",
    "(",
    "[",
    "[[a]",
    "a{5000000000}",
    "(" * 60 + ")" * 60,
    "x" * 501,
    "[一-龥]" * 9,
    "(?:^){4000000000}b",
    "(?:(?=a)){1000000}b",
    "(?:a?){1000000}b",
    "(?:(?:^|$){60000}){60000}b",
]


@pytest.mark.parametrize("pattern", SAFE)
def test_a_usual_pattern_is_accepted_and_affordable_on_prose(pattern: str):
    compiled = compile_pattern(pattern)
    assert compiled.cost("hello world, 12 items. " * 15, searching=True) < 100_000


@pytest.mark.parametrize("pattern", UNSAFE)
def test_a_pattern_that_may_explode_is_refused(pattern: str):
    with pytest.raises(PatternError):
        compile_pattern(pattern)


def test_unknown_flags_are_refused():
    with pytest.raises(PatternError):
        compile_pattern("a", 128)


def test_a_repeat_does_not_see_a_huge_subject():
    with pytest.raises(PatternError):
        compile_pattern("a+").cost("a" * (MAX_SUBJECT + 1), searching=True)
    assert compile_pattern("abc").cost("a" * (MAX_SUBJECT + 1), searching=False) > 0


def test_an_anchored_pattern_costs_less():
    subject = "1" * 2000
    free = compile_pattern(r"\d+x").cost(subject, searching=True)
    assert compile_pattern(r"^\d+x").cost(subject, searching=True) < free / 100
    assert compile_pattern(r"\d+x").cost(subject, searching=False) < free / 100


# fmt: off
atoms = st.sampled_from([
    "a", "b", "[ab]", ".", r"\w", r"\s", r"\d", "(?:ab|a)", "(a|b)", "(a)", "x", " ", "[^a]", "$",
    "(?:ab)", "^", r"\b", "(?=a)", "1", "(?i:a)", "(?:a?)", "(?:^|b)", "(?:)",
])
# fmt: on
repeats = st.sampled_from(["", "", "*", "+", "?", "*?", "{1,5}", "+?", "{3}", "{9000}"])
subjects = st.sampled_from(
    ["a" * 300, "a" * 3000, "ab" * 1500, "a b " * 700, "1" * 3000, "aab " * 500 + "x", "é" * 2000]
)


@given(st.lists(st.tuples(atoms, repeats), min_size=1, max_size=5), subjects)
def test_a_match_takes_no_longer_than_its_bound(parts: list[tuple[str, str]], subject: str):
    try:
        compiled = compile_pattern("".join(atom + repeat for atom, repeat in parts))
        cost = compiled.cost(subject, searching=True)
    except PatternError:
        return
    if cost > 100_000:
        return
    started = time.process_time()
    compiled.regex.search(subject)
    # The bound is meant for an idle machine; ten times as much would be a wrong bound.
    assert (time.process_time() - started) * 1e6 < 10 * cost + 20_000
