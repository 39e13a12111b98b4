"""Messages of conversations with native tool calls: calls and results in pairs, whatever came."""

from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.protocol import Message, Reply, ToolCall, ToolSpec
from lambdagent.effects.turns import heard, paired, said
from lambdagent.effects.wire_names import WireNames, sent_arguments
from lambdagent.ir.data import Record, freeze
from lambdagent.machine.values import list_value, pair, tagged

CALLS = (ToolCall("c1", "search", Record(q="a")), ToolCall("c2", "look", Record()))


def results(*rows: tuple[str, object]):
    return tagged(("results",), 0, list_value([pair(name, value) for name, value in rows]))


def test_a_reply_is_said_with_its_calls():
    record = Reply("Let me see.", "tool_calls", CALLS).to_data()
    assert said(tagged(("reply",), 0, record)) == Message("assistant", "Let me see.", CALLS)
    assert said("plain") == Message("assistant", "plain")
    assert said(tagged(("reply",), 0, 7)) == Message("assistant", "7")


def test_results_are_heard_one_by_one_and_rounds_in_their_order():
    answered = results(("search", "found"), ("look", freeze({"n": 1})))
    tools = [Message("tool", "found", name="search"), Message("tool", '{"n": 1}', name="look")]
    assert heard(answered) == tools
    reply = tagged(("reply",), 0, Reply("", None, CALLS).to_data())
    rounds = list_value([pair("second", results(("look", "b"))), pair(reply, answered)])
    assert heard(tagged(("rounds",), 0, pair("What?", rounds))) == [
        Message("user", "What?"),
        Message("assistant", "", CALLS),
        *tools,
        Message("assistant", "second"),
        Message("tool", "b", name="look"),
    ]


def test_a_call_that_nobody_answered_is_told_so():
    ended = (ToolCall("c9", "terminate", Record(answer="b")),)
    messages = paired(
        [
            Message("user", "What?"),
            Message("assistant", "", CALLS),
            Message("tool", "found", name="search"),
            Message("user", "And?"),
            Message("assistant", "", ended),
            Message("user", "Thanks"),
            Message("assistant", "", CALLS),
        ]
    )
    assert [(m.role, m.tool_call_id, m.text) for m in messages] == [
        ("user", None, "What?"),
        ("assistant", None, ""),
        ("tool", "c1", "found"),
        ("tool", "c2", "[NOT_RUN] at most 32 calls of one reply are made"),
        ("user", None, "And?"),
        ("assistant", None, ""),
        ("tool", "c9", "(the final answer was given)"),
        ("user", None, "Thanks"),
        ("assistant", None, ""),
        ("tool", "call_4", "(the loop ended before this was seen)"),
        ("tool", "call_5", "(the loop ended before this was seen)"),
    ]


def test_a_result_without_a_call_is_what_the_user_says():
    messages = paired([Message("assistant", '{"tool": …}'), Message("tool", "a", name="look")])
    assert messages[1] == Message("user", "Observation from look: a")


IDS = st.sampled_from(["", "a", "b", "call_1", "call_2"])
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool"]),
        st.just("x"),
        name=st.just("t"),
    )
    | st.lists(IDS, min_size=1, max_size=3).map(
        lambda ids: Message("assistant", "", tuple(ToolCall(key, "t", Record()) for key in ids))
    ),
    max_size=8,
)


@given(MESSAGES)
def test_calls_and_results_come_in_pairs_and_each_id_once(messages: list[Message]):
    found = paired(messages)
    keys = [call.id for message in found for call in message.tool_calls]
    assert all(keys)
    assert len(keys) == len(set(keys))
    assert [m.tool_call_id for m in found if m.role == "tool"] == keys
    for number, message in enumerate(found):
        after = found[number + 1 : number + 1 + len(message.tool_calls)]
        assert [m.tool_call_id for m in after] == [call.id for call in message.tool_calls]
    assert paired(found) == found
    assert sum(m.role == "user" for m in found) >= sum(m.role == "user" for m in messages)


def test_halves_of_characters_that_models_and_tools_wrote_are_replaced():
    wire = WireNames(())
    call = ToolCall("c", "look", Record(q="caf\ud83d", n=1))
    sent = wire.message(Message("assistant", "so\ud83d", (call,)))
    assert sent.text == "so\ufffd"
    assert sent_arguments(sent.tool_calls[0]) == {"q": "caf\ufffd", "n": 1}
    assert sent_arguments(ToolCall("c", "look", '{"q": 1}')) == {"q": 1}
    assert sent_arguments(ToolCall("c", "look", '{"q": ')) == {"input": '{"q": '}
    endless = ToolCall("c", "look", Record(q=(float("inf"),)))
    assert sent_arguments(endless) == {"input": '{"q": [Infinity]}'}
    assert wire.message(Message("tool", "\udc80", (), "c")).text == "\ufffd"
    assert wire.message(Message("user", "\ud83d")).text == "\ud83d"


def test_thoughts_are_only_for_those_who_want_them():
    said, reply = Message("assistant", "a", reasoning="so\ud83d"), Reply("a", reasoning="why")
    wanting, others = WireNames((), reasoning=True), WireNames(())
    assert wanting.message(said).reasoning == "so\ufffd"
    assert wanting.reply(reply) == reply
    assert others.message(said).reasoning is None
    assert others.reply(reply) == Reply("a")


# --- names ---------------------------------------------------------------------------------------


def spec(name: str) -> ToolSpec:
    return ToolSpec(name, "", Record(type="object"))


def test_names_that_services_do_not_take_are_replaced_on_the_wire():
    names = ["search", "web.search", "web search", "搜索", "x" * 80, "web_search"]
    wire = WireNames(map(spec, names))
    sent = [wire.spec(spec(name)).name for name in names]
    assert sent[:4] == ["search", "web_search_2", "web_search_3", "tool"]
    assert (len(sent[4]), sent[5]) == (60, "web_search")
    assert len(set(sent)) == len(sent)
    reply = Reply("", None, tuple(ToolCall("c", name, Record()) for name in sent))
    assert [call.name for call in wire.reply(reply).tool_calls] == names
    calls = (ToolCall("c", "搜索", Record()), ToolCall("d", "no such tool", Record()))
    out = wire.message(Message("assistant", "", calls)).tool_calls
    assert [call.name for call in out] == ["tool", "no_such_tool"]
