"""Hints that can be typed as they stand, and places of what has none in the tree."""

import re

import pytest

from lambdagent.api.reducing import reducible
from lambdagent.errors import Diagnostic, LambdaSyntaxError
from lambdagent.frontend.check import read_config
from lambdagent.frontend.lambda_sites import lambda_program
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.source import Source

DIGITS = "1" * 5_000


def found(text: str, read=lambda source: lambda_program(parse_lambda(source))) -> Diagnostic:
    with pytest.raises(LambdaSyntaxError) as caught:
        read(Source("t.lam", text))
    return caught.value.diagnostic


@pytest.mark.parametrize("read", [lambda s: lambda_program(parse_lambda(s)), reducible])
@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "P003", (1, 1)),
        ("\n\n", "P003", (1, 1)),
        ("# a note\n", "P003", (1, 9)),
        ("f = λx. x;\n\n", "P030", (1, 11)),
    ],
)
def test_a_text_without_a_term_has_the_place_of_its_end(read, text, code, place):
    diagnostic = found(text, read)
    assert (diagnostic.code, diagnostic.where[:2]) == (code, place)
    assert diagnostic.fix


@pytest.mark.parametrize(
    ("text", "fix"),
    [(DIGITS, "0xff"), (f"^{DIGITS}", "count the binders"), (f"Y_{DIGITS} I I", "`Y[0xff]`")],
)
def test_a_long_number_has_the_hint_of_its_form(text, fix):
    diagnostic = found(text)
    assert diagnostic.code == "P013"
    assert fix in diagnostic.fix


@pytest.mark.parametrize("name", ["`my agent`", "`a.b`", "`case`", "x", "你好", "`1`"])
def test_a_hint_for_a_name_can_be_typed(name):
    diagnostic = found(f"λy. y {name}")
    assert diagnostic.code == "P023"
    definition = re.search(r"define it, as in (`+) ?(.*?) ?\1$", diagnostic.fix)
    assert definition is not None
    parse_lambda(Source("t", definition[2].replace("…", "1") + f" λy. y {name}"))


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ('f "par[2]" (par[2] (λ_. 1) (λ_. 2))', "par", 13),
        ("(λf. f) pmap", "pmap", 9),
        ("(λf. f) (catch (λ_. 1) I)", "catch", 10),
        ("(λf. f) (guard[2] I I I)", "guard", 10),
        ("(λx. llm.a x)", "llm.a", 6),
        ("(λx. fail.a x)", "fail.a", 6),
        ("PAR(λx. x)", "PAR", 1),
        ('(λx. Tool("a", x)) >> Guard(λx. x, {x | x})', "Tool", 6),
        ('λx. LLM_{"Be kind."}(x)', "LLM_", 5),
    ],
)
def test_what_is_nothing_for_reduce_has_its_place(text, what, column):
    diagnostic = found(text.replace("f ", "I ") if text.startswith("f ") else text, reducible)
    assert diagnostic.code == "P037"
    assert diagnostic.where[:2] == (1, column)
    assert f"`{what}" in diagnostic.what


# --- keys of agent files -------------------------------------------------------------------------

AGENT = "type: react\nsystemPrompt: a\nmodel: {provider: openai, name: gpt-4o%s}\n"


def unknown(text: str) -> tuple[str, str, str | None]:
    source = Source("a.yml", text)
    _, findings = read_config(parse_yaml(source), source, {})
    (only,) = (each for each in findings if each.code == "S102")
    return only.what, only.fix, only.instead


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("temperature", "write it in `model:`"),
        ("max_steps", "write it in `react:`"),
        ("routes", "write it in `router:`"),
        ("instructions", "write `systemPrompt`"),
        ("api_key", "remove it: keys of models are read from the environment"),
        ("colour", "remove it, or begin its name with `x-` if it is a note of your own"),
    ],
)
def test_a_key_that_stands_elsewhere_is_told_where_it_belongs(key: str, fix: str):
    assert unknown(f"{AGENT % ''}{key}: 1\n") == (f"unknown key `{key}`", fix, None)


@pytest.mark.parametrize(
    ("key", "meant", "instead"),
    [
        ("max_tokens", "maxTokens", "maxTokens"),
        ("maxToken", "maxTokens", "maxTokens"),
        ("top-p", "topP", "topP"),
        ("topK", "topP", None),
        ("temprature", "temperature", "temperature"),
        ("tempratre", "temperature", None),
    ],
)
def test_only_what_can_be_nothing_else_is_written_in_its_place(key, meant, instead):
    found = unknown(AGENT % f", {key}: 1")
    assert found == (f"unknown key `{key}`", f"write `{meant}`", instead)
