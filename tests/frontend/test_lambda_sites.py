"""Rows of the `where` table → sites; texts and JSON → programs."""

import json

import pytest

from lambdagent.api.compiling import compile_term
from lambdagent.errors import LambdaSyntaxError
from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.frontend.lambda_sites import FIELDS, lambda_program, site_of_row
from lambdagent.frontend.lambda_syntax import parse_lambda
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import print_program, program_json
from lambdagent.ir.sites import KINDS, Site
from lambdagent.ir.surface import ConversationLam
from lambdagent.source import Source


def program(text: str) -> Program:
    return lambda_program(parse_lambda(Source("t.lam", text)))


def codes(text: str) -> list[str]:
    with pytest.raises(LambdaSyntaxError) as caught:
        program(text)
    return [each.code for each in caught.value.diagnostics]


def row(kind: str, text: str = "") -> Site:
    return program(f"{kind}.it where {{{kind}.it = {{{text}}}}}").sites[f"{kind}:it"]


def test_each_kind_has_its_configuration():
    assert {*FIELDS} == {*KINDS}


def test_a_model_is_completed():
    site = row("llm", 'prompt: "Hi", model: {provider: "scripted", script: {replies: []}}')
    assert (site.decoder, site.static["agent"], site.static["conversation"]) == (
        "text",
        "it",
        False,
    )
    assert site.static["model"]["max_tokens"] == 4096
    assert row("llm", 'model: "claude-x"').static["model"]["provider"] == "anthropic"


def test_attributes_of_a_row():
    site = row("tool", 'command: "wc", timeout: 3, onError: "raise", idempotent: true')
    assert site == Site(
        "tool:it",
        "tool",
        Record(name="it", command="wc", description=""),
        on_error="raise",
        idempotent=True,
        timeout_s=3,
    )
    assert not row("tool").idempotent


def test_expressions_are_read():
    site = row("predicate", 'text: "len(x) < 4"')
    assert site.static["expression"] == parse_expression("len(x) < 4", ["x"])
    assert row("stop", 'text: "turn > 2"').static["expression"]


def test_static_is_exact():
    static = 'static: {cell: "conv:a", max_tokens: 5, recent_turns: 1}'
    assert row("conv.read", static).static == Record(cell="conv:a", max_tokens=5, recent_turns=1)
    assert codes('llm.a where {llm.a = {static: {prompt: ""}}}') == ["P028"] * 3


def test_a_site_of_another_name_says_its_kind():
    sites = program('site["odd"] where {site["odd"] = {kind: "now"}}').sites
    assert sites["odd"].kind == "now"


def test_usual_sites_need_no_row():
    sites = program("λx. tool.wc (now.n ()) ⊕ truth.t (confirm.wc x)").sites
    assert sites["confirm:wc"].static == Record(tool="wc")
    assert sites["concat:join"].static == Record(count=2)
    assert sites["tool:wc"].static["command"] is None
    assert {*sites} == {"tool:wc", "now:n", "truth:t", "concat:join", "confirm:wc"}


def test_reading_and_appending_share_their_cell():
    sites = program("λx. conv.append.a ⟨conv.read.a (), x⟩").sites
    assert sites["conv.read:a"].static == sites["conv.append:a"].static


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "P003"),
        ("a = 1;", "P030"),
        ("λx. ^1", "P031"),
        ("llm.x", "P026"),
        ('site["odd"]', "P026"),
        ("llm.x where {llm.y = {}}", "P026"),
        ('site["odd"] where {site["odd"] = {}}', "P034"),
        ('now.x where {now.x = {kind: "clock"}}', "P034"),
        ("now.x where {now.x = {kind: [1]}}", "P034"),
        ("llm{prompts: 1}", "P029"),
        ("llm{static: {}, prompt: 1}", "P029"),
        ("llm{prompt: 1}", "P027"),
        ("llm{tools: [1]}", "P027"),
        ('llm{tools: [{name: 1, description: ""}]}', "P027"),
        ('llm{tools: [{name: "a", description: "", parameters: 5}]}', "P027"),
        ('llm{tools: [{name: "a", description: "", parameters: {type: "number"}}]}', "P027"),
        ('tool{parameters: {type: "number"}}', "P027"),
        ("tool{parameters: {}}", "P027"),
        ("llm{model: 3}", "P027"),
        ('llm{model: "nameless"}', "P028"),
        ('llm{model: {provider: "openai", maxTokens: 1}}', "P029"),
        ('llm{model: {provider: "openai", temperature: "hot"}}', "P027"),
        ('llm{model: {provider: "openai", timeout_s: 0}}', "P027"),
        ("tool{timeout: 0}", "P027"),
        ("tool{timeout: true}", "P027"),
        ("tool{timeout: Infinity}", "P027"),
        (f"tool{{timeout: 1{'0' * 400}}}", "P027"),
        (f'llm{{model: {{provider: "openai", temperature: 1{"0" * 400}}}}}', "P027"),
        ('tool{decoder: "yaml"}', "P027"),
        ("tool{command: 1}", "P027"),
        ("label{}", "P028"),
        ("label{labels: []}", "P027"),
        ('label{labels: ["a", "a"]}', "P027"),
        ('conv.read{cell: "a"}', "P027"),
        ('conv.read{strategy: "window(3)"}', "P027"),
        ('conv.fold{strategy: "full"}', "P027"),
        ('llm{model: {provider: "openai", context_window: "large"}}', "P027"),
        ("mem.read{size: -1}", "P027"),
        ("mem.read{size: 1.5}", "P027"),
        ("mem.read{initial: []}", "P027"),
        ("predicate{}", "P028"),
        ('predicate{text: "x +"}', "P035"),
        ('predicate{text: "y"}', "P035"),
    ],
)
def test_what_is_no_program_is_told(text: str, code: str):
    assert codes(text)[0] == code


def test_all_rows_are_checked():
    assert codes("⟨llm{a: 1}, tool{b: 1}, ^0⟩") == ["P029", "P029", "P031"]


# --- JSON ----------------------------------------------------------------------------------------


def test_a_program_in_json_reads_back():
    one = program('λx. llm.a ⟨x, 1, -0.0, null, ()⟩ where {llm.a = {prompt: "é"}}')
    text = program_json(one)
    again = parse_program_json(Source("p.json", text))
    assert again.digest() == one.digest()
    assert program_json(again) == text


@pytest.mark.parametrize("strategy", ["managed", "full", "sliding_window(3)", "summary(3)"])
@pytest.mark.parametrize("window", [200_000, 8_192])
def test_a_conversation_reads_back_from_every_text(strategy: str, window: int):
    model = Model(provider="openai", name="gpt-4o", context_window=window)
    term = ConversationLam("chat", "Be kind.", model, strategy=strategy)
    one = compile_term(term)
    formal = print_program(one)
    assert program(formal).digest() == one.digest()
    assert parse_program_json(Source("p.json", program_json(one))).digest() == one.digest()
    (row,) = [site.static for name, site in one.sites.items() if name == "llm:chat"]
    assert row["model"].get("context_window", 200_000) == window


def changed(**parts: object) -> str:
    known = json.loads(program_json(program("λx. now.n x")))
    return json.dumps({**known, **parts})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "P032"),
        ("[" * 100_000, "P032"),
        ('{"a": ' * 300 + "1" + "}" * 300, "P032"),
        ("[]", "P032"),
        ('{"lambdagent-program": 2}', "P032"),
        (changed(core=3), "P032"),
        (changed(core=[]), "P032"),
        (changed(core=[["v", 0, "x"]]), "P031"),
        (changed(core=[["l", 5, "x"]]), "P032"),
        (changed(sites=[]), "P032"),
        (changed(sites=[1]), "P032"),
        (changed(sites=[{"name": "now:n", "kind": "now", "static": {"a": 1}}]), "P029"),
        (changed(digest="0"), "P032"),
    ],
)
def test_what_is_no_program_in_json_is_told(text: str, code: str):
    with pytest.raises(LambdaSyntaxError) as caught:
        parse_program_json(Source("p.json", text))
    assert caught.value.diagnostic.code == code


def test_a_row_without_place_is_told_too():
    with pytest.raises(Exception, match="P029"):
        site_of_row("now:n", Record(a=1))
