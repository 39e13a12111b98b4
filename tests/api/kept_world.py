"""Agents that are kept on disk, and the world they ask: it counts, and it can die under a run."""

import asyncio
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent import build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.api.kept import Run
from lambdagent.desugar.conversation import SUMMARY_PROMPT
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Tool

MODEL = {"provider": "openai", "name": "m"}


class KilledError(BaseException):
    """Stands for the end of a process."""


@attrs.define(eq=False)
class World:
    """Models and tools whose answers depend on nothing but the question.

    Attributes:
        die_at: The number of the call that does not come back.
        carried_out: Whether that one is carried out before.
        snapshots: Where the files of the run at every call go: what a kill there would leave.
    """

    say: Callable[[str], str]
    die_at: int | None = None
    carried_out: bool = True
    snapshots: Path | None = None
    run: Path | None = None
    asked: list[str] = attrs.field(factory=list)
    count: int = 0
    instant: bool = False
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def chat(self, call: ModelCall) -> Reply:
        text = "\n".join(message.text for message in call.render())
        return Reply(self._answer(f"{call.agent}: {text}", lambda: self.say(text)))

    async def achat(self, call: ModelCall) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        pass

    def search(self, q: str) -> str:
        """Search for it."""
        return self._answer(f"search: {q}", lambda: f"found {q}")

    def _answer(self, question: str, answer: Callable[[], str]) -> str:
        with self._lock:
            number, self.count = self.count, self.count + 1
            if self.snapshots is not None and self.run is not None:
                shutil.copytree(self.run, self.snapshots / f"{number:03}")
            if number == self.die_at and not self.carried_out:
                raise KilledError
            self.asked.append(question)
            if number == self.die_at:
                raise KilledError
        return answer()

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.asked)

    @property
    def tools(self) -> dict[str, Any]:
        return {"tools": {"search": self.search}, **self.bound}

    @property
    def bound(self) -> dict[str, Any]:
        return {"providers": {"openai": self}}


def searching(rounds: int) -> Callable[[str], str]:
    """Say to search `rounds` times, then to end; the number is read off the conversation."""

    def say(text: str) -> str:
        return _next(text.count("found q"), rounds)

    return say


def noting(rounds: int) -> Callable[[str], str]:
    """Say the same where the conversation is summarised: the notes say how far it has come."""

    def say(text: str) -> str:
        found = 1 + max(map(int, re.findall(r"found q(\d+)", text)), default=-1)
        if text.startswith(SUMMARY_PROMPT[:20]):
            return f"found q{found - 1}"  # as long as the notes before
        return _next(found, rounds)

    return say


def _next(found: int, rounds: int) -> str:
    if found < rounds:
        return f'{{"tool": "search", "args": "q{found}"}}'
    return f'{{"tool": "terminate", "args": "done after {found}"}}'


def react_config(rounds: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "react",
        "name": "worker",
        "systemPrompt": "Work.",
        "model": MODEL,
        "react": {"maxSteps": rounds + 1},
        "mcp": {"localTools": ["search", "terminate"]},
        **more,
    }


def react(world: World, rounds: int = 3, *, idempotent: bool = False, **more: Any) -> Program:
    """A ReAct agent whose one tool is counted."""
    tool = Tool("search", world.search, description="Search for it.", idempotent=idempotent)
    config = react_config(rounds, **more)
    return compile_term(build_agent(config, tools={"search": tool}, **world.bound), "worker")


def council(world: World, count: int = 3, **inner: Any) -> Program:
    """An agent of `count` branches that all ask a model, and one that merges."""
    branch = {"type": "simple", "systemPrompt": "Speak.", **inner}
    config = {
        "type": "parallel",
        "name": "council",
        "systemPrompt": "All.",
        "model": MODEL,
        "parallel": {
            "agents": [
                {"name": f"b{i}", **branch, "systemPrompt": f"Speak {i}."} for i in range(count)
            ],
            "merge": "custom",
            "mergePrompt": "Merge.",
        },
    }
    return compile_term(build_agent(config, **world.bound), "council")


def agent(world: World, **config: Any) -> Program:
    """Any agent whose models are `world`."""
    made = {"name": "one", "systemPrompt": "Speak.", "model": MODEL, **config}
    return compile_term(build_agent(made, **world.bound), "one")


def load(path: Path, world: World, **options: Any) -> Run:
    """The run in `path`, its models and tools answered by `world`."""
    is_react = (path / "program.json").read_text().find('"tool:search"') >= 0
    tools = {"search": world.search} if is_react else None
    return Run.load(path, tools=tools, **world.bound, fsync=False, **options)


def plain(records: Any) -> list[Any]:
    """Trace records without times, and without notes, which come after a record is shown."""
    return [attrs.evolve(each, started_s=None, elapsed_s=0.0, notes=()) for each in records]


@pytest.fixture(params=["sync", "async"])
def go_on(request):
    """One of the two ways to go on with a run."""

    def move(run: Run, **options):
        if request.param == "sync":
            return run.resume(**options)
        return asyncio.run(run.aresume(**options))

    return move


def clock() -> float:
    """The same time at every call."""
    return 1_000.0


def echo(text: str) -> str:
    return f"answer of {len(text)} to {text[-20:]}"


def undisturbed(make, tmp_path, say=echo):
    """The result of a run that nothing happens to, and its world."""
    world = World(say)
    with Run.begin(make(world), "in", tmp_path / "whole", fsync=False, clock=clock) as run:
        return run.resume(), world


def same(result, whole) -> None:
    assert result.value == whole.value
    assert result.store == whole.store
    assert result.counters == whole.counters
    assert result.transitions == whole.transitions
    assert plain(result.trace) == plain(whole.trace)
    assert [each.notes for each in result.trace] == [each.notes for each in whole.trace]
