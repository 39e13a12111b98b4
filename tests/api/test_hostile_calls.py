"""Replies with calls that services and models get wrong, as whole runs on each engine."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from lambdagent import from_config

FILE = """\
type: react
name: r
systemPrompt: s
model: {{provider: mine, name: m, toolCalling: {mode}, conversation: {conversation}}}
react: {{maxSteps: 4}}
mcp: {{localTools: [look, add, now, terminate], policy: {{maxConcurrent: 2}}}}
runtime: {{engine: {engine}}}
"""


def look(x: str) -> str:
    return f"saw {x}"


def add(a: int, b: list[dict[str, int]] | None = None) -> str:
    return f"{a} {b}"


def now() -> str:
    return "noon"


class Provider:
    """Says the replies in turn, and keeps what it is sent."""

    def __init__(self, *replies: Any) -> None:
        self.replies = [*replies, "done"]
        self.sent: list[Any] = []

    def chat(self, messages: Any, tools: Any = None) -> Any:
        self.sent.append(messages)
        return self.replies.pop(0)


def calls(*made: tuple[Any, str, Any], text: str = "", finish: str = "tool_calls") -> Any:
    rows = [{"id": key, "name": name, "arguments": arguments} for key, name, arguments in made]
    return {"text": text, "finish_reason": finish, "tool_calls": rows}


ENDLESS = {"a": math.inf}
# What the model says, and how each call of it is answered.
CASES: list[tuple[Any, list[str]]] = [
    (calls(("1", "look", {"x": "a"}), ("1", "look", {"x": "b"})), ["saw a", "saw b"]),
    (calls(("", "now", {}), (None, "now", None)), ["noon", "noon"]),
    ({"text": "", "tool_calls": [{"name": "now"}]}, ["noon"]),
    (calls(("1", "now", ""), ("2", "now", "null"), ("3", "now", {"q": 1})), ["noon"] * 3),
    (calls(("1", "look", '{"x": "a"}'), ("2", "look", '"{\\"x\\": \\"a\\"}"')), ["saw a"] * 2),
    (calls(("1", "LOOK", {"x": "a\ud83d"})), ["saw a\ud83d"]),
    (calls(("1", "lo\ud83dok", {})), ["there is no tool"]),
    (calls(("1", "add", ENDLESS), ("2", "add", '{"a": 1e999}')), ["no JSON object"] * 2),
    (calls(("1", "add", {"a": 10**4000}), ("2", "add", 5)), ["1000", "5 None"]),
    (calls(("1", "add", {"a": 1, "b": [{"k": "x"}]})), ["`b[0].k` must be an integer"]),
    (calls(("1", "add", {"a": 1, "b": [{}] * 200})), ["1 [{}, {}"]),
    (calls(("1", "look", {"x": "[" * 100_000})), ["saw [[["]),
    (calls(("1", "look", '{"x": ' + "[" * 100_000)), ["no JSON object"]),
    (calls(("1", "look", ["a"])), ["`x` must be a string"]),
    (calls(("1", "now", {}), ("2", "now", {}), finish="LENGTH"), ["noon", "cut off"]),
    (calls(*[(str(n), "now", {}) for n in range(34)]), ["noon"] * 32 + ["[NOT_RUN]"] * 2),
    (calls(("1", "terminate", {"answer": "x"}), ("2", "now", {})), ["only call", "noon"]),
    (calls(("1", "terminate", '{"answer": ')), ["no JSON object"]),
    (calls(("1", "x" * 1000, {})), ["there is no tool"]),
]


def run(tmp_path: Path, reply: Any, engine: str, **more: Any) -> tuple[Any, list[Any]]:
    provider = Provider(reply)
    settings = {"mode": "native", "conversation": "true", **more}
    path = tmp_path / "agent.yml"
    path.write_text(FILE.format(engine=engine, **settings), encoding="utf-8")
    tools = {"look": look, "add": add, "now": now}
    agent = from_config(str(path), tools=tools, providers={"mine": provider})
    return agent("go"), provider.sent


@pytest.mark.parametrize("number", range(len(CASES)))
def test_each_call_is_answered_and_the_engines_agree(number: int, tmp_path: Path):
    reply, answers = CASES[number]
    found = [
        run(tmp_path, reply, engine, conversation=conversation)
        for engine in ("recursive", "cek")
        for conversation in ("true", "false")
    ]
    answer, sent = found[0]
    assert answer == "done"
    *_, asked = [n for n, message in enumerate(sent[-1]) if message.get("tool_calls")]
    results = sent[-1][asked + 1 :]
    assert [each["role"] for each in results] == ["tool"] * len(answers)
    assert all(said in each["content"] for said, each in zip(answers, results, strict=True))
    keys = [call["id"] for call in sent[-1][asked]["tool_calls"]]
    assert [each["tool_call_id"] for each in results] == keys
    assert len({*keys}) == len(keys)
    assert all(keys)
    for each in found[1:]:
        assert json.dumps(each) == json.dumps(found[0])


@pytest.mark.parametrize("number", range(len(CASES)))
def test_by_text_the_engines_agree_about_them_too(number: int, tmp_path: Path):
    found = [
        run(tmp_path, CASES[number][0], engine, mode="text") for engine in ("recursive", "cek")
    ]
    assert all(json.dumps(each) == json.dumps(found[0]) for each in found)
