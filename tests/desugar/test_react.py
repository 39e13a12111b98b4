"""ReAct loops: think, decode, act, observe."""

import json

import pytest

from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.surface import ConversationLam, Loop, ReActStep, Tool
from tests.desugar.calls import ask

TOOLS = (Tool("search", description="finds"), Tool("look"), Tool("terminate"))


def react(
    steps: int = 5, *, think: surface.Lam | None = None, error: bool = False, **more
) -> Loop:
    step = ReActStep("agent", think=think or surface.Lam("agent", "Act."), tools=TOOLS, **more)
    return Loop(step, max_steps=steps, on_exhausted="error" if error else "last")


def call(tool: str, args: object, thought: str = "") -> str:
    return f"{thought}{json.dumps({'tool': tool, 'args': args})}"


def test_a_tool_call_and_an_answer_are_two_model_calls():
    ran = ask(react(), "Where?", [call("search", "q"), "found it", "Here."])
    assert ran.sites == ["llm:agent", "tool:search", "llm:agent"]
    assert ran.value == "Here."


def test_a_tool_gets_the_arguments():
    ran = ask(react(), "x", [call("look", {"at": 1}), "ok", "done"])
    assert ran.asked[1] == ("tool:look", '{"at": 1}')


def test_terminate_ends_the_loop_with_its_argument():
    ran = ask(react(), "x", [call("terminate", "the end", "I know. ")])
    assert (ran.value, ran.sites) == ("the end", ["llm:agent"])


def test_text_without_a_call_is_the_answer():
    assert ask(react(), "x", ["Just text."]).value == "Just text."


def test_the_last_thought_is_the_answer_when_the_bound_is_reached():
    replies = [call("search", 1, "First. "), "a", call("search", 2, "Second. "), "b"]
    ran = ask(react(2), "x", replies)
    assert ran.value == call("search", 2, "Second. ")
    assert len(ran.asked) == 4


def test_a_loop_may_fail_when_the_bound_is_reached():
    ran = ask(react(1, error=True), "x", [call("search", 1), "a"])
    assert ran.error["kind"] == "MaxTurns"


def test_one_step_alone_is_a_loop_of_one():
    step = react().body
    assert ask(step, "x", ["answer"]).value == "answer"
    assert len(ask(step, "x", [call("search", 1), "a"]).asked) == 2


def test_the_next_call_sees_the_transcript():
    replies = [call("search", "q", "Hm. "), "found", call("look", "l"), {"n": 1}, "done"]
    ran = ask(react(), "Where?", replies)
    text = ran.messages[2][-1][1]
    assert text == "\n\n".join(
        [
            "[Previous Context]\nWhere?",
            f"[Step 1]\nThought: {replies[0]}\nAction: search\nObservation: found",
            f'[Step 2]\nThought: {replies[2]}\nAction: look\nObservation: {{"n": 1}}',
        ]
    )


def test_with_a_conversation_the_next_call_sees_the_history_and_the_observation():
    think = ConversationLam("agent", "Act.")
    ran = ask(react(think=think), "Where?", [call("search", "q"), "found", "done"])
    assert ran.messages[1][2:] == [
        ("user", "Where?"),
        ("assistant", call("search", "q")),
        ("user", "Observation from search: found"),
    ]


def test_without_observations_the_next_call_sees_the_thought():
    ran = ask(react(observation_enabled=False), "x", [call("search", "q"), "found", "done"])
    assert ran.messages[1][-1] == ("user", call("search", "q"))
    assert "found" not in str(ran.messages)


def test_a_failing_tool_is_an_observation():
    ran = ask(react(), "x", [call("search", "q"), Failure("ToolError", "no network"), "done"])
    assert ran.value == "done"
    assert ran.messages[1][-1][1].endswith("Observation: no network")


def test_a_call_of_an_unknown_tool_is_told_to_the_model():
    ran = ask(react(), "x", [call("sing", "la"), "done"])
    if ran.sites == ["llm:agent", "llm:agent"]:
        assert "sing" in ran.messages[1][-1][1]
    else:
        assert ran.value == call("sing", "la")


def test_a_provider_failure_is_no_answer():
    ran = ask(react(), "x", [Failure("ProviderError", "500")])
    assert ran.error["kind"] == "ProviderError"


def test_a_call_that_the_provider_found_is_taken():
    native = Record(id="1", name="look", arguments=Record(at=2))
    reply = Record(text="", tool_calls=(native,), finish_reason="tool_calls")
    ran = ask(react(), "x", [reply, "ok", "done"])
    assert ran.asked[1] == ("tool:look", '{"at": 2}')


@pytest.mark.parametrize(
    ("test", "stops"),
    [
        ("'found' in observation", True),
        ("turn >= 2", False),
        ("turn >= 1", True),
        ("tool_calls[0]['name'] == 'search'", True),
        ("tool_results['search'] == 'found'", True),
        ("len(content) > 1000", False),
        ("tool_results['other'] == 1", False),
    ],
)
def test_an_exit_test_ends_the_loop_after_the_tool(test, stops):
    first = call("search", "q", "Hm. ")
    replies = [first, "found"] if stops else [first, "found", "done"]
    ran = ask(react(early_stop=test), "x", replies)
    assert ran.value == (first if stops else "done")


def test_an_exit_test_is_not_asked_before_an_answer():
    assert ask(react(early_stop="True"), "x", ["Just text."]).value == "Just text."


def test_the_tools_are_described_to_the_model():
    ran = ask(react(), "x", ["done"])
    system = "\n".join(text for role, text in ran.messages[0] if role == "system")
    assert "- search: finds" in system
    assert "- look" in system
