"""Arguments of model sites → messages."""

import pytest

from lambdagent import ConversationLam, Lam, Model, Session, Term, Tool, build_agent, compile_term
from lambdagent.effects.protocol import Message
from lambdagent.effects.render import messages_of, model_of
from lambdagent.ir.data import Record
from lambdagent.ir.sites import Site
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
