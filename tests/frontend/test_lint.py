"""The rules, one by one: what they find, and what they leave alone."""

import re
from typing import Any

import pytest

from lambdagent.frontend.check import read_config
from lambdagent.frontend.expression import parse_expression
from lambdagent.frontend.lint.engine import lint_config
from lambdagent.frontend.lint.fixes import apply_edits
from lambdagent.frontend.lint.guards import verdict
from lambdagent.frontend.lint.pages import PAGES
from lambdagent.frontend.lint.rules import Edit
from lambdagent.frontend.lint.table import BY_CODE, RULES
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.machine.expression import check
from lambdagent.messages.english import MESSAGES
from lambdagent.source import Source

MODEL = "model: {provider: openai, name: gpt-4o-mini}\n"
SIMPLE = f"type: simple\nname: a\nsystemPrompt: Answer.\n{MODEL}"
REACT = f"type: react\nsystemPrompt: Work.\n{MODEL}mcp: {{localTools: [look, terminate]}}\n"


PARALLEL = "type: parallel\nsystemPrompt: a\nparallel: {agents: "
STEPS = (
    "type: chain\nsystemPrompt: a\nchain: {steps: [{prompt: p%s, guard: {validator: x > 5}}]}\n"
)


def holds(rows: Any, names: Any) -> bool:
    return check(rows, names)[0]


def found(text: str, code: str) -> list[str | None]:
    """Return the fields at which the rule finds something."""
    source = Source("agent.yml", text)
    config, _ = read_config(parse_yaml(source), source, {})
    assert config is not None
    told = lint_config(config, holds, frozenset([code]))
    return [each.diagnostic.field for each in told]


# --- the table -----------------------------------------------------------------------------------


def test_the_rules_of_the_specification_have_its_levels():
    levels = {
        "error": range(1, 7),
        "warn": range(7, 14),
        "info": range(14, 17),
    }
    told = {f"L{n:03}": level for level, numbers in levels.items() for n in numbers}
    assert {code: BY_CODE[code].level for code in told} == told


def test_each_rule_has_a_text_a_page_and_a_title():
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes)) == list(PAGES)
    assert set(codes) == {code for code in MESSAGES if code.startswith("L")}
    assert all(MESSAGES[code].why for code in codes)
    assert all(re.match("[a-z]|ReAct", rule.title.removeprefix("a ")) for rule in RULES)


# --- prompts, models, names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("type: simple\nsystemPrompt: '  '\n", ["systemPrompt"]),
        ("type: react\nsystemPrompt: ''\nreact: {thinkPrompt: Think.}\n", []),
        ("type: chain\nsystemPrompt: ''\nchain: {steps: [{prompt: ''}, {prompt: a}]}\n", None),
        (f"{PARALLEL}[{{type: chain, systemPrompt: ''}}]}}", []),
        (
            f"{PARALLEL}[{{systemPrompt: b}}], merge: custom, mergePrompt: ''}}\n",
            ["parallel.mergePrompt"],
        ),
    ],
)
def test_a_prompt_without_words_is_none(text: str, fields: list[str] | None):
    assert found(text, "L001") == (
        ["systemPrompt", "chain.steps[0].prompt"] if fields is None else fields
    )


def test_a_model_may_be_missing_in_the_whole_file_or_in_places():
    steps = "type: chain\nsystemPrompt: a\nchain:\n  steps: [{prompt: b}, {prompt: c%s}]\n"
    assert found(steps % "", "L002") == ["model"]
    assert found(steps % ", model: {name: gpt-4o}", "L002") == ["chain.steps[0].model"]
    assert found(steps % "" + MODEL, "L002") == []


def test_names_may_be_shared_by_what_is_one_agent_and_by_places():
    steps = "type: chain\nname: w\nsystemPrompt: a\nchain:\n  steps:\n"
    twice = "    - {name: w, prompt: b}\n    - {name: v, prompt: b}\n    - {name: v, prompt: c}\n"
    assert found(steps + twice, "L022") == ["chain.steps[2].name"]
    aliased = "    - &w {name: w, prompt: b}\n    - *w\n    - {prompt: c}\n    - {prompt: d}\n"
    assert found(steps + aliased, "L022") == []


# --- tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "fields"),
    [
        ("react: {observationEnabled: false}\n", ["react.observationEnabled"]),
        ("react: {maxSteps: 1}\n", ["react.maxSteps"]),
        ("react: {maxSteps: 2}\n", []),
    ],
)
def test_what_tools_return_should_be_seen(more: str, fields: list[str]):
    assert found(REACT + more, "L023") == fields


def test_online_tools_are_tools():
    text = f"type: react\nsystemPrompt: a\n{MODEL}mcp: {{onlineTool: {{s: [t]}}}}\n"
    assert found(text, "L011") == []


def test_tools_of_servers_are_tools_wherever_the_server_stands():
    server = "mcpServers: [{name: s, transport: stdio, command: c}]\n"
    react = f"type: react\nsystemPrompt: a\n{MODEL}mcp: {{localTools: [terminate]}}\n"
    assert found(react, "L011") == ["mcp.localTools"]
    assert found(react + server, "L011") == []
    step = "{type: react, systemPrompt: a, mcp: {localTools: [terminate]}}"
    chain = f"type: chain\nsystemPrompt: a\n{MODEL}chain: {{steps: [{step}]}}\n"
    assert found(chain, "L011") == ["chain.steps[0].mcp.localTools"]
    assert found(chain + server, "L011") == []


def test_only_very_many_rounds_and_retries_are_told():
    assert found(f"{REACT}react: {{maxSteps: 50}}\n", "L010") == []
    assert found(f"{REACT}react: {{maxSteps: 51}}\n", "L010") == ["react.maxSteps"]
    assert found(f"{SIMPLE}guard: {{validator: x, retry: 5}}\n", "L012") == []
    assert found(f"{SIMPLE}guard: {{validator: x, retry: 6}}\n", "L012") == ["guard.retry"]


# --- routes --------------------------------------------------------------------------------------


def router(classifier: str, routes: str, more: str = "") -> str:
    body = f"classifier: {{prompt: p{classifier}}}, routes: {{{routes}}}{more}"
    return f"type: router\nsystemPrompt: a\n{MODEL}router: {{{body}}}\n"


AGENT = "{systemPrompt: s}"


@pytest.mark.parametrize(
    ("text", "categories", "routes"),
    [
        (router(", categories: [a]", f"a: {AGENT}"), [], []),
        (router(", categories: [A]", f"a: {AGENT}"), [], []),
        (router("", f"a: {AGENT}, b: {AGENT}"), [], []),
        (router(", categories: [a, b]", f"a: {AGENT}"), ["router.classifier.categories[1]"], []),
        (router(", categories: [a, b]", f"a: {AGENT}", f", default: {AGENT}"), [], []),
        (router(", categories: [a]", f"a: {AGENT}, b: {AGENT}"), [], ["router.routes.b"]),
        (router("", f"a: {AGENT}, A: {AGENT}"), [], ["router.routes.A"]),
        (router(", categories: [a, 3]", f"a: {AGENT}, '3': {AGENT}"), [], []),
    ],
)
def test_categories_and_routes_belong_together(
    text: str, categories: list[str], routes: list[str]
):
    assert (found(text, "L020"), found(text, "L021")) == (categories, routes)


# --- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "of_texts", "of_others"),
    [
        ("True", True, True),
        ("0", False, False),
        ("1 / 0", False, False),
        ("len(x) >= 0", True, None),
        ("len(x) > -1 or x", True, None),
        ("len(x) < 0", False, False),
        ("len(x) > 5 and len(x) < 6", False, False),
        ("5 < len(x) < 7", None, None),
        ("len(x) > 5 and not len(x) > 3", False, False),
        ("len(x) > 2.5 and len(x) < 2.9", False, False),
        ("len(x) == 99999", None, None),
        ("len(x) == 10 ** 9", None, None),
        ("len(x) < 10000000", None, None),
        ("x > 5", False, None),
        ("x", None, None),
        ("not x and len(x) > 0", False, None),
        ("x == 5", False, None),
        ("x != 5", True, None),
        ("'a' in x and False", False, False),
        ("'a' in x and x == 5", False, None),
        ("True or 'a' in x", True, True),
        ("len(x) >= 0 or 'a' in x", True, None),
        ("(x > 5 and 'a' in x) or True", None, None),
        ("x > 5 or x == 3 or 1 / 0", False, None),
        ("x > 5 or 'a' in x", None, None),
        ("not (len(x) >= 0 or 'a' in x)", False, None),
        ("not (x > 5 and 'a' in x)", None, None),
        ("len(x.strip()) < 0", None, None),
        ("x in ['a']", None, None),
        ("len(x) == x", None, None),
        ("'a' in x or True", None, None),
    ],
)
def test_a_guard_is_decided_where_it_can_be(
    expression: str, of_texts: bool | None, of_others: bool | None
):
    rows = parse_expression(expression, {"x"})
    assert verdict(rows, holds, is_text=True) is of_texts
    assert verdict(rows, holds, is_text=False) is of_others


def test_steps_that_read_numbers_may_compare_them():
    assert found(STEPS % "", "L017") == ["chain.steps[0].guard.validator"]
    assert found(STEPS % ", outputParser: number", "L017") == []
    assert found(STEPS % ", outputSchema: {type: number}", "L017") == []


@pytest.mark.parametrize(
    ("stop", "fields"),
    [("'True'", ["react.earlyStop"]), ("1 > 2", ["react.earlyStop"]), ("turn > 2", [])],
)
def test_an_exit_test_has_a_variable(stop: str, fields: list[str]):
    assert found(f"{REACT}react: {{earlyStop: {stop}}}\n", "L019") == fields


# --- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("provider: openai, name: gpt-4o-mni", ["model.name"]),
        ("provider: openai, name: gpt4o", ["model.name"]),
        ("provider: openai, name: claude-sonnet-4-20250514", ["model.name"]),
        ("provider: openai, name: claude-sonnet-9", ["model.name"]),
        ("provider: openai, name: claude-sonnet-9, baseUrl: 'https://h'", []),
        ("provider: dashscope, name: deepseek-v9", []),
        ("provider: openai, name: gpt-9", []),
        ("provider: openai, name: gpt-4o-2024-08-06", []),
        ("provider: ollama, name: llama3", []),
        ("provider: custom, name: gpt-4o-mni", []),
    ],
)
def test_only_slips_and_strangers_among_models_are_told(model: str, fields: list[str]):
    text = f"type: simple\nsystemPrompt: a\nmodel: {{{model}}}\n"
    assert found(text, "L027") == fields


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("name: gpt-4", ["model.maxHistoryTokens"]),
        ("name: gpt-4, conversation: false", []),
        ("name: gpt-4, conversation: false, maxTokens: 9000", ["model.maxTokens"]),
        ("name: gpt-4o, contextWindow: 200000", ["model.contextWindow"]),
        ("name: gpt-4o", []),
        ("name: unheard-of, contextWindow: 8000, maxTokens: 4096", ["model.maxHistoryTokens"]),
        ("name: unheard-of, maxHistoryTokens: 300000", ["model.maxHistoryTokens"]),
        ("name: gpt-4, conversation: full", []),
        ("name: gpt-4, conversation: full, maxTokens: 9000", ["model.maxTokens"]),
        ("name: gpt-4, conversation: token_budget(4000)", []),
        ("name: gpt-4, conversation: token_budget(5000)", ["model.conversation"]),
        ("name: gpt-4, conversation: sliding_window(3)", ["model.maxHistoryTokens"]),
        ("name: gpt-4, conversation: summary(3), maxHistoryTokens: 4000", []),
    ],
)
def test_conversation_and_answer_fit_into_the_window(model: str, fields: list[str]):
    assert found(f"type: simple\nsystemPrompt: a\nmodel: {{{model}}}\n", "L028") == fields


# --- what has no effect --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (f"{SIMPLE}memory: {{enabled: false}}\n", []),
        (f"{SIMPLE}memory: {{enabled: false, size: 3}}\n", ["memory"]),
        (f"{SIMPLE}checkpoint: {{maxCheckpoints: 3}}\n", ["checkpoint"]),
        (f"{REACT}confirm: [look]\n", []),
        (
            REACT.replace("mcp: {", "mcp: {policy: {mode: force}, ") + "confirm: [look]\n",
            ["confirm"],
        ),
        (
            "type: simple\nsystemPrompt: a\nmodel: {conversation: false, maxHistoryTokens: 9}\n",
            ["model.maxHistoryTokens"],
        ),
        *(
            (
                (
                    f"type: simple\nsystemPrompt: a\nmodel: {{conversation: {strategy},"
                    " maxHistoryTokens: 9}\n"
                ),
                fields,
            )
            for strategy, fields in (
                ("full", ["model.maxHistoryTokens"]),
                ("token_budget(9)", ["model.maxHistoryTokens"]),
                ("sliding_window(9)", []),
                ("summary(9)", []),
            )
        ),
    ],
)
def test_settings_of_what_is_off_are_told(text: str, fields: list[str]):
    assert found(text, "L024") == fields


def test_scripts_answer_agents_that_are_there():
    text = """\
type: router
systemPrompt: a
model:
  provider: scripted
  script:
    replies: {classifier: [x], x: [y], desk: [z]}
    rules:
      - {agent: x, match: a, reply: b}
      - {agent: x, reply: b}
      - {agent: x, reply: c}
      - {agent: default, reply: d}
      - {agent: y, reply: e}
      - {reply: f}
      - {match: g, reply: h}
    recording: r.json
router:
  classifier: {prompt: p}
  routes: {x: &x {systemPrompt: s}}
  default: *x
"""
    assert found(text, "L025") == [
        "model.script.replies.desk",
        "model.script.rules[2]",
        "model.script.rules[4].agent",
        "model.script.rules[6]",
        "model.script.recording",
    ]


def test_scripts_answer_those_that_summarise():
    text = """\
type: parallel
systemPrompt: a
model:
  provider: scripted
  conversation: summary(3)
  script:
    replies: {one: [x], one.summary: [y], merge.summary: [z], two.summary: [z]}
parallel:
  agents:
    - {name: one, systemPrompt: s}
    - {name: two, systemPrompt: s, model: {conversation: true}}
  merge: custom
  mergePrompt: m
"""
    assert found(text, "L025") == ['model.script.replies["two.summary"]']


def test_a_knowledge_base_that_is_off_is_none():
    assert found(f"{SIMPLE}rag: {{enabled: false}}\n", "L016") == []
    assert found(f"{SIMPLE}rag: {{source: docs}}\n", "L016") == ["rag"]


# --- edits ---------------------------------------------------------------------------------------


def test_edits_are_made_from_left_to_right_and_never_twice_in_one_place():
    edits = [Edit(4, 4, "!"), Edit(0, 1, "A"), Edit(0, 2, "?"), Edit(4, 4, "!")]
    assert apply_edits("abcd", edits) == "Abcd!"
