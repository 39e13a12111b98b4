"""Configurations as surface terms: what each type becomes, and what overrides change."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.errors import CompileError, SchemaError
from lambdagent.frontend.build import build_term
from lambdagent.frontend.check import check_config
from lambdagent.frontend.models import Overrides
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.surface import (
    Compose,
    Concat,
    ConversationLam,
    Guard,
    Lam,
    Loop,
    Memory,
    Par,
    ReActStep,
    Route,
    Tool,
    subterms,
)
from lambdagent.source import Source

GPT = "model: {provider: openai, name: gpt-4o}\n"
SIMPLE = f"type: simple\nsystemPrompt: Hi.\n{GPT}"
REACT = f"type: react\nname: r\nsystemPrompt: Hi.\n{GPT}"


def build(held, **overrides):
    if isinstance(held, str):
        source = Source("f.yml", held)
        config = check_config(parse_yaml(source), source, {})
    else:
        config = check_config(tree_of(held), Source("", ""), {})
    return build_term(config, Overrides(**overrides))


def told(held, **overrides):
    with pytest.raises(CompileError) as caught:
        build(held, **overrides)
    return [(each.code, each.field) for each in caught.value.diagnostics]


def model(**settings):
    return Model(**{"provider": "openai", "name": "gpt-4o", **settings})


# --- the five types ------------------------------------------------------------------------------


def test_a_simple_agent_is_one_model_call():
    assert build(SIMPLE) == ConversationLam("simple", "Hi.", model(), "text", 80_000)


def test_without_conversation_a_call_has_no_history():
    text = "type: simple\nsystemPrompt: Hi.\nmodel: {name: gpt-4o, conversation: no}\n"
    assert build(text) == Lam("simple", "Hi.", model())


def test_an_agent_without_a_model_compiles():
    assert build("type: simple\nsystemPrompt: Hi.\n").model is None


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [
        ("", 80_000),
        ("contextWindow: 1000", 500),
        ("maxHistoryTokens: 7", 7),
        ("contextWindow: 1", 1),
    ],
)
def test_the_history_is_half_of_the_window_at_most_80000(settings, tokens):
    text = f"type: simple\nsystemPrompt: Hi.\nmodel: {{name: gpt-4o, {settings}}}\n"
    assert build(text).max_history_tokens == tokens


def test_all_settings_reach_the_model():
    text = """\
type: simple
systemPrompt: Hi.
model:
  provider: openai
  name: m
  temperature: 1
  maxTokens: 5
  topP: 0.5
  stopSequences: [a]
  baseUrl: http://x
  contextWindow: 9
  timeout: 3
"""
    assert build(text).model == Model(
        provider="openai",
        name="m",
        temperature=1.0,
        max_tokens=5,
        top_p=0.5,
        stop_sequences=("a",),
        base_url="http://x",
        context_window=9,
        timeout_s=3.0,
    )


def test_a_react_agent_is_a_bounded_loop():
    text = f"""{REACT}
react: {{maxSteps: 4, toolTimeout: 5, observationEnabled: no, verbose: yes, earlyStop: turn > 2}}
mcp: {{localTools: [terminate, search]}}
"""
    step = ReActStep(
        "r.react_step",
        think=ConversationLam("r", "Hi.", model()),
        tools=(Tool("terminate", timeout_s=5.0), Tool("search", timeout_s=5.0)),
        observation_enabled=False,
        early_stop="turn > 2",
    )
    term = build(text)
    assert term == Loop(step, "False", 4, verbose=True)
    assert term.body.tools[0].fn("x") == "x"


def test_a_think_prompt_stands_in_for_the_system_prompt():
    assert build(f"{REACT}react: {{thinkPrompt: Think.}}").body.think.prompt == "Think."


def test_a_chain_is_a_composition_with_guards_inside():
    text = f"""\
type: chain
systemPrompt: ''
{GPT}chain:
  steps:
    - {{name: extract, prompt: Extract., outputParser: json}}
    - {{prompt: Analyze., guard: {{validator: len(x) > 50, retry: 2, fallback: none}}}}
    - {{type: simple, systemPrompt: Draft.}}
"""
    assert build(text) == Compose(
        ConversationLam("extract", "Extract.", model(), "json"),
        Guard(ConversationLam("step2", "Analyze.", model()), "len(x) > 50", 2, "none"),
        ConversationLam("step3", "Draft.", model()),
    )


def test_a_router_is_a_case():
    text = f"""\
type: router
systemPrompt: ''
{GPT}router:
  classifier: {{prompt: code or math?, categories: [code, math]}}
  routes:
    math: {{type: simple, systemPrompt: M.}}
    code: {{type: simple, systemPrompt: C., name: coder}}
  default: {{type: simple, systemPrompt: D.}}
"""
    term = build(text)
    assert term == Route(
        ConversationLam("classifier", "code or math?", model()),
        {
            "code": ConversationLam("coder", "C.", model()),
            "math": ConversationLam("math", "M.", model()),
        },
        ConversationLam("default", "D.", model()),
    )
    assert list(term.routes) == ["code", "math"]


def test_the_classifier_may_answer_with_every_category_and_every_route():
    router = {
        "classifier": {"prompt": "Which?", "categories": ["a", "b"]},
        "routes": {"a": {"systemPrompt": "A"}},
    }
    held = {"type": "router", "systemPrompt": "Desk.", "router": router}
    assert build(held).classifier.prompt == "Desk.\n\nWhich?"
    assert build(held).labels == ("a", "b")


@pytest.mark.parametrize("merge", ["tuple", "concat", "custom"])
def test_a_parallel_agent_is_a_pair_then_the_merge(merge):
    body = {"agents": [{"name": "a", "systemPrompt": "A"}, {"systemPrompt": "B"}], "merge": merge}
    if merge == "custom":
        body["mergePrompt"] = "M"
    term = build({"type": "parallel", "systemPrompt": "P", "parallel": body})
    par = Par(ConversationLam("a", "P\n\nA"), ConversationLam("agent2", "P\n\nB"))
    expected = {
        "tuple": par,
        "concat": Compose(par, Concat()),
        "custom": Compose(par, ConversationLam("merge", "P\n\nM")),
    }
    assert term == expected[merge]


def test_an_outer_prompt_stands_before_those_of_the_steps():
    inner = {"type": "chain", "systemPrompt": "B", "chain": {"steps": [{"prompt": "C"}]}}
    held = {"type": "chain", "systemPrompt": "A", "chain": {"steps": [{"prompt": "S"}, inner]}}
    assert [t.prompt for t in subterms(build(held)) if isinstance(t, Lam)] == [
        "A\n\nS",
        "A\n\nB\n\nC",
    ]


def test_routes_do_not_see_the_prompt_of_the_router():
    router = {"classifier": {"prompt": "p"}, "routes": {"a": {"systemPrompt": "A"}}}
    held = {"type": "router", "systemPrompt": "R", "router": router}
    assert build(held).routes["a"].prompt == "A"


@pytest.mark.parametrize(
    ("fields", "name"),
    [("name: n\nagentId: i\n", "n"), ("agentId: i\n", "i"), ("", "simple")],
)
def test_an_agent_has_its_name_or_its_id_or_its_type(fields, name):
    assert build(SIMPLE + fields).name == name


# --- guard and memory ----------------------------------------------------------------------------


def test_the_guard_wraps_the_agent_and_the_memory_both():
    text = (
        f"{SIMPLE}memory: {{size: 3, ttl: 9}}\nguard: {{validator: x, retry: 1, fallback: last}}\n"
    )
    term = build(text)
    assert term == Memory(
        Guard(ConversationLam("simple", "Hi.", model()), "x", 1, "last"),
        "simple",
        size=3,
        ttl_s=9.0,
    )


def test_a_memory_that_is_not_enabled_is_none():
    assert isinstance(build(f"{SIMPLE}memory: {{enabled: no}}"), ConversationLam)


def test_an_injected_memory_is_used():
    initial = build(f"{SIMPLE}memory: {{}}", memory_initial={"k": 1})
    assert initial.initial == Record(k=1)
    store = build(f"{SIMPLE}memory: {{strategy: redis}}", memory_binding="key")
    assert (store.strategy, store.binding) == ("custom", "key")


def test_an_injected_memory_needs_no_block():
    assert build(SIMPLE, memory_initial={"k": 1}).initial == Record(k=1)
    assert told(f"{SIMPLE}memory: {{enabled: no}}", memory_initial={}) == [("S203", None)]


# --- overrides -----------------------------------------------------------------------------------


def test_overrides_win_for_every_agent():
    text = f"""\
type: parallel
systemPrompt: ''
{GPT}parallel:
  agents:
    - {{systemPrompt: a, model: {{temperature: 2}}}}
    - {{type: react, systemPrompt: b, react: {{maxSteps: 3}}}}
"""
    term = build(text, model="o3", temperature=0.0, max_tokens=9, max_steps=7)
    calls = [each for each in subterms(term) if isinstance(each, Lam)]
    assert {each.model for each in calls} == {model(name="o3", temperature=0.0, max_tokens=9)}
    assert [each.max_steps for each in subterms(term) if isinstance(each, Loop)] == [7]


def test_a_model_override_suffices_where_there_is_none():
    assert build("type: simple\nsystemPrompt: Hi.\n", model="claude-x").model == Model(
        provider="anthropic", name="claude-x"
    )


def test_injected_tools_join_every_loop():
    search = Tool("search", description="finds")
    text = f"{REACT}mcp: {{localTools: [terminate, search]}}\n"
    term = build(text, tools={"search": search, "more": Tool("more")}, tool_timeout_s=3.0)
    assert [(t.name, t.description, t.timeout_s) for t in term.body.tools] == [
        ("terminate", "", 3.0),
        ("search", "finds", 3.0),
        ("more", "", 3.0),
    ]


def test_terminate_is_always_the_identity():
    assert build(f"{REACT}mcp: {{localTools: [terminate]}}\n").body.tools[0].fn("x") == "x"
    assert Tool("terminate", lambda x: "other").fn("x") == "x"


def test_an_injected_provider_is_bound_by_name():
    text = "type: simple\nsystemPrompt: a\nmodel: {provider: mine}\n"
    assert build(text, providers={"mine": "key"}).model.binding == "key"
    assert told(text) == [("S104", "model.provider")]


def test_a_recording_is_found_beside_the_file():
    text = "type: simple\nsystemPrompt: a\nmodel: {provider: scripted, script: {recording: r}}\n"
    assert build(text, base_dir="d").model.script["recording"] == "d/r"
    assert build(text).model.script["recording"] == "r"
    assert build(text.replace("r}}", "/r}}"), base_dir="d").model.script["recording"] == "/r"


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        ({"temperature": 3.0}, [("S103", "temperature")]),
        ({"temperature": float("nan")}, [("S103", "temperature")]),
        ({"max_steps": 0}, [("S103", "max_steps")]),
        ({"max_tokens": 0}, [("S103", "max_tokens")]),
        ({"tool_timeout_s": 0.0}, [("S103", "tool_timeout")]),
        ({"tools": {"a": Tool("a")}}, [("S203", None)]),
    ],
)
def test_overrides_without_a_sense_are_refused(overrides, found):
    assert told(SIMPLE, **overrides) == found


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{SIMPLE}rag: {{source: docs}}\n", ["rag"]),
        (f"{SIMPLE}a2a: {{}}\n", ["a2a"]),
        (f"{REACT}leaf: {{}}\n", ["leaf"]),
        (
            "type: groupchat\nsystemPrompt: a\ngroupchat: {agents: [{systemPrompt: b}]}\n",
            ["groupchat"],
        ),
        (f"{SIMPLE}skills: []\nchannels: []\n", ["skills", "channels"]),
    ],
)
def test_what_is_not_supported_yet_is_refused(text, found):
    assert told(text) == [("S108", field) for field in found]


def test_a_memory_that_is_not_enabled_asks_for_nothing():
    assert isinstance(build(f"{SIMPLE}memory: {{enabled: no, strategy: redis}}\n"), Lam)


def test_what_is_supported_is_not_refused():
    mcp = "mcp: {onlineTool: {}, policy: {mode: auto}}"
    text = f"{REACT}runtime: {{engine: adaptive}}\n{mcp}\n"
    assert isinstance(build(text), Loop)


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ("name: what", [("S101", "model.provider")]),
        ("provider: opnai, name: x", [("S104", "model.provider")]),
        ("provider: openai", [("S101", "model.name")]),
        ("provider: scripted", [("S101", "model.script")]),
        ("name: gpt-4o, script: {replies: [a]}", [("S111", "model.script")]),
    ],
)
def test_a_model_that_cannot_answer_is_refused(settings, found):
    assert told(f"type: simple\nsystemPrompt: a\nmodel: {{{settings}}}\n") == found


def test_a_tool_listed_twice_is_refused():
    text = f"{REACT}mcp: {{localTools: [a, terminate, a]}}\n"
    assert told(text) == [("S201", "mcp.localTools[2]")]


def test_a_fault_that_is_inherited_is_told_once_where_it_stands():
    text = """\
type: chain
systemPrompt: a
model: {provider: opnai, name: x}
chain: {steps: [{prompt: a}, {prompt: b}]}
"""
    with pytest.raises(SchemaError) as caught:
        build(text)
    assert [each.where.line for each in caught.value.diagnostics] == [3]


# --- laws ----------------------------------------------------------------------------------------

words = st.text("abc xyz", min_size=1, max_size=8)
models = st.fixed_dictionaries(
    {"provider": st.just("openai"), "name": words},
    optional={
        "temperature": st.floats(0, 2),
        "maxTokens": st.integers(1, 9999),
        "conversation": st.booleans(),
    },
)
guards = st.fixed_dictionaries(
    {"validator": st.sampled_from(["len(x) > 3", "'a' in x"])},
    optional={"retry": st.integers(0, 3), "fallback": st.sampled_from(["error", "empty", "last"])},
)
memories = st.fixed_dictionaries(
    {}, optional={"enabled": st.booleans(), "size": st.integers(0, 9), "ttl": st.integers(0, 9)}
)
extras = {"name": words, "model": models, "guard": guards, "memory": memories}


def agent(type_, **body):
    required = {"type": st.just(type_), "systemPrompt": words, **body}
    return st.fixed_dictionaries(required, optional=extras)


def nests(inner):
    steps = st.fixed_dictionaries({"prompt": words}, optional={"name": words, "guard": guards})
    routes = st.dictionaries(words, inner, min_size=1, max_size=3)
    return st.one_of(
        agent(
            "chain",
            chain=st.fixed_dictionaries(
                {"steps": st.lists(steps | inner, min_size=1, max_size=3)}
            ),
        ),
        agent(
            "router",
            router=st.fixed_dictionaries(
                {"classifier": st.fixed_dictionaries({"prompt": words}), "routes": routes},
                optional={"default": inner},
            ),
        ),
        agent(
            "parallel",
            parallel=st.fixed_dictionaries(
                {"agents": st.lists(inner, min_size=1, max_size=3)},
                optional={"merge": st.sampled_from(["tuple", "concat"])},
            ),
        ),
    )


reacts = agent("react", react=st.fixed_dictionaries({"maxSteps": st.integers(1, 9)}))
agents = st.recursive(agent("simple") | reacts, nests, max_leaves=5)


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
@given(agents)
def test_compiling_is_deterministic_and_ignores_the_order_of_keys(held):
    term = build(held)
    assert repr(build(held)) == repr(term)
    assert repr(build(reversed_keys(held))) == repr(term)


_watched: list[str] = []
_watching = [False]


def _audit(event, args):
    if _watching[0] and event.partition(".")[0] in {
        "open",
        "socket",
        "subprocess",
        "os",
        "shutil",
    }:
        _watched.append(event)


@pytest.fixture(scope="module")
def audit():
    sys.addaudithook(_audit)
    return _watched


@settings(max_examples=10)
@given(held=agents)
def test_compiling_performs_no_effect(audit, held):
    build(held)
    audit.clear()
    _watching[0] = True
    try:
        build(held)
    finally:
        _watching[0] = False
    assert audit == []
