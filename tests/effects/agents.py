"""Agents whose model is a Python function, for the tests of whole runs."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from lambdagent import Result, Session, Term, build_agent
from lambdagent.effects.protocol import Cancellation, ModelCall, Reply

PATIENCE_S = 20.0
MODEL = {"provider": "openai", "name": "m"}
Say = Callable[[ModelCall], str]


@attrs.frozen(eq=False)
class Speaker:
    """A provider that answers with what a function makes of a call, at once."""

    say: Say
    calls: list[ModelCall] = attrs.field(factory=list)
    instant: bool = True

    def chat(self, call: ModelCall) -> Reply:
        self.calls.append(call)
        return Reply(self.say(call))

    async def achat(self, call: ModelCall) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        pass

    @property
    def asked(self) -> list[str]:
        """The newest message of each call."""
        return [call.last_text for call in self.calls]


def speaker(*replies: str) -> Speaker:
    """Return a provider that gives `replies` in order."""
    left = list(replies)
    return Speaker(lambda _: left.pop(0))


def react(provider: object, tools: Mapping[str, Any] | None = None, **react: Any) -> Term:
    """Return a ReAct agent with `tools`."""
    config = {
        "type": "react",
        "name": "worker",
        "systemPrompt": "Work.",
        "model": MODEL,
        "react": react,
        "mcp": {"localTools": ["terminate"]},
    }
    return build_agent(config, providers={"openai": provider}, tools=tools)


def parallel(provider: object, count: int, **agent: Any) -> Term:
    """Return an agent of `count` branches, ``b0``, ``b1``, …, all of them `agent`."""
    inner = {"type": "simple", "systemPrompt": "Speak.", **agent}
    branches = [{"name": f"b{i}", **inner} for i in range(count)]
    config = {
        "type": "parallel",
        "name": "council",
        "systemPrompt": "All.",
        "model": MODEL,
        "parallel": {"agents": branches, "merge": "tuple"},
    }
    return build_agent(config, providers={"openai": provider})


@attrs.frozen
class Face:
    """One of the two faces of the driver."""

    name: str

    def run(self, session: Session, value: object, **options: Any) -> Result:
        """Run the agent of `session`."""
        if self.name == "sync":
            return session.run(value, **options)
        return asyncio.run(session.arun(value, **options))

    def ask(self, agent: Term, value: object, **options: Any) -> Result:
        """Run `agent` in a session of its own."""
        with Session(agent) as session:
            return self.run(session, value, **options)


@pytest.fixture(params=["sync", "sync on cek", "async"])
def face(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Face:
    """The face of the driver that a test runs through."""
    name, _, engine = request.param.partition(" on ")
    if engine:
        monkeypatch.setenv("LAMBDAGENT_ENGINE", engine)
    return Face(name)


def call(tool: str, args: object = "x") -> str:
    """Return what a model says to call `tool`."""
    import json

    return json.dumps({"tool": tool, "args": args})


def say(text: str) -> str:
    """Return what a model says to end with `text`."""
    return call("terminate", text)


__all__ = [
    "Cancellation",
    "Face",
    "Speaker",
    "call",
    "face",
    "parallel",
    "react",
    "say",
    "speaker",
]
