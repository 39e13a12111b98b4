"""What a reply, an answer or a memory is, is told by what it is and not by how it looks."""

import subprocess
import sys

import pytest

from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.surface import (
    Compose,
    Concat,
    ConversationLam,
    Guard,
    Lam,
    Loop,
    Memory,
    Pair,
    Par,
    ReActStep,
    Route,
    Tool,
    subterms,
)
from tests.desugar.calls import ask, compiled


def react(*names: str, max_steps: int = 3) -> Loop:
    tools = [Tool(name) for name in (*names, "terminate")]
    return Loop(
        ReActStep("step", think=ConversationLam("think"), tools=tools), max_steps=max_steps
    )


def test_equal_models_have_programs_of_one_digest_whatever_came_first():
    code = """
from lambdagent import Lam, Model, compile_term
for temperature in {order}:
    print(compile_term(Lam("a", "p", Model(provider="x", temperature=temperature))).digest())
"""
    digests = set()
    for order in ("(0, 0.0)", "(0.0, 0)"):
        command = [sys.executable, "-c", code.format(order=order)]
        digests |= set(subprocess.run(command, check=True, capture_output=True).stdout.split())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"tool": "terminate"}', ""),
        ('{"tool": "terminate", "args": ""}', ""),
        ("<tool>terminate</tool>", ""),
        ('{"tool": "terminate", "args": {"answer": "42"}}', "42"),
        ("It is 42.\nterminate", "It is 42."),
    ],
)
def test_terminate_never_answers_with_the_text_of_its_call(reply, answer):
    assert ask(react(), "x", [reply]).value == answer


def test_an_unknown_native_call_goes_back_to_the_model():
    reply = Record(text="", finish_reason="tool_calls", tool_calls=(Record(name="nope"),))
    ran = ask(react("t"), "x", [reply, "fine"])
    assert ran.value == "fine"
    assert "there is no tool `nope`; the tools are: t, terminate" in ran.asked[1][1]


def test_a_json_answer_with_a_field_called_text_stays_whole_in_the_history():
    agent = ConversationLam("w", output_parser="json")
    ran = ask(Compose(agent, agent), "x", ['{"text": "hi", "score": 3}', "{}"])
    assert ("assistant", '{"text": "hi", "score": 3}') in ran.messages[1]


def test_inputs_that_begin_alike_are_remembered_apart():
    agent = Memory(Lam("w"), size=5)
    start = "Please translate the following sentence from English to French: "
    store = None
    for word in ("cat", "dog", "bird"):
        store = ask(agent, start + word, [word], store).store
    ran = ask(agent, "?", ["!"], store)
    assert ran.messages[0][0][1].count("Please translate") == 3


def test_concat_joins_as_many_answers_as_there_are_branches():
    one, two = Pair(Compose(), Compose()), Compose()
    assert ask(Compose(Par(one, two), Concat()), "q", []).value == '["q", "q"]\n\nq'
    assert ask(Compose(Par(two, one), Concat()), "q", []).value == 'q\n\n["q", "q"]'


def test_subterms_of_shared_terms_are_found_once():
    term = Lam("w")
    for _ in range(200):
        term = Pair(term, term)
    assert sum(1 for _ in subterms(term)) == 201
    assert compiled(term).digest() == compiled(term).digest()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Loop(Lam("w"), max_steps=-1),
        lambda: Loop(Lam("w"), max_steps=2.5),
        lambda: Guard(Lam("w"), "True", retry=True),
        lambda: Memory(Lam("w"), size=-1),
        lambda: Memory(Lam("w"), size=5.0),
        lambda: ReActStep("s", think=Lam("t"), tools=[Tool("a"), Tool("a")]),
        lambda: Route(Lam("c"), {"a": Lam("w")}, others=("a",)),
        lambda: Route(Lam("c"), {"_": Lam("w")}),
        Par,
    ],
)
def test_what_the_calculus_has_no_term_for_is_refused_when_it_is_built(build):
    with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
        build()


def test_models_by_name_know_their_provider():
    assert Lam("w", "p", "claude-x").model == Model(provider="anthropic", name="claude-x")
