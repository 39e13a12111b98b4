"""Trees as configurations: values typed by their field, and every finding told at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import CompileError, SchemaError, SemanticError
from lambdagent.frontend.check import check_config
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.report import nearest
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir.data import thaw
from lambdagent.source import Source

HEAD = "type: simple\nsystemPrompt: Hi.\n"
REACT = "type: react\nsystemPrompt: Hi.\n"


def check(text, **environment):
    source = Source("f.yml", text)
    return check_config(parse_yaml(source), source, environment)


def data(text, **environment):
    return thaw(check(text, **environment).data)


def refused(text, **environment):
    with pytest.raises(CompileError) as caught:
        check(text, **environment)
    return caught.value


def told(text, **environment):
    """Return code, field and line of each finding."""
    found = refused(text, **environment).diagnostics
    return [(each.code, each.field, each.where and each.where.line) for each in found]


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "written", "expected"),
    [
        ("temperature", "1e-1", 0.1),
        ("temperature", "2", 2.0),
        ("temperature", ".5", 0.5),
        ("temperature", "-0.0", 0.0),
        ("topP", "!!float 1", 1.0),
        ("maxTokens", "010", 10),
        ("maxTokens", "+7", 7),
        ("maxTokens", "!!int '7'", 7),
        ("maxTokens", "9223372036854775807", 2**63 - 1),
        ("timeout", "0.5", 0.5),
        ("conversation", "no", False),
        ("conversation", "On", True),
        ("conversation", "!!bool true", True),
        ("conversation", "full", "full"),
        ("conversation", "sliding_window(20)", "sliding_window(20)"),
        ("conversation", '"token_budget(8000)"', "token_budget(8000)"),
        ("conversation", "summary(1)", "summary(1)"),
        ("name", "no", "no"),
        ("name", "010", "010"),
        ("name", "2024-01-01", "2024-01-01"),
        ("name", "'null'", "null"),
        ("name", "!!str 5", "5"),
        ("name", "$HOME ${HOME}", "$HOME ${HOME}"),
        ("stopSequences", "[yes, 1, '']", ["yes", "1", ""]),
        ("stopSequences", "", []),
    ],
)
def test_a_value_is_read_as_its_field_wants(field, written, expected):
    value = data(f"{HEAD}model:\n  {field}: {written}\n")["model"][field]
    assert value == expected
    assert type(value) is type(expected)


REMEMBERED = "true, false, full, sliding_window(n), token_budget(n) or summary(n)"


@pytest.mark.parametrize(
    ("field", "written", "expected", "actual"),
    [
        ("temperature", "2.1", "a number from 0 to 2", "2.1"),
        ("temperature", "-0.1", "a number from 0 to 2", "-0.1"),
        ("temperature", ".nan", "a number from 0 to 2", ".nan"),
        ("temperature", "nan", "a number from 0 to 2", "nan"),
        ("temperature", "[1]", "a number from 0 to 2", "a list"),
        ("temperature", "", "a number from 0 to 2", "nothing"),
        ("topP", "1.01", "a number from 0 to 1", "1.01"),
        ("timeout", "0", "a number above 0", "0"),
        ("timeout", "1e999", "a number above 0", "1e999"),
        ("timeout", ".inf", "a number above 0", ".inf"),
        ("maxTokens", "true", "a whole number from 1", "true"),
        ("maxTokens", "1.0", "a whole number from 1", "1.0"),
        ("maxTokens", "1_000", "a whole number from 1", "1_000"),
        ("maxTokens", "0x10", "a whole number from 1", "0x10"),
        ("maxTokens", "0", "a whole number from 1", "0"),
        ("maxTokens", "'5'", "a whole number from 1", 'the text "5"'),
        ("maxTokens", "٣", "a whole number from 1", "٣"),
        ("conversation", "1", REMEMBERED, "1"),
        ("conversation", "'yes'", "true or false", 'the text "yes"'),
        ("conversation", "y", REMEMBERED, "y"),
        ("conversation", "summary(0)", REMEMBERED, "summary(0)"),
        ("conversation", "sliding_window", REMEMBERED, "sliding_window"),
        ("name", "{a: b}", "text", "a mapping"),
        ("name", "null", "text", "nothing"),
        ("name", "~", "text", "nothing"),
        ("name", "!!int 5", "text", "5"),
        ("stopSequences", "END", "a list", "END"),
        ("stopSequences", "{a: b}", "a list", "a mapping"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_with_both(field, written, expected, actual):
    error = refused(f"{HEAD}model:\n  {field}: {written}\n")
    assert isinstance(error, SchemaError)
    assert (error.field, error.expected, error.actual) == (f"model.{field}", expected, actual)
    assert error.diagnostic.where.line == 4


def test_a_number_over_64_bits_is_refused_with_the_bound():
    error = refused(f"{HEAD}model: {{maxTokens: 9223372036854775808}}")
    assert "to 9223372036854775807" in error.expected


@pytest.mark.parametrize("written", ["'5'", '"5"'])
def test_a_quoted_number_is_told_with_the_quotes(written):
    assert refused(f"{HEAD}model: {{maxTokens: {written}}}").diagnostic.fix == "remove the quotes"


def test_a_wrong_word_is_told_with_the_nearest():
    assert refused("type: chian\nsystemPrompt: a").diagnostic.fix == "write `chain`"


def test_python_numbers_need_no_text():
    config = {"type": "simple", "systemPrompt": "a", "model": {"temperature": 1, "maxTokens": 5}}
    model = check_config(tree_of(config), Source("", ""), {}).data["model"]
    assert (model["temperature"], model["maxTokens"]) == (1.0, 5)


@pytest.mark.parametrize("value", [True, "5", 1.0, 2**70, 10**5000, float("nan")], ids=range(6))
def test_python_values_are_no_looser_than_files(value):
    config = {"type": "simple", "systemPrompt": "a", "model": {"maxTokens": value}}
    with pytest.raises(SchemaError) as caught:
        check_config(tree_of(config), Source("", ""), {})
    assert caught.value.field == "model.maxTokens"


@pytest.mark.parametrize(
    "field",
    [
        "model",
        "name",
        "memory: {size",
        "memory: {ttl",
        "memory: {enabled",
        "memory: {scope",
        "guard: {validator",
        "model: {stopSequences",
        "model: {script",
        "model: {script: {replies",
        "model: {script: {rules: [{reply: a, match",
    ],
)
def test_a_value_with_a_bad_tag_is_one_finding(field):
    close = "".join({"{": "}", "[": "]"}[c] for c in reversed(field) if c in "{[")
    assert [code for code, _, _ in told(f"{HEAD}{field}: !x y{close}\n")] == ["S005"]


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ("model: 5", "model"),
        ("model: {script: 5}", "model.script"),
        ("model: {script: {replies: {a: b}}}", "model.script.replies.a"),
        ("model: {script: {replies: b}}", "model.script.replies"),
        ("model: {script: {rules: [{match: [], reply: b}]}}", "model.script.rules[0].match"),
        ("guard: {validator: []}", "guard.validator"),
        ("guard: {validator: x, fallback: []}", "guard.fallback"),
        ("app: {mcp: {custom: {nodes: [a]}}}", "app.mcp.custom.nodes"),
        ("memory: 1", "memory"),
    ],
)
def test_a_value_of_the_wrong_shape_is_told_with_its_path(written, field):
    assert told(f"{HEAD}{written}\n") == [("S104" if told_hint(written) else "S103", field, 3)]


def told_hint(written):
    """Whether there is more to say than what was expected."""
    told_of = refused(f"{HEAD}{written}\n").diagnostic
    return told_of.fix != f"write {told_of.expected}"


# --- variables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("${A}", "one"),
        ("http://${A}/${B}", "http://one/two"),
        ("${C:-three}", "three"),
        ("${A:-three}", "one"),
        ("${EMPTY:-three}", "three"),
        ("${C:-}", ""),
        ("$${A} $A $$", "${A} $A $$"),
    ],
)
def test_variables_stand_in_connections(written, expected):
    text = f"{HEAD}model:\n  baseUrl: '{written}'\n"
    assert data(text, A="one", B="two", EMPTY="")["model"]["baseUrl"] == expected


@pytest.mark.parametrize(("written", "code"), [("${C}", "S106"), ("${", "S104"), ("${1}", "S104")])
def test_a_variable_without_a_value_is_told(written, code):
    found = refused(f"{HEAD}model:\n  baseUrl: 'x{written}'\n", EMPTY="").diagnostic
    assert (found.code, found.field) == (code, "model.baseUrl")


def test_an_empty_variable_counts_as_unset():
    assert told(f"{HEAD}model: {{baseUrl: '${{E}}'}}", E="") == [("S106", "model.baseUrl", 3)]


def test_the_value_of_a_variable_is_never_shown():
    text = f"{HEAD}model:\n  baseUrl: '${{KEY}}${{NONE}}'\n"
    assert "secret" not in str(refused(text, KEY="secret"))


# --- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("system_prompt", "systemPrompt"),
        ("SystemPrompt", "systemPrompt"),
        ("systemPromt", "systemPrompt"),
        ("system-prompts", "systemPrompt"),
        ("tzpe", "type"),
        ("naxme", "name"),
        ("omdel", "model"),
        ("foo", None),
        ("prompt", None),
    ],
)
def test_the_nearest_key_is_at_most_two_slips_away(written, meant):
    assert nearest(written, ["type", "name", "model", "systemPrompt"]) == meant


@pytest.mark.parametrize("nothing", ["", " null", " ~"])
def test_a_prompt_of_nothing_is_none(nothing):
    assert told(f"type: simple\nsystemPrompt:{nothing}\n") == [("L001", "systemPrompt", 2)]
    steps = f"chain:\n  steps:\n    - name: a\n      prompt:{nothing}\n"
    assert told(f"type: chain\nsystemPrompt: a\n{steps}") == [("L001", "chain.steps[0].prompt", 6)]


def test_a_misspelt_required_key_is_one_finding():
    assert told("type: simple\nsystem_prompt: a") == [("S102", "systemPrompt", 2)]


def test_a_key_misspelt_beside_the_right_one_has_its_own_path():
    assert told(f"{HEAD}system_prompt: a") == [("S102", "system_prompt", 3)]


def test_an_unknown_key_is_told_with_the_known_ones():
    why = refused(f"{HEAD}model: {{colour: red}}").diagnostic.why
    assert "provider, name, temperature" in why
    assert why.endswith("script")


def test_keys_of_your_own_are_ignored():
    text = f"{HEAD}x-note: {{a: [1]}}\nmodel: {{x-y: 1, name: gpt-4o}}\n"
    assert "x-note" not in data(text)
    assert "x-y" not in data(text)["model"]


def test_a_route_may_begin_with_x():
    text = "type: router\nsystemPrompt: a\nrouter: {classifier: {prompt: p}, routes: {x-ray: {}}}"
    assert told(text) == [("L001", "router.routes.x-ray.systemPrompt", 3)]


def test_all_findings_of_a_file_are_told_in_file_order():
    text = "type: simple\nmodel: {temperature: 9, foo: 1, foo: 2}\nname: [a]\nmemory: {size: -1}\n"
    assert told(text) == [
        ("L001", "systemPrompt", 1),
        ("S103", "model.temperature", 2),
        ("S102", "model.foo", 2),
        ("S003", "model.foo", 2),
        ("S104", "name", 3),
        ("S103", "memory.size", 4),
    ]


def test_what_an_alias_repeats_is_told_once():
    text = (
        "type: parallel\nsystemPrompt: a\nparallel:\n  agents:\n"
        "    - &a {systemPrompt: b, model: {topP: 3}}\n    - *a\n"
    )
    assert told(text) == [("S103", "parallel.agents[0].model.topP", 5)]


# --- agents --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{}", [("S101", "type", 1), ("L001", "systemPrompt", 1)]),
        ("", [("S105", None, None)]),
        ("hello", [("S105", None, 1)]),
        ("- a", [("S105", None, 1)]),
        ("type: chain\nsystemPrompt: a", [("L006", "chain.steps", 1)]),
        ("type: chain\nsystemPrompt: a\nchain:", [("L006", "chain.steps", 3)]),
        ("type: chain\nsystemPrompt: a\nchain: {steps: []}", [("L006", "chain.steps", 3)]),
        ("type: parallel\nsystemPrompt: a", [("L006", "parallel.agents", 1)]),
        (
            "type: router\nsystemPrompt: a\nrouter: {classifier: {prompt: a}, routes: {}}",
            [("L005", "router.routes", 3)],
        ),
        (f"{REACT}react: {{maxSteps: 0}}", [("L003", "react.maxSteps", 3)]),
        (f"{REACT}react: {{maxSteps: -1}}", [("S103", "react.maxSteps", 3)]),
        (
            f"{HEAD}router: {{classifier: {{prompt: a}}, routes: {{}}}}",
            [("S109", "router", 3), ("L005", "router.routes", 3)],
        ),
        (f"{HEAD}react: {{}}", [("S109", "react", 3)]),
        (f"{HEAD}mcp: {{}}", [("S109", "mcp", 3)]),
        (f"{HEAD}model: {{script: {{}}}}", [("S101", "model.script.replies", 3)]),
        (f"{HEAD}guard: {{retry: 1}}", [("S101", "guard.validator", 3)]),
        (f"{HEAD}guard: {{validator: x, fallback: lst}}", [("S104", "guard.fallback", 3)]),
        (
            "type: chain\nsystemPrompt: a\nchain:\n  steps:\n    - {type: react}\n    - {}\n",
            [("L001", "chain.steps[0].systemPrompt", 5), ("S101", "chain.steps[1].prompt", 6)],
        ),
        (
            (
                "type: parallel\nsystemPrompt: a\nparallel:\n  agents: [{systemPrompt: a}]\n"
                "  merge: custom\n"
            ),
            [("S101", "parallel.mergePrompt", 4)],
        ),
        (
            (
                "type: parallel\nsystemPrompt: a\nparallel:\n  agents: [{systemPrompt: a}]\n"
                "  mergePrompt: b\n"
            ),
            [("S111", "parallel.mergePrompt", 5)],
        ),
        (
            (
                "type: parallel\nsystemPrompt: a\nparallel:\n  agents:\n"
                "    - {systemPrompt: a, runtime: {engine: cek}}\n"
            ),
            [("S110", "parallel.agents[0].runtime", 5)],
        ),
    ],
)
def test_what_an_agent_lacks_or_has_too_much_is_told(text, found):
    assert told(text) == found


def test_an_empty_body_is_a_semantic_error():
    assert refused("type: chain\nsystemPrompt: a\nchain:").rule == "L006"
    assert isinstance(refused("type: chain\nsystemPrompt: a\nchain:"), SemanticError)


def test_nested_agents_are_simple_unless_they_say_otherwise():
    text = "type: parallel\nsystemPrompt: a\nparallel: {agents: [{systemPrompt: b}]}"
    assert data(text)["parallel"]["agents"][0]["type"] == "simple"


@pytest.mark.parametrize("type_", ["chain", "router", "parallel"])
def test_a_nested_agent_of_agents_needs_no_prompt(type_):
    body = {
        "chain": "{steps: [{prompt: p}]}",
        "router": "{classifier: {prompt: p}, routes: {a: {systemPrompt: s}}}",
        "parallel": "{agents: [{systemPrompt: s}]}",
    }[type_]
    text = f"type: chain\nsystemPrompt: a\nchain: {{steps: [{{type: {type_}, {type_}: {body}}}]}}"
    assert "systemPrompt" not in data(text)["chain"]["steps"][0]


def test_defaults_are_filled_in():
    config = data(f"{REACT}guard: {{validator: x}}\nmemory:\nmodel: {{name: gpt-4o}}\n")
    assert config["react"]["maxSteps"] == 10
    assert config["guard"] == {"validator": "x", "retry": 0, "fallback": "error"}
    assert config["memory"]["enabled"] is True
    assert config["model"]["temperature"] == 0.3
    assert "topP" not in config["model"]
    assert "mcp" not in config


def test_models_are_inherited_setting_by_setting():
    text = """\
type: chain
systemPrompt: a
model: {provider: openai, name: gpt-4o, temperature: 0.1}
chain:
  steps:
    - prompt: p
    - {prompt: p, model: {temperature: 0.5}}
    - type: parallel
      model: {maxTokens: 5}
      parallel: {agents: [{systemPrompt: s, model: {name: o3}}]}
    - {type: simple, systemPrompt: s, model: {provider: anthropic}}
"""
    steps = data(text)["chain"]["steps"]
    assert steps[0]["model"]["name"] == "gpt-4o"
    assert (steps[1]["model"]["temperature"], steps[1]["model"]["name"]) == (0.5, "gpt-4o")
    inner = steps[2]["parallel"]["agents"][0]["model"]
    assert (inner["maxTokens"], inner["name"], inner["temperature"]) == (5, "o3", 0.1)
    assert "name" not in steps[3]["model"]
    assert steps[3]["model"]["temperature"] == 0.1


def test_without_a_model_there_is_none():
    assert "model" not in data(HEAD)


# --- expressions and patterns --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "column"), [("len(y) > 1", 34), ("'len(y) > 1'", 35), ("len(x) > z", 39)]
)
def test_a_caret_stands_below_the_fault_of_an_expression(written, column):
    found = refused(f"{HEAD}guard: {{retry: 1, validator: {written}}}\n").diagnostic
    assert (found.code, found.field) == ("S107", "guard.validator")
    assert (found.where.line, found.where.column) == (3, column)


def test_an_expression_over_several_lines_is_pointed_at_as_a_whole():
    found = refused(f"{HEAD}guard:\n  validator: |\n    len(x) >\n    y\n").diagnostic
    assert (found.code, found.where.line) == ("S107", 4)


def test_early_stop_sees_more_than_a_validator():
    assert data(f"{REACT}react: {{earlyStop: turn > 3 and 'x' in observation}}\n")
    assert told(f"{HEAD}guard: {{validator: turn > 3}}")[0][0] == "S107"


def test_a_broken_pattern_is_told():
    text = f"{HEAD}model: {{script: {{rules: [{{match: '(', reply: a}}]}}}}\n"
    assert told(text) == [("S104", "model.script.rules[0].match", 3)]


@pytest.mark.parametrize(
    ("replies", "read"),
    [("[a, 1]", ["a", "1"]), ("{one: [a], two: []}", {"one": ["a"], "two": []})],
)
def test_replies_are_a_list_or_lists_by_agent(replies, read):
    script = data(f"{HEAD}model: {{script: {{replies: {replies}}}}}\n")["model"]["script"]
    assert script == {"replies": read}


# --- places --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("type", (1, 7)),
        ("chain", (3, 1)),
        ("chain.steps[1].prompt", (6, 15)),
        (("chain", "steps", 1), (6, 7)),
        ("chain.steps[1].model.name", (6, 7)),
        ("memory.size", (1, 1)),
    ],
)
def test_a_path_is_found_in_the_file(path, place):
    text = "type: chain\nsystemPrompt: s\nchain:\n  steps:\n    - {prompt: a}\n    - prompt: b\n"
    span = check(text).span(path)
    assert (span.line, span.column) == place


def test_a_configuration_from_python_has_no_places():
    tree = tree_of({"type": "simple", "systemPrompt": "a"})
    assert check_config(tree, Source("", ""), {}).span("type") is None


@given(
    st.permutations(["type: simple", "systemPrompt: a", "name: b", "memory: {size: 3, ttl: 2}"])
)
def test_the_order_of_keys_does_not_matter(lines):
    expected = check("type: simple\nsystemPrompt: a\nname: b\nmemory: {ttl: 2, size: 3}").data
    assert check("\n".join(lines)).data == expected
