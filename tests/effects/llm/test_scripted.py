import asyncio
import threading
from pathlib import Path

import pytest

from lambdagent.effects.llm.scripted import (
    Recorder,
    Scripted,
    read_recording,
    write_recording,
)
from lambdagent.effects.protocol import Message, Reply, ToolCall, Usage
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record, freeze
from tests.effects.calls import model_call


def texts(scripted: Scripted, *questions: str, agent: str = "writer") -> list[str]:
    calls = [model_call(messages=(Message("user", q),), agent=agent) for q in questions]
    return [scripted.chat(call).text for call in calls]


def code_of(script: object, **options) -> str:
    with pytest.raises(EffectError) as caught:
        Scripted(script, **options)
    return caught.value.diagnostic.code


def test_replies_come_in_order_from_both_faces():
    scripted = Scripted(["one", "two"])
    assert scripted.instant
    assert texts(scripted, "a") == ["one"]
    assert asyncio.run(scripted.achat(model_call())).text == "two"
    assert scripted.served == 2
    scripted.close()


def test_a_used_up_script_says_which_reply_is_missing():
    scripted = Scripted({"replies": ["one"]})
    texts(scripted, "a")
    with pytest.raises(EffectError, match="script of `llm:writer` has no reply 2") as caught:
        texts(scripted, "b")
    assert caught.value.diagnostic.code == "E004"


def test_replies_by_agent_do_not_depend_on_each_other():
    scripted = Scripted({"replies": {"a": ["a1", "a2"], "b": ["b1"]}})
    assert texts(scripted, "x", agent="b") == ["b1"]
    assert texts(scripted, "x", "x", agent="a") == ["a1", "a2"]


def test_rules_answer_when_the_replies_are_used_up():
    rules = [
        {"match": "(?i)weather", "reply": "rain", "times": 1},
        {"match": "weather", "reply": "sun"},
        {"agent": "boss", "reply": "no"},
    ]
    scripted = Scripted({"replies": ["first"], "rules": rules})
    assert texts(scripted, "weather", "Weather?", "weather") == ["first", "rain", "sun"]
    assert texts(scripted, "anything", agent="boss") == ["no"]
    with pytest.raises(EffectError, match="no rule fits"):
        texts(scripted, "anything")


def test_no_message_is_read_unless_a_rule_looks_for_something():
    call = model_call(messages=())  # reading the newest one would fail
    assert Scripted(["one"]).chat(call).text == "one"
    assert Scripted({"rules": [{"reply": "two"}]}).chat(call).text == "two"


def test_a_reply_may_have_tool_calls_and_a_number_is_a_text():
    call = {"id": "c1", "name": "search", "arguments": {"query": "amber"}}
    scripted = Scripted([{"text": "", "finish_reason": "tool_calls", "tool_calls": [call]}, 42])
    expected = ToolCall("c1", "search", Record(query="amber"))
    assert scripted.chat(model_call()) == Reply("", "tool_calls", (expected,))
    assert texts(scripted, "a") == ["42"]


def test_threads_share_a_script_without_losing_or_repeating_a_reply():
    scripted = Scripted([str(n) for n in range(400)])
    taken: list[str] = []
    threads = [
        threading.Thread(target=lambda: taken.extend(texts(scripted, *["x"] * 100)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(n) for n in range(400)]


@pytest.mark.parametrize(
    "script",
    [
        "text",
        7,
        {"reply": ["a"]},
        {"replies": "a"},
        {"replies": {"a": "b"}},
        {"replies": [{"texts": "a"}]},
        {"rules": {"a": "b"}},
        {"rules": ["a"]},
        {"rules": [{"match": "a"}]},
        {"rules": [{"match": "(", "reply": "a"}]},
        {"rules": [{"match": 3, "reply": "a"}]},
        {"rules": [{"reply": "a", "times": -1}]},
        {"rules": [{"reply": "a", "often": 1}]},
        {"recording": 3},
        [{1, 2}],
    ],
)
def test_what_is_no_script_is_refused(script):
    assert code_of(script) == "E005"


@pytest.mark.parametrize("match", ["(a+)+$", "(a|a)*b", r"(.*)\1", "a" * 501, ".*.*.*.*.*.*x"])
def test_a_pattern_that_could_take_too_long_is_refused(match: str):
    with pytest.raises(EffectError, match="cannot be used") as caught:
        Scripted({"rules": [{"match": match, "reply": "a"}]})
    assert caught.value.diagnostic.code == "E005"


@pytest.mark.parametrize(
    ("match", "text"),
    [("a.*b.*c", "ab" * 10_000), ("a+b", "a" * 200_001), (".*x.*y", "x" * 50_000)],
)
def test_a_text_that_is_too_long_for_a_pattern_is_an_error(match: str, text: str):
    scripted = Scripted({"rules": [{"match": match, "reply": "a"}]})
    assert texts(scripted, "abcxy") == ["a"]
    with pytest.raises(EffectError, match=r"too long|at most") as caught:
        texts(scripted, text)
    assert caught.value.diagnostic.code == "E005"


def test_a_plain_word_is_found_in_a_long_text():
    scripted = Scripted({"rules": [{"match": "(?i)weather", "reply": "rain"}]})
    assert texts(scripted, "a" * 500_000 + " Weather") == ["rain"]


ENTRIES = [
    ("writer", Reply("Grüße\u2028\n", "stop", (), Usage(3, 4))),
    ("reader", Reply("", "tool_calls", (ToolCall("1", "t", freeze({"a": [1]})),))),
    ("writer", Reply("second")),
]


def test_a_recording_gives_back_what_was_written(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    write_recording(path, ENTRIES)
    assert read_recording(path) == ENTRIES
    assert path.read_text(encoding="utf-8").startswith('{"lambdagent-recording":1}\n')


def test_a_recording_plays_back_by_agent_after_the_replies(tmp_path: Path):
    write_recording(tmp_path / "run.jsonl", ENTRIES)
    script = {"recording": "run.jsonl", "replies": {"writer": ["zeroth"]}}
    scripted = Scripted(script, base_dir=tmp_path)
    assert scripted.chat(model_call(agent="reader")) == ENTRIES[1][1]
    assert texts(scripted, "x", "x", "x") == ["zeroth", "Grüße\u2028\n", "second"]


def test_a_reply_is_on_disk_as_soon_as_it_is_recorded(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    recorder = Recorder(path)
    recorder.add("a", Reply("half a pair \ud83d"))
    assert read_recording(path) == [("a", Reply("half a pair ?"))]
    recorder.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1"),
        ('{"lambdagent-recording":2}\n', "line 1 must be"),
        ('{"lambdagent-recording":1}\n{"agent":"a","reply":{"te', "line 2 is no JSON"),
        ('{"lambdagent-recording":1}\n{"agent":"a"}\n', "no `agent` and `reply`"),
        ('{"lambdagent-recording":1}\n{"agent":"a","reply":3}\n', "no reply of a model"),
        (None, "No such file"),
    ],
)
def test_a_damaged_recording_is_an_error(tmp_path: Path, text: str | None, reason: str):
    path = tmp_path / "run.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(EffectError, match=reason) as caught:
        Scripted({"recording": str(path)})
    assert caught.value.diagnostic.code == "E007"
