import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.machine.toolcall import Answer, Call, Invalid, _caller, extract_call
from tests.cases import load_cases

TOOLS = ["search", "web_search", "terminate"]


@pytest.mark.parametrize("case", load_cases("toolcall"), ids=lambda case: case["id"])
def test_a_shared_case_gives_its_result(case: dict[str, Any]):
    found = extract_call(case["text"], case["tools"], case.get("finish_reason"))
    expected = case["expect"]
    if expected is None:
        assert isinstance(found, Answer)
    elif "error" in expected:
        assert isinstance(found, Invalid)
        assert found.reason == expected["error"]
        assert all(tool in found.message for tool in case["tools"])
    else:
        assert isinstance(found, Call)
        assert (found.tool, thaw(found.args)) == (expected["tool"], expected["args"])


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('{"tool": "search", "args": {"q": 1}}', {"q": 1}),
        ('{"name": "search", "arguments": {"q": 1}}', {"q": 1}),
        ('{"name": "search", "arguments": "{\\"q\\": 1}"}', {"q": 1}),
        ('{"action": "search", "action_input": {"q": 1}}', {"q": 1}),
        ('{"tool_name": "search", "parameters": {"q": 1}}', {"q": 1}),
        ('{"function": {"name": "search", "arguments": "{\\"q\\": 1}"}}', {"q": 1}),
        ('{"type": "function", "function": {"name": "search", "arguments": {}}}', {}),
        ('{"tool_calls": [{"function": {"name": "search", "arguments": {"q": 1}}}]}', {"q": 1}),
        ('[{"name": "search", "arguments": {"q": 1}}]', {"q": 1}),
        ('<tool_call>\n{"name": "search", "arguments": {"q": 1}}\n</tool_call>', {"q": 1}),
        ('{"Tool": "SEARCH", "Args": {"q": 1}}', {"q": 1}),
        ('{"thought": "hm", "tool": "search", "args": null}', {}),
        ('{"tool": "search"}', {}),
        ('{"tool": "search", "args": "plain text"}', "plain text"),
        (
            "{'tool': 'search', 'args': {'a': True, 'b': None, 'c': [1, 2,],},}",
            {"a": True, "b": None, "c": [1, 2]},
        ),
        ("{'tool': 'search', 'args': {'q': 'it\\'s'}}", {"q": "it's"}),
        ('{"tool": "search", "args": {"q": "\\d+",}}', {"q": "\\d+"}),
        ('{"tool": "search", "args": {"q": "\\ud83d\\ude00 \\ud800"}}', {"q": "😀 \ufffd"}),
        ('{"tool": "search", "args": {"q": "<think>x</think>"}}', {"q": "<think>x</think>"}),
        ('a {b} {"c": 1} {"tool": "search", "args": {"q": 1}}', {"q": 1}),
        ("<tool>search</tool>", {}),
        ('<tool>search</tool>\n<args>{"q": 1}</args>', {"q": 1}),
        ("<tool>search</tool><args>a &lt; b &amp;&amp; c</args>", "a < b && c"),
        ("Action: search\nAction Input: tides", "tides"),
        ("**Action:** `search`\n**Action Input:** tides", "tides"),
        ('Action: search\nAction Input: "tides"\nObservation: none', "tides"),
        ('Action: search\nAction Input:\n```json\n{"q": 1}\n```', {"q": 1}),
        ('Action: search\nAction Input: {"q": "a\nThought: b"}', {"q": "a\nThought: b"}),
        (
            'Action: search\nAction Input: {"name": "x", "arguments": {}}',
            {"name": "x", "arguments": {}},
        ),
        ("Action: search", {}),
        ("Action: search[tides]", "tides"),
        ('Action: search(q="tides")', {"q": "tides"}),
        ("I will look.\nsearch(q='tides', n=2)", {"q": "tides", "n": 2}),
        ('search("tides")', "tides"),
        ("`search(tides in Porto)`", "tides in Porto"),
        ('search({"q": 1})', {"q": 1}),
        ("search()", {}),
        ('draft {"tool": "web_search", "args": {}}</think>{"tool": "search", "args": {}}', {}),
        ('<thinking>terminate\n</thinking>\nsearch("x")', "x"),
    ],
)
def test_a_call_is_found_in_each_of_its_shapes(text: str, args: Any):
    assert extract_call(text, TOOLS) == Call("search", freeze(args))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I could search the web.",
        "The tool `search` is not needed.",
        '{"name": "search", "population": 3}',
        '{"name": "Ana Lima", "arguments": ["a"]}',
        '{"tool": "hammer", "price": 5}',
        '{"action": "jump", "height": 2}',
        "<tool>hammer</tool>",
        "Action: none",
        "Action: I will think about it",
        "print(search)",
        "We terminate the contract.",
        "{not json}",
        "[1, 2, 3]",
        "```python\nresult = search(x)\n```",
    ],
)
def test_a_text_without_the_shape_of_a_call_is_an_answer(text: str):
    assert extract_call(text, TOOLS) == Answer(text)


def test_reasoning_is_no_part_of_the_answer():
    assert extract_call("<think>a\n</think>\nForty-two.", TOOLS) == Answer("Forty-two.")


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason"),
    [
        ('{"tool": "searhc", "args": {}}', None, "unknown_tool"),
        ("<tool>hammer</tool><args>x</args>", None, "unknown_tool"),
        ("Action: hammer\nAction Input: x", None, "unknown_tool"),
        ("Action: hammer", None, "unknown_tool"),
        ('{"tool": "search", "args": {"q": "ti', None, "truncated"),
        ('{"name": "search", "arguments": {"q": ', None, "truncated"),
        ('{"query": "ti', "length", "truncated"),
        ("Let me see. {", "length", "truncated"),
        ("```json\n", "length", "truncated"),
        ("<tool>sea", "length", "truncated"),
        ("<tool>search</tool>", "length", "truncated"),
        ("<tool>search</tool><args>ti", None, "truncated"),
        ("<tool>search</tool><args><![CDATA[ti</args>", None, "truncated"),
        ("Action: search", "length", "truncated"),
        ("Action: search\nAction Input: ti", "length", "truncated"),
        ('Action: search\nAction Input: {"q": "ti', None, "truncated"),
        ("<think>so", "length", "truncated"),
        ("<think>so", None, "malformed"),
        ('{"tool": "search", "args": {"q" 1}}', None, "malformed"),
        ('{"tool": "search", "args": {"tool": "web_search", "args": {}}', None, "truncated"),
        (
            '{"tool": "search", "args": {"q" 1, "x": {"tool": "search", "args": 1}}}',
            None,
            "malformed",
        ),
        ('{"tool": "search" "args": 1} {"tool": "search", "args": 1}', None, "malformed"),
        ('{"tool": "search", "query": "x"}', None, "malformed"),
        ('{"tool": "search", "args": "{\\"q\\": "}', None, "malformed"),
        ('{"tool": "search", "args": {"q": 1e999}}', None, "malformed"),
        ('{"tool": "search", "args": {"q": -Infinity}}', None, "malformed"),
        ('Action: search\nAction Input: {"q" 1}', None, "malformed"),
        ("search({1, 2})", None, None),
    ],
)
def test_a_call_that_must_not_run_says_why(
    text: str, finish_reason: str | None, reason: str | None
):
    found = extract_call(text, TOOLS, finish_reason)
    if reason is None:
        assert not isinstance(found, Answer)
        return
    assert isinstance(found, Invalid)
    assert found.reason == reason
    assert "search, web_search, terminate" in found.message


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"tool": "terminate", "args": "It is 42."}', "It is 42."),
        ('{"tool": "terminate", "args": {"answer": "42"}}', "42"),
        ('{"tool": "terminate", "args": {"whatever": "42"}}', "42"),
        ('{"tool": "terminate", "answer": "42"}', "42"),
        ('{"tool": "terminate", "args": {"a": 1, "b": 2}}', '{"a": 1, "b": 2}'),
        ('{"tool": "terminate", "args": 42}', "42"),
        ('{"tool": "terminate"}', ""),
        ("<tool>terminate</tool><args>42</args>", "42"),
        ("Action: terminate\nAction Input: 42", "42"),
        ("It is 42.\nAction: terminate", "It is 42."),
        ('terminate("42")', "42"),
        ("It is 42.\nterminate", "It is 42."),
        ("It is 42.\n**TERMINATE**\n", "It is 42."),
        ("terminate", ""),
    ],
)
def test_the_arguments_of_terminate_are_the_final_answer(text: str, answer: str):
    assert extract_call(text, TOOLS) == Call("terminate", answer)


def test_a_final_answer_in_the_form_of_an_action_is_an_answer():
    text = '{"action": "Final Answer", "action_input": "42"}'
    assert extract_call(text, TOOLS) == Answer("42")
    assert extract_call("Action: Final Answer\nAction Input: 42", TOOLS) == Answer("42")


def test_terminate_means_nothing_without_the_tool():
    assert extract_call("terminate", ["search"]) == Answer("terminate")


def test_json_goes_before_xml_and_xml_before_action_lines():
    xml = "<tool>search</tool><args>xml</args>\n"
    lines = "Action: search\nAction Input: lines\n"
    assert extract_call(lines + xml, TOOLS) == Call("search", "xml")
    both = lines + xml + '{"tool": "search", "args": "json"}'
    assert extract_call(both, TOOLS) == Call("search", "json")


def test_an_invented_observation_holds_no_call():
    text = 'Action: search\nAction Input: x\nObservation: {"tool": "web_search", "args": {}}'
    assert extract_call(text, TOOLS) == Call("search", "x")


def test_two_tools_that_differ_in_case_only_must_be_named_exactly():
    tools = ["Search", "search"]
    assert extract_call('{"tool": "search", "args": {}}', tools) == Call("search", Record())
    assert isinstance(extract_call('{"tool": "SEARCH", "args": {}}', tools), Invalid)


LONG = [
    *("{", "<think>", "</think>", "<think></think>", '{"a":', '{"a', '{"tool":"x","args":{', "\n"),
    *('{"tool":"', "<tool>", "<tool>search</tool><args>", "Action:\n", "f(", "search(\n", "{ "),
    *("Action: search\nAction Input:\n", "```json\n", '{"a":{}', '{"a" 1}\n', '{"a":"\\"', "["),
    *('Action Input: {"a":', '{"tool":{"tool":', '{"a":"b" "c":"d","e":', "Observation:\n", " *"),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("finish_reason", [None, "length"])
def test_a_text_of_a_million_characters_takes_linear_time(piece: str, finish_reason: str | None):
    started = time.process_time()
    extract_call(piece * (1_000_000 // len(piece)), TOOLS, finish_reason)
    # The aim is 0.2 s where nothing else runs; a quadratic scan takes minutes.
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "text",
    [
        "Action: search\nAction Input: ```json\na{spaces}b",
        "Action: search\nAction Input: ```json\n{spaces}b",
        'Action: search\nAction Input: {{{spaces}"a": 1}}',
        '{{"tool": "search", "args": "{{{spaces}x"}}',
        "<tool>search</tool>{spaces}<args>{spaces}",
        "search({spaces}) ){spaces})x",
    ],
)
def test_a_run_of_spaces_takes_linear_time(text: str):
    started = time.process_time()
    extract_call(text.format(spaces=" " * 50_000), TOOLS)
    assert time.process_time() - started < 1  # in fact a hundredth


@pytest.mark.parametrize("piece", ["-", "(", "[", "f(", "not ", "a.", "lambda:", '"', "x**", "a,"])
def test_hostile_arguments_of_a_line_call_are_text(piece: str):
    assert isinstance(extract_call(f"search({piece * 2000})", TOOLS), Call)


# fmt: off
pieces = st.sampled_from([
    "{", "}", "[", "]", ":", ",", '"', "'", "\\", "\n", " ", "tool", "args", "search",
    "<tool>", "</tool>", "<args>", "</args>", "<think>", "</think>", "Action:",
    "Action Input:", "(", ")", "Observation:", "terminate", '{"tool": "search", "args": ', "1",
    "null", "\\u", "\\ud800", "```", "<![CDATA[", "]]>", '{"name":', "é", "\x00",
    "Final Answer", "=", "-", "9e999", "NaN",
])
# fmt: on
texts = st.lists(pieces, max_size=30).map("".join)


@given(st.text() | texts, st.sampled_from([None, "stop", "length"]))
def test_no_text_raises(text: str, finish_reason: str | None):
    found = extract_call(text, TOOLS, finish_reason)
    assert isinstance(found, Call | Answer | Invalid)
    if isinstance(found, Call):
        hash(found.args)


inner = st.sampled_from(
    ['{"q": 1}', '{"q": ', "{'q': 1}", ' {"q": NaN}', "{}", "", "\ud83d\ude00", "\ud800"]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | texts | inner
values = st.recursive(
    leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text() | inner, v, max_size=3)
)
names = st.sampled_from(
    [*TOOLS, "SEARCH", " search ", "Web Search", "delete", "no tool!", 1, None]
)
KEYS = ["args", "arguments", "Tool", "name", "function", "tool_calls", "thought"]


@st.composite
def replies(draw: st.DrawFn) -> str:
    """Replies that begin as a call in the form we ask for, and may go on as anything."""
    rest = draw(st.dictionaries(st.sampled_from(KEYS), values, max_size=2) | st.just({"args": 1}))
    if draw(st.booleans()):
        rest = {"args": draw(values)}
    escaped, tight = draw(st.booleans()), draw(st.booleans())
    separators = (",", ":") if tight else None
    call = {"tool": draw(names), **rest}
    text = json.dumps(call, ensure_ascii=escaped, separators=separators)
    if draw(st.integers(0, 3)) == 0:
        text = text.replace('"args"', '"tool"') + draw(st.sampled_from(["", "}", "\n{}"]))
    around = st.just("") | st.sampled_from([" ", "\n\t", "\u3000", "\ufeff", "x", "</think>"])
    return draw(around) + text[: draw(st.sampled_from([None] * 8 + [-1, -2]))] + draw(around)


@given(replies(), st.booleans())
def test_a_call_in_the_form_we_ask_for_is_found_as_any_other(text: str, cut: bool):
    caller = _caller(tuple(TOOLS), cut=cut)
    assert repr(caller.whole(text) or caller.search(text)) == repr(caller.search(text))


@pytest.mark.parametrize("args", [None, "tides", {"q": [1, {"a": None}]}, '{"q": 1}', 1.5, []])
def test_a_call_in_the_form_we_ask_for_is_found_without_a_search(args: Any):
    text = json.dumps({"tool": "search", "args": args})
    caller = _caller(tuple(TOOLS), cut=False)
    assert caller.whole(f" {text}\n") == caller.search(text) == extract_call(text, TOOLS)


@pytest.mark.parametrize("args", ['"\\ud83d"', "NaN", "1} {", "[" * 5000, '{"q": 1,}'])
def test_a_call_that_only_looks_like_that_form_is_searched_for(args: str):
    assert _caller(tuple(TOOLS), cut=False).whole(f'{{"tool": "search", "args": {args}}}') is None
