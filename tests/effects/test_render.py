"""Arguments of model sites → messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent import ConversationLam, Lam, Model, Session, Term, Tool, build_agent, compile_term
from lambdagent.effects.protocol import Message
from lambdagent.effects.render import estimate_tokens, messages_of, model_of
from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.ir.sites import Site
from lambdagent.machine.state import Value
from lambdagent.machine.store import STORES
from lambdagent.machine.values import pair
from tests.effects.agents import MODEL, Speaker, call, react, say, speaker


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


def asked_within(turns: list[tuple[Value, Value]], max_tokens: int, recent: int) -> list[Message]:
    """Return what is sent for "now" after `turns`, the system prompt left out."""
    static = Record(cell="conv:c", max_tokens=max_tokens, recent_turns=recent)
    cell = None
    for asked, reply in turns:
        _, cell = STORES["conv.append"](static)(cell, pair(asked, reply))
    history, _ = STORES["conv.read"](static)(cell, UNIT)
    return list(messages_of(site(conversation=True), pair(history, "now"))[1:])


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=30),
    st.integers(0, 200),
    st.integers(0, 25),
)
def test_the_newest_turns_that_fit_are_sent_and_the_rest_counted(turns, max_tokens, recent):
    *before, newest = asked_within(turns, max_tokens, recent)
    assert newest == Message("user", "now")
    summary = [before.pop(0).text] if before and before[0].role == "system" else []
    assert [m.role for m in before] == ["user", "assistant"] * (len(before) // 2)
    kept = len(before) // 2
    sent = turns[len(turns) - kept :]
    assert [m.text for m in before] == [text for turn in sent for text in turn]
    costs = [sum(map(estimate_tokens, turn)) for turn in reversed(turns)]
    fitting = [n for n in range(len(turns) + 1) if sum(costs[:n]) <= max_tokens and n <= recent]
    assert kept == max(*fitting, min(1, recent, len(turns)))
    left = len(turns) - kept
    assert [text.partition("\n")[0] for text in summary] == (
        [f"[Conversation summary: {left} earlier turns]"] if left else []
    )


def test_a_reply_may_be_a_record_with_or_without_text():
    for reply in (Record(text="hello"), Record(other=1), Record(), None, 7):
        assert asked_within([("q", reply)], 1000, 20)[-1].text == "now"
        assert asked_within([("q", reply)], 1000, 0)[0].role == "system"


def test_a_summary_quotes_the_last_ten_turns():
    summary, _ = asked_within([(f"q{i}", f"a{i}") for i in range(12)], 1000, 0)
    quoted = "\n".join(f"- q{i} → a{i}" for i in range(2, 12))
    assert summary.text == f"[Conversation summary: 12 earlier turns]\n{quoted}"


def test_a_long_conversation_has_a_short_summary():
    summary, _ = asked_within([(f"question {i} " * 50, "answer") for i in range(1000)], 1000, 0)
    assert "1000 earlier turns" in summary.text
    assert "question 999" in summary.text
    assert "question 989" not in summary.text
    assert len(summary.text) < 5000


@pytest.mark.parametrize(("text", "least"), [("", 1), ("a" * 400, 100), ("字" * 100, 100)])
def test_tokens_are_estimated_by_script(text: str, least: int):
    assert least <= estimate_tokens(text) <= least + 10


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
    assert "- look: Look at it.\n- wait" in protocol
    assert '{"tool": "NAME", "args": ARGUMENTS}' in protocol
    assert "terminate" in protocol


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
    assert model_of(row.static) == model


def test_an_agent_without_model_has_none():
    assert model_of(site().static) is None
