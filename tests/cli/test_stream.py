"""``run --stream``: what models say while they do, and the answer last."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from typing import Any

import pytest

from lambdagent.cli import speech
from lambdagent.cli.main import main
from lambdagent.cli.output import Output, ReaderGoneError
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.effects.run_events import RunEvent, Token
from tests.cli.command import PATIENCE_S, Command, environment, scripted
from tests.cli.test_output import Broken, Terminal
from tests.effects.agents import Speaker, parallel, react
from tests.effects.local_server import LocalServer
from tests.mock_server import MockLLM, mock_llm, mock_llm_server

__all__ = ["mock_llm", "mock_llm_server"]


CHAIN = """\
type: chain
name: c
systemPrompt: p
model: {provider: scripted, script: {replies: [a]}}
chain: {steps: [{name: x, prompt: x}, {name: y, prompt: y}]}
"""


def test_the_words_of_an_answer_are_the_answer(command: Command):
    command.write("a.yml", scripted("one two  three\n\nfour"))
    done = command("run", "a.yml", "go", "--stream")
    assert (done.code, done.out) == (0, "one two  three\n\nfour\n")
    assert done.err == "Total: 1 β-reduction, 0.0s\n"


def test_the_answer_of_a_loop_stands_after_what_its_model_said(command: Command):
    done = command("run", "react.yml", "go", "--stream", "--tool", "wc=wc -c", "--quiet")
    assert done.code == 0
    assert done.out.splitlines() == [
        '{"tool": "wc", "args": "f.txt"}',
        '{"tool": "terminate", "args": "done"}',
        "done",
    ]
    assert done.err == ""


def test_an_output_file_gets_the_answer_alone(command: Command):
    command.write("a.yml", scripted("the answer"))
    done = command("run", "a.yml", "go", "--stream", "--output", "out.txt")
    assert done.out == "the answer\n"
    assert (command.folder / "out.txt").read_text() == "the answer\n"


def test_json_is_no_stream_of_words(command: Command):
    done = command("run", "simple.yml", "go", "--stream", "--format", "json")
    assert done.code == 2
    assert "`--stream` and `--format json` exclude each other" in done.err


def test_steps_stand_between_what_models_say(command: Command):
    done = command("run", "react.yml", "go", "--stream", "--verbose", "--tool", "wc=wc -c")
    assert [line.split()[1] for line in done.err.splitlines() if line.startswith("β[")] == [
        *("think", "route", "Tool:wc", "think", "route", "terminate"),
    ]


def test_a_kept_run_streams_and_goes_on_streaming(command: Command):
    command.write("a.yml", scripted("first"))
    done = command("run", "a.yml", "go", "--stream", "--checkpoint-dir", "runs")
    assert (done.code, done.out) == (0, "first\n")
    again = command("run", "--resume", "runs", "--stream")
    assert (again.code, again.out) == (0, "first\n")


def test_a_run_that_fails_ends_its_line(command: Command):
    command.write("a.yml", CHAIN)
    done = command("run", "a.yml", "go", "--stream")
    assert (done.code, done.out) == (1, "a\n")
    assert "error[E004]" in done.err


def test_control_characters_do_not_reach_the_terminal(command: Command):
    command.write("a.yml", scripted("red \x1b[31m and \x9b2J and \x07 bell\tand 你好"))
    out, err = Terminal(), Terminal()
    assert main(["run", "a.yml", "go", "--stream"], Output(out, err)) == 0
    assert out.getvalue() == "red �[31m and �2J and � bell\tand 你好\n"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out.getvalue())


def test_a_reader_that_goes_away_ends_the_run():
    model = Speaker(lambda call: "hello")
    out = Output(Broken(BrokenPipeError()), Terminal())
    stream = react(model).stream("go")
    with pytest.raises(ReaderGoneError):
        speech.printed(stream, out, lambda: None)


class Patient(Speaker):
    """A model that may wait: each call is on a thread of its own."""

    async def achat(self, call: ModelCall) -> Reply:
        return await asyncio.to_thread(self.chat, call)


def test_one_branch_is_printed_after_the_other(capsys: pytest.CaptureFixture[str]):
    first_is_heard, second_has_spoken = threading.Event(), threading.Event()

    def talk(call: Any) -> str:
        """Have the second speak while the first does."""
        if call.agent == "b0":
            call.speech.say("first ")
            assert second_has_spoken.wait(PATIENCE_S)
            call.speech.say("again")
            return "first again"
        assert first_is_heard.wait(PATIENCE_S)
        call.speech.say("second ")
        call.speech.say("too")
        second_has_spoken.set()
        return "second too"

    def hear(event: RunEvent) -> None:
        if isinstance(event, Token):
            first_is_heard.set()

    stream = parallel(Patient(talk, instant=False), 2).stream("go", listeners=[hear])
    result, said = speech.printed(stream, Output(), lambda: None)
    assert result.value == ("first again", "second too")
    assert said == "second too"
    assert capsys.readouterr().out == "first again\nsecond too\n"


def test_an_answer_that_breaks_off_begins_a_new_line(capsys: pytest.CaptureFixture[str]):
    def talk(call: Any) -> str:
        call.speech.say("one tw")
        call.speech.again()
        call.speech.say("one ")
        call.speech.say("two")
        return "one two"

    speech.printed(react(Speaker(talk)).stream("go"), Output(), lambda: None)
    said = capsys.readouterr()
    assert said.out == "one tw\none two\n"
    assert said.err == "the answer broke off, and begins anew\n"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_words_come_from_a_real_server_as_it_sends_them(
    command: Command, mock_llm: MockLLM, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", "sk-made-up")
    model = {"provider": kind, "name": "m", "baseUrl": getattr(mock_llm, kind)}
    config = {"type": "simple", "name": "a", "systemPrompt": "p", "model": model}
    command.write("a.yml", json.dumps(config))
    mock_llm.reply("Good day to you")
    done = command("run", "a.yml", "go", "--stream")
    assert (done.code, done.out) == (0, "Good day to you\n")
    assert "tokens" in done.err
    (request,) = mock_llm.requests()
    assert request["body"]["stream"] is True


@pytest.mark.slow
def test_ctrl_c_ends_a_stream_and_its_connection(command: Command):
    server = LocalServer()
    server.drips = b'data: {"choices": [{"index": 0, "delta": {"content": "more "}}]}\n\n'
    model = {"provider": "custom", "name": "m", "baseUrl": server.url}
    config = {"type": "simple", "name": "a", "systemPrompt": "p", "model": model}
    command.write("a.yml", json.dumps(config))
    process = subprocess.Popen(
        [sys.executable, "-m", "lambdagent", "run", "a.yml", "go", "--stream"],
        cwd=command.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), 5) == b"more "
    process.send_signal(2)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert err.decode().endswith("interrupted\n")
    assert server.hung_up.wait(PATIENCE_S)
    server.close()
