"""The agents that are measured: as text, and with providers that answer at once or late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lambdagent.api import compiling
from lambdagent.api.running import Session
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.frontend.build import build_term
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Term
from lambdagent.machine.engines import EngineName
from lambdagent.source import Source

_MODEL = "model: {provider: scripted, script: {replies: [ok]}}\n"

SIMPLE = f"""\
agentId: simple
name: greeter
description: Answers in one sentence.
type: simple
systemPrompt: You are friendly. Answer in one sentence.
{_MODEL}"""

REACT = f"""\
agentId: calculator
name: calculator
description: Calculates, with a tool if there is one.
type: react
systemPrompt: >-
  You calculate. Use the tool calc if there is one. When you know the result, call terminate.
{_MODEL}react:
  maxSteps: 5
  toolTimeout: 10
  earlyStop: len(observation) > 100
mcp:
  localTools: [terminate]
memory:
  enabled: true
  strategy: local
  size: 10
  ttl: 3600
guard:
  validator: len(x) <= 800 and not x.startswith('Error')
  retry: 2
  fallback: error
"""


def router(routes: int = 200) -> str:
    """Return a router of `routes` routes."""
    lines = [
        "agentId: router\nname: front-desk\ntype: router\nsystemPrompt: You work at a desk.\n",
        _MODEL,
        "router:\n  classifier:\n    prompt: What is the question about?\n  routes:\n",
        *(
            f"    topic{i}: {{type: simple, systemPrompt: You know topic {i}.}}\n"
            for i in range(routes)
        ),
        "  default: {type: simple, systemPrompt: Answer in one sentence.}\n",
    ]
    return "".join(lines)


def chain(steps: int = 500, settings: str = "") -> str:
    """Return a chain of `steps` prompts."""
    head = "agentId: chain\nname: chain\ntype: chain\nsystemPrompt: You write.\n"
    model = f"model: {{provider: scripted, script: {{replies: [ok]}}{settings}}}\n"
    stages = (f"    - name: s{i}\n      prompt: Do part {i} of the work.\n" for i in range(steps))
    return "".join([head, model, "chain:\n  steps:\n", *stages])


def react(max_steps: int, settings: str = "") -> str:
    """Return a ReAct agent whose tool `echo` is injected."""
    return (
        "agentId: loop\nname: loop\ntype: react\nsystemPrompt: Think.\n"
        f"model: {{provider: scripted, script: {{replies: [ok]}}{settings}}}\n"
        f"react: {{maxSteps: {max_steps}}}\nmcp: {{localTools: [terminate]}}\n"
    )


CONFIGURATIONS = {
    "simple": lambda: SIMPLE,
    "react+memory+guard": lambda: REACT,
    "router of 200": router,
    "chain of 500": chain,
}


def term_of(text: str, **overrides: Any) -> Term:
    """Return the term of an agent file that is in memory."""
    config = compiling.parse_config(Source("bench.yml", text), {})
    return build_term(config, compiling.make_overrides(**overrides))


def program_of(text: str, **overrides: Any) -> Program:
    """Return the core program of an agent file that is in memory."""
    return compiling.compile_term(term_of(text, **overrides))


class Generated:
    """A model without latency: its `count`-th reply ends the loop, the others call a tool."""

    instant = True

    def __init__(self, tool: str = "echo") -> None:
        self.tool = tool
        self.left = 0

    def text(self) -> str:
        """Return the next reply."""
        self.left -= 1
        if self.left <= 0:
            return '{"tool": "terminate", "args": "done"}'
        return f'{{"tool": "{self.tool}", "args": "item {self.left}"}}'

    def chat(self, _call: ModelCall) -> Reply:
        return Reply(self.text())

    async def achat(self, call: ModelCall) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        """Hold nothing."""


class Constant(Generated):
    """A model without latency that says one thing."""

    def text(self) -> str:
        return "ok"


class Late(Constant):
    """A model that takes its time without using any."""

    instant = False

    def __init__(self, latency_s: float) -> None:
        super().__init__()
        self.latency_s = latency_s

    async def achat(self, call: ModelCall) -> Reply:
        await asyncio.sleep(self.latency_s)
        return self.chat(call)


def echo(value: str) -> str:
    """Return what it was given."""
    return value


async def echo_soon(value: str) -> str:
    """Return what it was given, on the event loop."""
    return value


def sessions(program: Program, engine: EngineName | None = None) -> Callable[[], Session]:
    """Return what makes fresh sessions of `program` on an engine."""
    return lambda: Session(program, engine=engine, environment={})
