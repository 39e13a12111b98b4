import pytest

from lambdagent.frontend.expression import parse_expression
from lambdagent.ir.data import Record
from lambdagent.machine.host import HOSTS, action_labels
from lambdagent.machine.state import OPAQUE, TAGGED
from lambdagent.machine.text import TRANSCRIPT, text_of_value
from lambdagent.machine.values import Noted, list_value, pair

TOOLS = ("search", "look")
LABELS = action_labels(TOOLS)


def host(kind: str, **static):
    return HOSTS[kind](Record(static))


def predicate(text: str, *names: str):
    rows = parse_expression(text, names)
    return host("predicate", names=names, expression=rows, text=text)


@pytest.mark.parametrize(
    ("value", "passed"), [("long", True), ("a", False), ((OPAQUE, (1, 2, 3)), True)]
)
def test_a_predicate_sees_its_argument(value, passed):
    assert predicate("len(x) > 2", "x")(value) is passed


def test_a_predicate_over_two_names_takes_a_pair():
    assert predicate("x == 'a' and step == 1", "x", "step")(pair("a", 1)) is True


def test_a_predicate_that_fails_is_false_and_says_why():
    found = predicate("x > 1", "x")("text")
    assert isinstance(found, Noted)
    assert found.value is False
    assert found.note


def test_a_predicate_is_a_boolean_whatever_its_expression_gives():
    for text in ("x", "len(x)", "[x]"):
        found = predicate(text, "x")("text")
        value = found.value if isinstance(found, Noted) else found
        assert type(value) is bool


def decoded(reply: object):
    found = host("action", tools=TOOLS)(reply)
    assert found[0] == TAGGED
    assert found[1] == LABELS
    return LABELS[found[2]], found[3]


@pytest.mark.parametrize(
    ("reply", "label", "payload"),
    [
        ('{"tool": "search", "args": "q"}', "call search", "q"),
        ('{"tool": "look", "args": [1]}', "call look", (OPAQUE, (1,))),
        ('{"tool": "terminate", "args": "end"}', "terminate", "end"),
        ("plain", "answer", "plain"),
        ("", "answer", ""),
        (Record(text="plain", finish_reason="stop"), "answer", "plain"),
        (Record(text=None), "answer", ""),
    ],
)
def test_a_reply_is_an_action(reply, label, payload):
    assert decoded(reply) == (label, payload)


def test_native_calls_come_first():
    call = Record(id="1", name="look", arguments=(1,))
    reply = Record(text='{"tool": "search", "args": "q"}', tool_calls=(call,))
    assert decoded(reply) == ("call look", (OPAQUE, (1,)))
    for written, payload in (("here", "here"), ('{"a": 1,}', Record(a=1))):
        told = Record(reply, tool_calls=(Record(call, arguments=written),))
        assert decoded(told) == ("call look", payload)
    assert decoded(Record(reply, tool_calls=(Record(call, name="Look"),)))[0] == "call look"
    unknown = Record(id="1", name="sing", arguments=())
    for calls in ((unknown,), (unknown, call)):
        kind, why = decoded(Record(text="plain", tool_calls=calls))
        assert kind == "invalid"
        assert "there is no tool `sing`; the tools are: search, look" in why
    cut = Record(text="", finish_reason="MAX_TOKENS", tool_calls=(call,))
    assert "cut off" in decoded(cut)[1]
    ended = Record(id="1", name="terminate", arguments=Record())
    assert decoded(Record(text="So: 42.", tool_calls=(ended,))) == ("terminate", "So: 42.")


def test_a_label_is_found_or_is_other():
    label = host("label", labels=("yes", "no"))
    labels = ("yes", "no", "_")
    assert label(" Yes. ") == (TAGGED, labels, 0, " Yes. ")
    assert label("maybe") == (TAGGED, labels, 2, "maybe")
    assert label(7) == (TAGGED, labels, 2, "7")


def test_the_next_view_is_a_transcript_without_a_conversation():
    view = host("next", conversation=False, observation=True)
    reply = Record(text="thought")
    first = view(pair("task", pair(reply, pair("search", "seen"))))
    second = view(pair(first, pair(reply, pair("look", "more"))))
    for made in (first, second):
        assert made[:2] == (TAGGED, TRANSCRIPT)
    assert second[3][2][2] is first[3][2]  # one more cell, and the rest shared
    assert text_of_value(second).count("[Step") == 2


def test_the_next_view_in_a_conversation_is_the_observation():
    view = host("next", conversation=True, observation=True)
    made = view(pair("task", pair(Record(text="t"), pair("search", list_value([1])))))
    assert made == "Observation from search: [1]"


def test_the_next_view_without_observations_is_the_thought():
    view = host("next", conversation=True, observation=False)
    assert view(pair("task", pair(Record(text="t"), pair("search", "seen")))) == "t"


def test_answers_are_joined_as_text():
    assert host("concat")(pair("a", pair(1, (OPAQUE, ("b",))))) == 'a\n\n1\n\n["b"]'
    assert host("concat")("alone") == "alone"


def test_an_exit_test_sees_the_round():
    names = (
        "x",
        "content",
        "turn",
        "observation",
        "tool_calls",
        "tool_results",
        "finish_reason",
        "finish",
    )

    def stop(text):
        run = host("stop", expression=parse_expression(text, names), text=text)
        reply = Record(text="thought", finish_reason="end_turn")
        return run(pair(reply, pair("search", pair("args", pair("seen", 1)))))

    assert stop("turn == 2") == Noted(True, "exit_condition", "exit")
    assert stop("content == 'thought' and x == content").value is True
    assert stop("observation == 'seen' and tool_results['search'] == 'seen'").value is True
    assert stop("tool_calls[0]['arguments'] == 'args'").value is True
    assert stop("finish_reason == 'length'") is False
    assert stop("finish_reason == 'end_turn' and finish == 'stop'").value is True
    assert stop("1 / 0 == 0").value is False


def test_a_loop_that_ends_with_its_last_reply_tells_why():
    assert host("thought")(Record(text="so far")) == Noted("so far", "max_turns", "exit")
