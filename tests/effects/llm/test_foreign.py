"""Objects of others: asynchronous ones keep their event loop, and the log tells of them, too."""

import asyncio
import logging
import os
import signal
import threading
import warnings
from typing import Any

import pytest

from lambdagent import Session, build_agent
from lambdagent.effects.llm import foreign
from lambdagent.effects.llm.foreign import ForeignProvider
from lambdagent.effects.protocol import Cancellation, Message
from lambdagent.errors import EffectError
from tests.effects.calls import model_call


class Client:
    """As clients of HTTP are: it lives on the loop on which it was used first."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.asked = threading.Event()
        self.ended: list[str] = []

    async def chat(self, messages: list[dict[str, Any]]) -> str:
        loop = asyncio.get_running_loop()
        self.loop = self.loop or loop
        if self.loop is not loop:
            what = "used on another loop"
            raise RuntimeError(what)
        if messages[-1]["content"] == "wait":
            self.asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.append("cancelled")
        return "fine"

    async def close(self) -> None:
        assert asyncio.get_running_loop() is self.loop
        self.ended.append("closed")


def made(client: object, *, is_ours: bool = True) -> ForeignProvider:
    return ForeignProvider("mine", client, "mend it", is_ours=is_ours)


def test_an_asynchronous_object_lives_on_one_loop():
    """In all threads, and to its end."""
    client = Client()
    provider = made(client)
    said: list[str] = []

    def branch() -> None:
        said.extend(provider.chat(model_call()).text for _ in range(3))

    branches = [threading.Thread(target=branch) for _ in range(3)]
    for each in branches:
        each.start()
    for each in branches:
        each.join()
    assert said == ["fine"] * 9
    provider.close()
    assert client.ended == ["closed"]
    assert client.loop is not None
    assert client.loop.is_closed()


async def test_where_a_run_is_awaited_it_lives_on_the_loop_of_the_caller():
    client = Client()
    provider = made(client, is_ours=False)
    assert [(await provider.achat(model_call())).text for _ in range(2)] == ["fine"] * 2
    assert client.loop is asyncio.get_running_loop()
    provider.close()
    assert client.ended == []


def test_who_stops_waiting_ends_what_it_does():
    client, cancel = Client(), Cancellation()
    provider = made(client)
    threading.Thread(target=lambda: client.asked.wait() and cancel.cancel()).start()
    with pytest.raises(EffectError, match="CancelledError"):
        provider.chat(model_call(messages=(Message("user", "wait"),), cancel=cancel))
    provider.close()
    assert client.ended == ["cancelled", "closed"]


def test_what_ends_programs_is_raised_where_somebody_waits():
    class Ending:
        async def chat(self, _messages: object) -> str:
            raise KeyboardInterrupt

    provider = made(Ending())
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            provider.chat(model_call())
    provider.close()


class Leaving:
    def chat(self, _messages: object) -> str:
        raise SystemExit(3)


class LeavingLater:
    async def chat(self, _messages: object) -> str:
        raise SystemExit(3)

    async def close(self) -> None:
        raise SystemExit(4)


@pytest.mark.parametrize("kind", [Leaving, LeavingLater])
async def test_a_model_that_would_end_the_process_has_failed(kind: type):
    provider = foreign.adapted("custom", kind(), "mend it", is_ours=True)
    for failing in (provider.achat(model_call()), asyncio.to_thread(provider.chat, model_call())):
        with pytest.raises(EffectError, match="SystemExit: 3"):
            await failing
    await asyncio.to_thread(provider.close)


def test_what_does_not_end_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    over = threading.Event()

    class Stubborn:
        async def chat(self, _messages: object) -> str:
            while not over.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue
            return "fine"

    monkeypatch.setattr(foreign, "_PATIENCE_S", 0.05)
    provider, cancel = made(Stubborn()), Cancellation()
    threading.Timer(0.05, cancel.cancel).start()
    with pytest.raises(EffectError):
        provider.chat(model_call(cancel=cancel))
    provider.close()
    over.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_has_a_loop_of_its_own():
    class Plain:
        async def chat(self, _messages: object) -> str:
            return "fine"

    provider = made(Plain())
    assert provider.chat(model_call()).text == "fine"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(20)  # a hanging child dies of it
        os._exit(0 if provider.chat(model_call()).text == "fine" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    provider.close()


def test_a_session_ends_the_threads_of_objects_and_leaves_these_open():
    client = Client()
    model = {"provider": "openai", "name": "m"}
    config = {"type": "simple", "systemPrompt": "p", "model": model}
    with Session(build_agent(config, providers={"openai": client})) as session:
        assert [session.run("a").value, session.run("b").value] == ["fine", "fine"]
    assert client.ended == []
    assert not [each for each in threading.enumerate() if "openai" in each.name]


@pytest.mark.parametrize("is_awaited", [False, True])
def test_the_log_tells_of_objects_too(caplog: pytest.LogCaptureFixture, is_awaited: bool):
    caplog.set_level(logging.DEBUG, "lambdagent")
    provider = made(Client())
    if is_awaited:
        asyncio.run(provider.achat(model_call()))
    else:
        provider.chat(model_call())
    with pytest.raises(EffectError):
        made(None).chat(model_call())
    told = [each.getMessage() for each in caplog.records if each.name == "lambdagent"]
    assert told[0] == "llm:writer: Client.chat, request 1"
    assert '"content": "Be brief."' in told[1]
    assert "answered in" in told[2]
    assert told[-2].startswith("llm:writer: E002 after")
    provider.close()


def test_thoughts_come_back_to_objects_that_told_them():
    asked: list[Any] = []

    class Thinker:
        def chat(self, messages: list[dict[str, Any]], tools: object) -> object:
            asked.append(messages)
            if len(asked) > 1:
                return "fine"
            return {"text": "", "tool_calls": [{"name": "look"}], "reasoning": "I have to look."}

    model = {"provider": "custom", "name": "m", "toolCalling": "native"}
    config = {"type": "react", "name": "a", "systemPrompt": "p", "model": model}
    tools = {"look": lambda: "seen"}
    agent = build_agent(config, tools=tools, providers={"custom": Thinker()})
    with Session(agent) as session:
        assert session.run("x").value == "fine"
    assert [each.get("reasoning") for each in asked[1]] == [None, None, "I have to look.", None]
