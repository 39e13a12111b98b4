"""Which tools of an agent file are called only after a person has approved the call."""

import pytest

from lambdagent.errors import CompileError
from lambdagent.ir.surface import ReActStep, Tool, subterms
from tests.frontend.test_build import REACT, SIMPLE, build, told


def confirmed(text, **tools):
    """The names of the tools of a ReAct agent that are confirmed."""
    (step,) = [each for each in subterms(build(text, tools=tools)) if isinstance(each, ReActStep)]
    return [tool.name for tool in step.tools if tool.confirm]


LISTED = "localTools: [send, look, terminate]"


def test_a_file_names_the_tools_that_are_confirmed():
    assert confirmed(f"{REACT}mcp: {{{LISTED}}}\nconfirm: [send]\n") == ["send"]
    assert confirmed(f"{REACT}mcp: {{{LISTED}}}\n") == []
    assert confirmed(f"{REACT}confirm: [pay]\n", pay=Tool("pay")) == ["pay"]


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("auto", ["send"]),
        ("force", ["send", "look", "read"]),
        ("intelligence", ["send", "look"]),
        ("disable", []),
    ],
)
def test_the_policy_says_which_tools_are_confirmed(mode, found):
    text = f"{REACT}mcp: {{{LISTED}, policy: {{mode: {mode}}}}}\nconfirm: [send]\n"
    assert confirmed(text, read=Tool("read", idempotent=True)) == found


def test_a_tool_that_the_caller_wants_confirmed_is_whatever_the_file_says():
    text = f"{REACT}mcp: {{{LISTED}, policy: {{mode: disable}}}}\n"
    assert confirmed(text, look=Tool("look", confirm=True)) == ["look"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sned", "write `send`"),
        ("pay", "leave it out, or add it to `mcp.localTools`"),
        ("terminate", "leave it out: `terminate` ends the loop and calls nothing"),
    ],
)
def test_a_name_that_is_no_tool_cannot_be_confirmed(name, hint):
    text = f"{REACT}mcp: {{{LISTED}}}\nconfirm: [send, {name}]\n"
    assert told(text) == [("S204", "confirm[1]")]
    with pytest.raises(CompileError) as caught:
        build(text)
    (found,) = caught.value.diagnostics
    assert (found.fix, found.why) == (hint, "the agent can call: `send`, `look`")
    assert found.where is not None


def test_only_agents_that_call_tools_confirm_them():
    assert [code for code, _ in told(f"{SIMPLE}confirm: [send]\n")] != []
