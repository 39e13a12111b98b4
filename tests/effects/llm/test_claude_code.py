"""Claude Code as a provider, with a stand-in for its program that speaks its JSON."""

import asyncio
import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent import Session, build_agent, load_program, run
from lambdagent.effects.llm import Providers, claude_code, make_provider
from lambdagent.effects.llm.claude_code import ClaudeCode
from lambdagent.effects.protocol import Cancellation, Message, Reply, Usage
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.speech import Speech
from lambdagent.errors import EffectError, LambdagentError
from lambdagent.frontend import schema
from lambdagent.ir.model import Model
from tests.effects.calls import HELLO, model_call

MODEL = Model(provider="claude-code", name="sonnet")
SOURCE = Path(__file__).with_name("claude.py")
GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "requests"


class Program:
    """The stand-in, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        script = folder / "claude"
        script.write_text(f"#!{sys.executable}\n{SOURCE.read_text()}")
        script.chmod(0o755)
        self.environment = {"PATH": f"{folder}:/usr/bin:/bin"}

    def says(self, *replies: dict[str, Any], forgotten: tuple[str, ...] = ()) -> None:
        script = {"replies": replies, "forgotten": forgotten}
        (self.folder / "script.json").write_text(json.dumps(script))

    @property
    def asked(self) -> list[dict[str, Any]]:
        path = self.folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def provider(self, model: Model = MODEL, **environment: str) -> ClaudeCode:
        made = make_provider(model, {**self.environment, **environment})
        assert isinstance(made, ClaudeCode)
        return made


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_a_call_asks_the_program_for_one_turn_without_tools(program: Program):
    program.says({"text": "Hi."})
    reply = program.provider().chat(model_call(MODEL))
    assert reply == Reply("Hi.", "end_turn", (), Usage(113, 7, 100, 0.5), "s0")
    (asked,) = program.asked
    assert asked["input"] == "Hello"
    assert asked["options"] == [
        "--print",
        "--output-format=stream-json",
        "--include-partial-messages",
        "--verbose",
        "--tools=",
        "--strict-mcp-config",
        "--setting-sources=user",
        "--max-turns=1",
        "--system-prompt=Be brief.",
        "--model=sonnet",
    ]
    assert asked["limit"] == "4096"


def turns(*texts: str) -> tuple[Message, ...]:
    """A system prompt, and messages of a user and the model by turns."""
    said = (Message("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))
    return (Message("system", "s"), *said)


def test_only_what_is_new_is_sent_in_a_session(program: Program):
    program.says({"text": "a"}, {"text": "b"}, {"text": "c"})
    provider = program.provider()
    for messages in (turns("1"), turns("1", "a", "2"), turns("1", "a", "2", "b", "3")):
        provider.chat(model_call(MODEL, messages))
    assert [each["input"] for each in program.asked] == ["1", "2", "3"]
    resumed = [each["options"][10:] for each in program.asked]
    assert resumed == [[], ["--resume=s0", "--fork-session"], ["--resume=s1", "--fork-session"]]


def test_a_past_may_be_gone_on_with_twice(program: Program):
    program.says({"text": "a"})
    provider = program.provider()
    provider.chat(model_call(MODEL, turns("1")))
    for question in ("2", "other"):
        provider.chat(model_call(MODEL, turns("1", "a", question)))
    assert ["--resume=s0" in each["options"] for each in program.asked] == [False, True, True]


@pytest.mark.parametrize("messages", [turns("0", "x", "1", "a", "2"), turns("1", "changed", "2")])
def test_another_past_is_told_as_text(program: Program, messages: tuple[Message, ...]):
    program.says({"text": "a"})
    provider = program.provider()
    provider.chat(model_call(MODEL, turns("1")))
    provider.chat(model_call(MODEL, messages))
    asked = program.asked[1]
    assert not [each for each in asked["options"] if "resume" in each]
    for message in messages[1:]:
        assert message.text in asked["input"]
    assert asked["input"].endswith("[Current message]\n\n2")


def test_a_session_that_the_program_forgot_is_told_anew(program: Program):
    program.says({"text": "a"}, forgotten=("s0",))
    provider = program.provider()
    provider.chat(model_call(MODEL, turns("1")))
    assert provider.chat(model_call(MODEL, turns("1", "a", "2"))).text == "a"
    assert "[Conversation so far]" in program.asked[2]["input"]


def test_a_session_of_an_earlier_process_is_gone_on_with(program: Program):
    program.says({"text": "a"}, {"text": "b"})
    call = model_call(MODEL, turns("1"))
    reply = program.provider().chat(call)
    later = program.provider()
    later.recall(call, Reply.from_data(reply.to_data()))
    later.chat(model_call(MODEL, turns("1", "a", "2")))
    assert "--resume=s0" in program.asked[1]["options"]
    assert program.asked[1]["input"] == "2"


def test_what_it_says_is_told_while_it_comes(program: Program):
    program.says({"pieces": ["He", "llo ", "wörld"], "text": "Hello wörld"})
    heard: list[str] = []
    speech = Speech(lambda text, _: heard.append(text), Redaction({}))
    call = model_call(MODEL)
    call.speech = speech
    reply = program.provider().chat(call)
    speech.end(reply.text)
    assert "".join(heard) == reply.text == "Hello wörld"
    assert len(heard) > 1


def test_the_program_gets_its_own_keys_and_no_others(program: Program):
    program.says({"text": "a"})
    provider = program.provider(ANTHROPIC_API_KEY="k", OPENAI_API_KEY="other", MY_KEY="x")
    provider.chat(model_call(MODEL))
    assert program.asked[0]["keys"] == ["ANTHROPIC_API_KEY"]


def test_another_address_is_told(program: Program):
    program.says({"text": "a"})
    provider = program.provider(attrs.evolve(MODEL, base_url="http://127.0.0.1:1"))
    provider.chat(model_call(MODEL))
    assert program.asked[0]["url"] == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": 1.0}, "`temperature`"),
        ({"top_p": 0.5}, "`topP`"),
        ({"stop_sequences": ("x",)}, "`stopSequences`"),
    ],
)
def test_what_it_cannot_be_told_is_refused(program: Program, settings: dict[str, Any], named: str):
    program.says({"text": "a"})
    model = attrs.evolve(MODEL, **settings)
    providers = Providers(program.environment)
    providers.of(MODEL)
    with pytest.raises(EffectError, match=f"E005.*{named}"):
        providers.of(model)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"stderr": "Invalid API key\n"}, "Invalid API key"),
        ({"stderr": "", "code": 3}, "exit code 3"),
        ({"result": {"is_error": True, "result": "Credit is low"}}, "Credit is low"),
        ({"result": {"subtype": "error_max_turns", "result": None}}, "error_max_turns"),
        ({"result": {"result": 5}}, "no text"),
        ({"result": {"usage": {"input_tokens": "x", "output_tokens": 1}}}, "no number of tokens"),
    ],
)
def test_a_failure_is_told(program: Program, reply: dict[str, Any], told: str):
    program.says(reply)
    with pytest.raises(EffectError, match=f"E002.*{told}"):
        program.provider().chat(model_call(MODEL))


def test_a_missing_program_is_told_before_anything_runs(tmp_path: Path):
    with pytest.raises(EffectError, match=r"E005.*`claude` is not on the PATH"):
        make_provider(MODEL, {"PATH": str(tmp_path)})


def test_a_call_that_takes_too_long_ends(program: Program):
    program.says({"sleep": 60})
    with pytest.raises(EffectError, match="E003"):
        program.provider().chat(model_call(MODEL, timeout_s=0.3))


def test_a_call_that_is_cancelled_ends(program: Program, caplog: pytest.LogCaptureFixture):
    program.says({"sleep": 60})
    cancel = Cancellation()
    threading.Timer(0.3, cancel.cancel).start()
    caplog.set_level(logging.INFO, "lambdagent")
    with pytest.raises(EffectError, match="cancelled"):
        program.provider().chat(model_call(MODEL, agent="stopped", cancel=cancel))
    told = [each for each in caplog.records if "llm:stopped: cancelled after" in each.getMessage()]
    assert [each.levelname for each in told] == ["INFO"]


def test_a_task_that_is_cancelled_kills_the_program(program: Program):
    program.says({"sleep": 60})

    async def ask() -> None:
        task = asyncio.create_task(program.provider().achat(model_call(MODEL)))
        await asyncio.sleep(0.3)
        task.cancel()
        await task

    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(ask())
    assert time.monotonic() - began < 30


def test_the_log_tells_of_each_request_and_its_end(
    program: Program, caplog: pytest.LogCaptureFixture
):
    key = "planted-key-of-claude"
    program.says({"text": f"the answer, {key}"}, {"stderr": f"bad {key}"}, forgotten=("s0",))
    provider = program.provider(ANTHROPIC_API_KEY=key)
    caplog.set_level(logging.DEBUG, "lambdagent")
    provider.chat(model_call(MODEL, turns("1"), "teller"))
    with pytest.raises(EffectError):  # the session is forgotten, and what is asked then fails
        provider.chat(model_call(MODEL, turns("1", f"the answer, {key}", "2"), "teller"))
    rows = [(each.levelname, each.getMessage()) for each in caplog.records]
    told = [(level, line) for level, line in rows if line.startswith("llm:teller")]
    assert [line for level, line in told if level == "INFO" and "answered" not in line] == [
        "llm:teller: claude, request 1",
        "llm:teller: claude, request 1",
        "llm:teller: claude, request 2",
    ]
    assert any("answered in" in line and "113 + 7 tokens" in line for _, line in told)
    (failed,) = (line for level, line in told if level == "WARNING")
    assert "llm:teller: E002 after" in failed
    debug = "\n".join(line for level, line in told if level == "DEBUG")
    assert "--system-prompt=s" in debug
    assert key not in caplog.text
    assert "[ANTHROPIC_API_KEY]" in debug


SAMPLE: dict[str, Any] = {
    "name": "sonnet",
    "maxTokens": 12,
    "conversation": "full",
    "maxHistoryTokens": 1000,
    "contextWindow": 4000,
    "timeout": 9,
    "toolCalling": "auto",
    "baseUrl": "https://claude.test",
}
LONG = "All that was said before. " * 40


def asked_by(program: Program, settings: dict[str, Any], kind: str = "simple") -> list[Any]:
    """Return what two runs of a session ask the program."""
    config: dict[str, Any] = {"type": kind, "name": "clerk", "systemPrompt": "Be brief."}
    config["model"] = {"provider": "claude-code", **settings}
    said = [{"text": "ok"}]
    if kind == "react":
        tool = {"name": "lookup", "description": "Look a word up."}
        config |= {"tools": [tool], "mcp": {"localTools": ["lookup", "terminate"]}}
        calls = [{"tool": "lookup", "args": "amber"}, {"tool": "terminate", "args": "ok"}]
        said = [{"text": json.dumps(call)} for call in calls]
    program.says(*said)
    (program.folder / "asked.jsonl").unlink(missing_ok=True)
    tools = {"lookup": lambda word: f"about {word}"} if kind == "react" else {}
    with Session(build_agent(config, tools=tools), environment=program.environment) as session:
        session.run(LONG)
        if kind == "simple":
            session.run("And now?")
    return program.asked


@pytest.mark.parametrize("kind", ["simple", "react"])
def test_the_whole_request_is_as_documented(
    program: Program, golden: Callable[[Path, str], None], kind: str
):
    """By https://code.claude.com/docs/en/cli-reference."""
    text = json.dumps(asked_by(program, SAMPLE, kind), indent=2).replace(LONG, "…")
    golden(GOLDEN / f"claude-code-{kind}.txt", f"{text}\n")


# Another value of each setting; what the program cannot be told is refused.
OTHERS: dict[str, Any] = {
    "name": "opus",
    "maxTokens": 13,
    "temperature": 0.9,
    "topP": 0.5,
    "stopSequences": ["END"],
    "conversation": False,
    "contextWindow": 100,
    "baseUrl": "https://other.test",
    "toolCalling": "native",
}
# What is not told: how long is waited, how much is kept, and what only a script has.
OURS = {"timeout", "maxHistoryTokens", "script", "provider"}


def test_each_setting_changes_what_is_asked_or_is_refused(program: Program):
    assert set(schema.MODEL.fields) == OTHERS.keys() | OURS
    before = asked_by(program, SAMPLE)
    silent, codes = [], set()
    for field, other in OTHERS.items():
        kind = "react" if field == "toolCalling" else "simple"
        try:
            if asked_by(program, {**SAMPLE, field: other}, kind) == before:
                silent.append(field)
        except LambdagentError as error:
            codes.add(error.diagnostic.code)
    assert (silent, codes) == ([], {"E005", "E015", "S104"})


def test_a_session_id_is_never_an_option(program: Program):
    program.says({"text": "a", "result": {"session_id": "--evil"}}, {"text": "b"})
    provider = program.provider()
    provider.chat(model_call(MODEL, turns("1")))
    provider.chat(model_call(MODEL, turns("1", "a", "2")))
    assert "--evil" not in program.asked[1]["options"]
    assert "--resume=--evil" in program.asked[1]["options"]


def test_a_react_agent_sends_observations_alone(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    program.says(
        {"text": json.dumps({"tool": "double", "args": "4"})},
        {"text": json.dumps({"tool": "terminate", "args": "8"})},
    )
    monkeypatch.setenv("PATH", program.environment["PATH"])
    path = tmp_path / "agent.yml"
    path.write_text(
        "type: react\nname: a\nsystemPrompt: p\nmodel: {provider: claude-code}\n"
        "react: {maxSteps: 3}\nmcp: {localTools: [terminate]}\n"
    )
    agent = load_program(path, tools={"double": lambda text: str(int(text) * 2)})
    result = run(agent, "double 4")
    assert result.value == "8"
    assert [each["input"] for each in program.asked] == ["double 4", "Observation from double: 8"]
    assert result.cost_usd == 1.0


def test_messages_that_are_no_conversation_are_sent(program: Program):
    program.says({"text": "a"})
    program.provider().chat(model_call(MODEL, HELLO[1:]))
    assert "--system-prompt=" in program.asked[0]["options"]


def test_an_answer_about_forgotten_sessions_is_an_answer(program: Program):
    program.says({"text": "a"}, {"text": "No conversation found with session ID: 1"})
    provider = program.provider()
    provider.chat(model_call(MODEL, turns("1")))
    reply = provider.chat(model_call(MODEL, turns("1", "a", "2")))
    assert reply.text.startswith("No conversation found")
    assert len(program.asked) == 2


def test_a_system_prompt_of_any_length_is_told(program: Program):
    """Where it is too long for an argument by a file, which is gone afterwards."""
    program.says({"text": "a"})
    prompt = "记 and more. " * 20_000
    messages = (Message("system", prompt), Message("user", "x" * 1_000_000))
    assert program.provider().chat(model_call(MODEL, messages)).text == "a"
    (asked,) = program.asked
    assert asked["system"] == prompt
    assert asked["mode"] == "0o600"
    assert len(asked["input"]) == 1_000_000
    (option,) = (each for each in asked["options"] if each.startswith("--system-prompt"))
    assert not Path(option.partition("=")[2]).exists()


def test_a_line_without_an_end_is_not_kept(program: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(claude_code, "_LONGEST_LINE_BYTES", 1000)
    program.says({"text": "a", "noise": 100_000})
    assert program.provider().chat(model_call(MODEL)).text == "a"
    program.says({"text": "a" * 2000})
    with pytest.raises(EffectError, match="its answer is longer than 1000 bytes"):
        program.provider().chat(model_call(MODEL))


def test_a_long_line_is_taken_down_in_linear_time(program: Program):
    program.says({"text": "a" * 30_000_000})
    began = time.process_time()
    assert len(program.provider().chat(model_call(MODEL)).text) == 30_000_000
    assert time.process_time() - began < 5
