"""Replies with tool calls of the provider's own: each is made, or answered with the reason."""

import json
from typing import Any

import pytest

from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.labels import MOST_CALLS
from lambdagent.machine.host import HOSTS
from lambdagent.machine.state import Value
from lambdagent.machine.text import newest_text, text_of_value
from lambdagent.machine.values import list_items, list_value, pair, parts, project, tagged

SCHEMA = freeze(
    {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["q"],
        "additionalProperties": False,
    }
)
STATIC = Record(several=True, tools=("search", "look"), parameters=Record(search=SCHEMA))
ACTION = HOSTS["action"](STATIC)


def reply(*calls: tuple[str, Any], text: str = "", finish: str = "tool_calls") -> Value:
    made = [
        {"id": f"c{n}", "name": name, "arguments": args} for n, (name, args) in enumerate(calls)
    ]
    record = freeze({"text": text, "finish_reason": finish, "tool_calls": made})
    return tagged(("reply",), 0, record)


def decoded(value: Value) -> tuple[str, Any]:
    """Return the label of a round, and its payload; calls as (name, what, payload)."""
    _, labels, index, payload = ACTION(value)
    if labels[index] != "calls":
        return labels[index], payload
    calls = []
    for name, call in map(parts, list_items(payload)):
        calls.append((name, call[1][call[2]], project(call[3])))
    return "calls", calls


def test_each_call_is_made_in_order_duplicates_too():
    kind, calls = decoded(
        reply(("search", {"q": "a"}), ("look", {"input": "b"}), ("search", {"q": "a"}))
    )
    assert kind == "calls"
    assert calls == [
        ("search", "call search", Record(q="a")),
        ("look", "call look", "b"),
        ("search", "call search", Record(q="a")),
    ]


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ({"input": "b"}, "b"),
        ({"input": {"a": [1]}}, Record(a=(1,))),
        ({"other": 1}, Record(other=1)),
        ({}, Record()),
        (None, Record()),
        ("", Record()),
        (" \n", Record()),
        ("{}", Record()),
        ('"{\\"input\\": \\"b\\"}"', "b"),
        ('{"input": "b",}', "b"),
        ('{"input": "caf\\ud83d"}', "caf\ufffd"),
    ],
)
def test_a_tool_of_which_nothing_is_known_gets_its_only_argument(arguments: Any, passed: Data):
    ((_, what, payload),) = decoded(reply(("look", arguments)))[1]
    assert (what, payload) == ("call look", passed)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nowhere", {}, "there is no tool `nowhere`"),
        ("search", {"q": 1}, "the arguments of `search` do not fit: `q` must be a string, not 1"),
        ("search", {}, "`q` is missing"),
        ("search", {"q": "a", "m": 1}, "there is no `m`"),
        ("search", '{"q": "a', "the arguments of `search` are no JSON object"),
        ("search", "a", "the arguments of `search` are no JSON object"),
        ("search", '{"q": "a"} {"q": "b"}', "the arguments of `search` are no JSON object"),
        ("look", {"input": [1, float("inf")]}, "the arguments of `look` are no JSON object"),
        ("look", '{"input": 1e999}', "the arguments of `look` are no JSON object"),
        ("look", '{"input": NaN}', "the arguments of `look` are no JSON object"),
        ("look", '{"a":' + "[" * 100_000, "the arguments of `look` are no JSON object"),
        ("x" * 100_000, {}, f"there is no tool `{'x' * 80}`;"),
        ("terminate", '{"answer": "a', "the arguments of `terminate` are no JSON object"),
    ],
)
def test_a_call_that_cannot_be_made_is_answered_with_the_reason_and_the_tools(
    name, arguments, said
):
    ((shown, what, payload), other) = decoded(reply((name, arguments), ("look", {"input": "b"})))[
        1
    ]
    assert (shown, what) == (name, "invalid")
    assert said in payload
    assert "the tools are: search, look, terminate" in payload
    assert other == ("look", "call look", "b")


def test_names_differ_in_case_and_hyphens_only():
    ((name, what, _),) = decoded(reply(("Search", {"q": "a"})))[1]
    assert (name, what) == ("search", "call search")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_the_last_call_of_a_reply_that_was_cut_off_is_not_made(finish: str):
    value = reply(("search", {"q": "a"}), ("search", {"q": "half a tex"}), finish=finish)
    first, second = decoded(value)[1]
    assert first == ("search", "call search", Record(q="a"))
    assert second[1] == "invalid"
    assert "cut off by the token limit" in second[2]


@pytest.mark.parametrize(
    ("arguments", "text", "answer"),
    [
        ({"answer": "42"}, "", "42"),
        ({"answer": {"n": 1}}, "", '{"n": 1}'),
        ({}, "So it is 42.", "So it is 42."),
        ("42", "", "42"),
        ("It is {42}.", "", "It is {42}."),
        ('{"answer": "one\ntwo",}', "", "one\ntwo"),
        ("", "So it is 42.", "So it is 42."),
        (None, "", ""),
    ],
)
def test_terminate_alone_ends_with_its_answer(arguments: Any, text: str, answer: str):
    assert decoded(reply(("terminate", arguments), text=text)) == ("terminate", answer)


def test_terminate_beside_other_calls_has_to_wait_for_their_results():
    first, second = decoded(reply(("look", {"input": "a"}), ("terminate", {"answer": "b"})))[1]
    assert first == ("look", "call look", "a")
    assert second[:2] == ("terminate", "invalid")
    assert "must be the only call" in second[2]


def test_more_calls_than_a_reply_may_have_are_left():
    calls = [("look", {"input": str(n)}) for n in range(MOST_CALLS + 3)]
    assert len(decoded(reply(*calls))[1]) == MOST_CALLS


def test_more_calls_by_text_than_a_reply_may_have_are_told():
    calls = [f'{{"tool": "look", "args": "{n}"}}' for n in range(MOST_CALLS + 2)]
    assert len(decoded("\n".join(calls[:MOST_CALLS]))[1]) == MOST_CALLS
    *made, told = decoded("\n".join([*calls, '{"tool": "search", "args": {"q": "a"}}']))[1]
    assert [each[2] for each in made] == [str(n) for n in range(MOST_CALLS - 1)]
    assert told[:2] == ("tool call", "invalid")
    said = "the last 4 calls of the reply, of `look`, of `search`, were not made"
    assert told[2].startswith(said)


def test_a_list_of_calls_in_one_object_is_several_calls():
    calls = [{"function": {"name": "look", "arguments": json.dumps(n)}} for n in ("a", "b")]
    made = [("look", "call look", '"a"'), ("look", "call look", '"b"')]
    assert decoded(json.dumps({"tool_calls": calls})) == ("calls", made)


PERSON = {"type": "object", "properties": {"name": {}, "args": {"type": "integer"}}}


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize(
    ("text", "form", "label"),
    [
        ('{"name": "Ann", "args": 1}', PERSON, "answer"),
        ('Here: {"name": "Ann", "args": 1}', PERSON, "answer"),
        ('{"name": "Ann", "args": "x"}', PERSON, "invalid"),
        ('{"tool": "nowhere", "args": 1}', PERSON, "invalid"),
        ('{"tool": "nowhere", "args": {}}', {"type": "object"}, "invalid"),
        ('{"name": "search", "args": {"q": "a"}}', {"type": "object"}, "call search"),
        ('{"tool": "search", "args": {"q": 1}}', {"type": "object"}, "invalid"),
        ('{"tool": "terminate", "args": {"name": "Ann"}}', PERSON, '{"name": "Ann"}'),
        ('{"tool": "terminate", "args": {"answer": {"args": 1}}}', PERSON, '{"args": 1}'),
        ('{"tool": "terminate", "args": "yes"}', {"enum": ["yes"]}, '"yes"'),
        ('{"tool": "terminate", "args": "\\"yes\\""}', {"enum": ["yes"]}, '"yes"'),
        ('{"tool": "terminate", "args": {"answer": "no"}}', {"enum": ["yes"]}, "no"),
    ],
)
def test_json_of_the_form_of_answers_is_an_answer(
    text: str, form: dict[str, Any], label: str, several: bool
):
    static = Record(STATIC, schema=freeze(form))
    found = HOSTS["action"](static if several else Record(static, several=False))(text)
    _, labels, index, payload = found
    if labels[index] == "calls":
        ((_, call),) = map(parts, list_items(payload))
        _, labels, index, payload = call
    assert label == (payload if labels[index] == "terminate" else labels[index])


def test_a_text_is_an_answer_or_a_call_by_text():
    assert decoded(reply(text="It is 42.")) == ("answer", "It is 42.")
    assert decoded("It is 42.") == ("answer", "It is 42.")
    written = '{"tool": "search", "args": {"q": "a"}}'
    assert decoded(reply(text=written)) == ("calls", [("search", "call search", Record(q="a"))])
    ended = '{"tool": "terminate", "args": "the end"}'
    assert decoded(reply(text=ended)) == ("terminate", "the end")
    ((name, what, _),) = decoded(reply(text='{"tool": "nowhere", "args": 1}'))[1]
    assert (name, what) == ("tool call", "invalid")


def test_several_calls_by_text_are_made_in_order():
    first, second = '{"tool": "search", "args": {"q": "a"}}', '{"tool": "look", "args": "b"}'
    made = [("search", "call search", Record(q="a")), ("look", "call look", "b")]
    assert decoded(f"Both: {first}\n{second}\nThat is all.") == ("calls", made)
    assert decoded(f"<think>{second}</think>{first}")[1] == made[:1]
    kind, calls = decoded(f'{first}\n{{"tool": "terminate", "args": "early"}}')
    assert (kind, calls[0]) == ("calls", made[0])
    assert "must be the only call" in calls[1][2]


def test_by_text_nothing_after_a_broken_call_is_made():
    text = '{"tool": "look", "args": "a"} {"tool": "look", "args": {b} {"tool": "look"}'
    first, broken = decoded(text)[1]
    assert first == ("look", "call look", "a")
    assert broken[:2] == ("tool call", "invalid")


def test_an_unknown_tool_among_several_is_told_and_the_others_are_called():
    text = '{"tool": "nowhere", "args": "a"}\n{"tool": "look", "args": "b"}'
    unknown, look = decoded(text)[1]
    assert unknown[:2] == ("tool call", "invalid")
    assert "there is no tool `nowhere`" in unknown[2]
    assert look == ("look", "call look", "b")


# --- what the next round sees --------------------------------------------------------------------

ANSWERS = list_value([pair("search", "found"), pair("look", Record(n=1))])
ASKED = reply(("search", {"q": "a"}), ("look", {"input": "b"}), text="Let me see.")


def next_of(view: Value, **static: bool) -> Value:
    host = HOSTS["next"](
        Record({"several": True, "conversation": True, "observation": True, **static})
    )
    return host(pair(view, pair(ASKED, ANSWERS)))


def test_in_a_conversation_the_next_round_sees_the_results():
    seen = next_of("What?")
    assert (
        text_of_value(seen) == 'Observation from search: found\n\nObservation from look: {"n": 1}'
    )
    hidden = text_of_value(next_of("What?", observation=False))
    assert "found" not in hidden
    assert hidden.count("(the result is not shown)") == 2


def test_without_one_it_sees_all_rounds():
    once = next_of("What?", conversation=False)
    twice = next_of(once, conversation=False)
    assert text_of_value(twice) == (
        "[Previous Context]\nWhat?"
        + "".join(
            f"\n\n[Step {n}]\nThought: Let me see.\n"
            'search({"q": "a"})\nlook({"input": "b"})\n'
            'Observation from search: found\n\nObservation from look: {"n": 1}'
            for n in (1, 2)
        )
    )
    assert newest_text(twice).startswith("Observation from search: found")


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("turn == 3", True),
        ("len(tool_calls) == 2 and tool_calls[1]['name'] == 'look'", True),
        ("tool_calls[0]['id'] == 'c0'", True),
        ("tool_results['look']['n'] == 1", True),
        ("'found' in observation", True),
        ("finish_reason == 'tool_calls' and content == 'Let me see.'", True),
        ("'search' not in tool_results", False),
    ],
)
def test_the_exit_test_sees_all_calls_and_results(expression: str, holds: bool):
    from lambdagent.frontend.expression import parse_expression
    from lambdagent.ir.labels import EARLY_STOP_NAMES

    rows = parse_expression(expression, EARLY_STOP_NAMES)
    stop = HOSTS["stop"](Record(several=True, expression=rows, text=expression))
    found = stop(pair(ASKED, pair(ANSWERS, 2)))
    assert (found if isinstance(found, bool) else found.value) is holds
