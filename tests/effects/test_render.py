"""Arguments of model sites → messages."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent import ConversationLam, Lam, Model, Session, Term, Tool, build_agent, compile_term
from lambdagent.effects.protocol import Message
from lambdagent.effects.render import message_count, messages_of, tools_of
from lambdagent.errors import EffectError
from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.ir.labels import SUMMARY
from lambdagent.ir.model import model_row
from lambdagent.ir.sites import Site
from lambdagent.ir.tokens import OF_A_MESSAGE, OF_A_REQUEST, estimate_tokens
from lambdagent.machine.state import Value
from lambdagent.machine.store import STORES
from lambdagent.machine.values import pair, tagged
from tests.effects.agents import MODEL, Speaker, call, react, say, speaker

NUMBERED = ("sliding_window", "token_budget", "summary")


def site(**more: object) -> Site:
    static = {"prompt": "Be brief.", "conversation": False, "agent": "a", "model": None, **more}
    return Site("llm:a", "llm", Record(static))


def test_without_conversation_there_is_prompt_and_input():
    assert messages_of(site(), "hello") == (
        Message("system", "Be brief."),
        Message("user", "hello"),
    )


def test_an_empty_prompt_is_no_message():
    assert messages_of(site(prompt=""), "hello") == (Message("user", "hello"),)


@pytest.mark.parametrize(
    ("value", "text"), [(7, "7"), (True, "true"), (None, ""), (Record(a=1), '{"a": 1}')]
)
def test_values_are_asked_as_text(value: object, text: str):
    assert messages_of(site(), value)[-1].text == text


# --- conversations -------------------------------------------------------------------------------


def history_of(turns: list[tuple[Value, Value]], **settings: Any) -> Value:
    """Return what `conv.read` answers after `turns`."""
    static = Record({"cell": "conv:c", "max_tokens": 1000, "recent_turns": 20, **settings})
    cell = None
    for asked, reply in turns:
        _, cell = STORES["conv.append"](static)(cell, pair(asked, reply))
    return STORES["conv.read"](static)(cell, UNIT)[0]


def asked_within(turns: list[tuple[Value, Value]], **settings: Any) -> list[Message]:
    """Return what is sent for "now" after `turns`, the system prompt left out."""
    history = history_of(turns, **settings)
    return list(messages_of(site(conversation=True), pair(history, "now"))[1:])


def tokens_of(messages: Iterable[Message]) -> int:
    return sum(estimate_tokens(message.text) + OF_A_MESSAGE for message in messages)


TURNS = st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=30)


def newest(turns: list[tuple[str, str]], count: int) -> list[Message]:
    """Return the messages of the last `count` turns."""
    chosen = turns[len(turns) - count :]
    roles = ("user", "assistant")
    return [Message(role, text) for turn in chosen for role, text in zip(roles, turn, strict=True)]


@given(TURNS, st.integers(0, 300), st.integers(0, 25))
def test_the_newest_turns_that_fit_are_sent_and_the_rest_counted(turns, max_tokens, recent):
    *before, now = asked_within(turns, max_tokens=max_tokens, recent_turns=recent)
    assert now == Message("user", "now")
    assert tokens_of(before) <= max_tokens
    mark = [before.pop(0).text] if before and before[0].role == "system" else []
    kept = len(before) // 2
    assert before == newest(turns, kept)
    assert kept <= recent
    left = len(turns) - kept
    if mark or max_tokens >= 80:
        assert [text.partition("\n")[0] for text in mark] == (
            [f"[Conversation summary: {left} earlier turns]"] if left else []
        )
    if left and kept < recent:  # one more would leave no room for the mark
        more = tokens_of(newest(turns, kept + 1))
        assert more > max_tokens - max_tokens // 4


def test_all_turns_are_sent_without_a_mark_where_they_just_fit():
    turns = [("question", "answer")] * 10
    size = tokens_of(newest(turns, 10))
    assert len(asked_within(turns, max_tokens=size)) == 21
    assert asked_within(turns, max_tokens=size - 1)[0].role == "system"


def test_a_reply_may_be_a_record_with_or_without_text():
    for reply in (Record(text="hello"), Record(other=1), Record(), None, 7):
        assert asked_within([("q", reply)])[-1].text == "now"
        assert asked_within([("q", reply)], recent_turns=0)[0].role == "system"


def test_a_mark_quotes_the_last_ten_turns():
    mark, _ = asked_within([(f"q{i}", f"a{i}") for i in range(12)], recent_turns=0)
    quoted = "\n".join(f"- q{i} → a{i}" for i in range(2, 12))
    assert mark.text == f"[Conversation summary: 12 earlier turns]\n{quoted}"


def test_a_long_conversation_has_a_short_mark():
    turns = [(f"question {i} " * 50, "answer") for i in range(1000)]
    mark, _ = asked_within(turns, recent_turns=0)
    assert "1000 earlier turns" in mark.text
    assert "question 999" in mark.text
    assert "question 989" not in mark.text
    assert len(mark.text) < 5000


# --- strategies ----------------------------------------------------------------------------------


def test_full_sends_all_turns_however_many():
    turns = [(f"q{i}", "word " * 100) for i in range(100)]
    assert asked_within(turns, strategy="full", max_tokens=10)[:-1] == newest(turns, 100)


@given(TURNS, st.integers(1, 40))
def test_a_sliding_window_sends_at_most_n_messages_and_no_mark(turns, most):
    *before, now = asked_within(turns, strategy=f"sliding_window({most})", max_tokens=10_000)
    assert before == newest(turns, min(len(turns), (most - 1) // 2))
    assert now.text == "now"


def test_a_sliding_window_keeps_to_the_limit_of_tokens():
    turns = [("word " * 20, "word " * 20)] * 10
    sent = asked_within(turns, strategy="sliding_window(9)", max_tokens=100)
    assert len(sent) == 5
    assert tokens_of(sent[:-1]) <= 100


@given(TURNS, st.integers(20, 200))
def test_a_token_budget_holds_for_all_of_the_request(turns, budget):
    history = history_of(turns, strategy=f"token_budget({budget})", max_tokens=0)
    sent = messages_of(site(conversation=True), pair(history, "now"))
    assert tokens_of(sent) + OF_A_REQUEST <= budget
    kept = (len(sent) - 2) // 2
    assert list(sent[1:-1]) == newest(turns, kept)
    if kept < len(turns):
        fixed = tokens_of((sent[0], sent[-1])) + OF_A_REQUEST
        assert fixed + tokens_of(newest(turns, kept + 1)) > budget


def test_a_summary_stands_before_the_turns_that_are_left():
    turns = [(tagged(SUMMARY, 0, ""), "They talked."), ("q", "a")]
    mark, *others = asked_within(turns, strategy="summary(3)")
    assert mark == Message("system", "[Conversation summary: 1 earlier turns]\nThey talked.")
    assert others == [Message("user", "q"), Message("assistant", "a"), Message("user", "now")]


# --- what does not fit ---------------------------------------------------------------------------


def refusal(window: int, turns: list[tuple[Value, Value]], newest: str, **settings: Any) -> str:
    model = model_row(Model(provider="scripted", context_window=window, max_tokens=100))
    asked = site(conversation=True, model=model)
    with pytest.raises(EffectError) as caught:
        messages_of(asked, pair(history_of(turns, **settings), newest))
    assert message_count(asked, pair(history_of(turns, **settings), newest)) == 0
    return str(caught.value)


def test_what_is_new_is_never_cut():
    told = refusal(150, [], "word " * 60)
    assert "E015" in told
    assert "`llm.a`" in told
    assert "50 fit into `model.contextWindow` less `model.maxTokens`" in told
    assert "raise `model.contextWindow`" in told


def test_a_budget_that_the_prompt_exceeds_is_told():
    told = refusal(10_000, [], "word " * 60, strategy="token_budget(20)")
    assert "`conversation: token_budget(20)` lets it have 20" in told
    assert "raise the budget" in told


def test_all_that_was_said_is_sent_or_nothing():
    told = refusal(300, [("word " * 50, "word " * 50)] * 5, "now", strategy="full")
    assert "`conversation: full` sends all that was said" in told
    assert "sliding_window(20)" in told


@given(
    TURNS,
    st.text(max_size=60),
    st.integers(0, 400),
    st.integers(0, 300),
    st.sampled_from(
        [None, "full", *(f"{name}({n})" for name in NUMBERED for n in (1, 4, 50, 200))]
    ),
)
def test_no_request_exceeds_what_the_model_reads(turns, asked, window, max_tokens, strategy):
    settings: dict[str, Any] = {"max_tokens": max_tokens}
    if strategy is not None:
        settings["strategy"] = strategy
    model = model_row(Model(provider="scripted", context_window=window, max_tokens=50))
    where = site(conversation=True, model=model)
    argument = pair(history_of(turns, **settings), asked)
    if not message_count(where, argument):
        with pytest.raises(EffectError, match="E015"):
            messages_of(where, argument)
        return
    sent = messages_of(where, argument)
    assert tokens_of(sent) + OF_A_REQUEST <= window - 50
    assert (sent[0].text, sent[-1].text) == ("Be brief.", asked)
    assert message_count(where, argument) == len(sent)
    if strategy is None or strategy.startswith(("sliding", "summary")):
        assert tokens_of(sent[1:-1]) <= max_tokens


def said(model: Speaker, number: int) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in model.calls[number].messages]


def test_a_conversation_is_sent_oldest_first():
    model = speaker("one", "two", "three")
    config = {"type": "simple", "systemPrompt": "p", "model": MODEL}
    with Session(build_agent(config, providers={"openai": model})) as session:
        for question in "abc":
            session.run(question)
    assert [text for _, text in said(model, 2)] == ["p", "a", "one", "b", "two", "c"]
    assert [role for role, _ in said(model, 2)[1:]] == ["user", "assistant"] * 2 + ["user"]


def test_what_does_not_fit_into_the_history_is_summarised_after_the_prompt():
    model = Speaker(lambda c: "y" * 400)
    settings = {**MODEL, "maxHistoryTokens": 120}
    config = {"type": "simple", "systemPrompt": "p", "model": settings}
    with Session(build_agent(config, providers={"openai": model})) as session:
        for _ in range(30):
            session.run("x" * 400)
    messages = said(model, 29)
    assert messages[0] == ("system", "p")
    assert messages[1][0] == "system"
    assert len(messages) < 60
    assert messages[-1] == ("user", "x" * 400)


def test_the_tools_of_a_react_agent_are_told_with_their_purpose():
    def look(what: str) -> str:
        """Look at it."""
        return what

    model = speaker(say("end"))
    Session(react(model, {"look": look, "wait": Tool("wait", command="true")})).run("x")
    protocol = said(model, 0)[1][1]
    assert "- look: Look at it.\n    what (string)\n- wait" in protocol
    assert '{"tool": "NAME", "args": ARGUMENTS}' in protocol
    assert "terminate" in protocol


def test_a_tool_of_which_a_text_says_nothing_takes_an_object():
    offered = (Record(name="look", description=""),)
    (spec,) = tools_of(Record(tools=offered, native=True))
    assert (spec.name, spec.parameters) == ("look", Record(type="object"))


def test_without_tools_no_protocol_is_told():
    model = speaker("plain")
    Session(react(model)).run("x")
    assert not any("NAME" in text for _, text in said(model, 0))


def test_without_conversation_a_react_agent_sees_its_transcript():
    model = speaker(call("look", "there"), say("end"))
    config = {
        "type": "react",
        "systemPrompt": "p",
        "model": {**MODEL, "conversation": False},
        "mcp": {"localTools": ["terminate"]},
    }
    agent = build_agent(config, providers={"openai": model}, tools={"look": lambda _: "a cat"})
    Session(agent).run("What is there?")
    assert said(model, 1)[-1][1] == (
        "[Previous Context]\nWhat is there?\n\n"
        f"[Step 1]\nThought: {call('look', 'there')}\nAction: look\nObservation: a cat"
    )


@pytest.mark.parametrize("kind", [Lam, ConversationLam])
def test_the_settings_of_the_model_come_back(kind: type[Lam]):
    model = Model(
        provider="openai", name="m", temperature=0.5, stop_sequences=("END",), timeout_s=3.0
    )
    term: Term = kind("a", "p", model)
    (row,) = [s for s in compile_term(term).sites.values() if s.kind == "llm"]
    assert row.model == model


def test_an_agent_without_model_has_none():
    assert site().model is None
