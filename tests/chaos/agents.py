"""The agents that chaos runs: hand-made, generated from seeds, and all that are shipped."""

import json
import re
import shlex
from pathlib import Path
from random import Random
from typing import Any

import attrs

from lambdagent import build_agent, from_config
from lambdagent.api.compiling import compile_term
from lambdagent.ir.program import Program
from tests.chaos.world import Client, Played

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODEL = {"provider": "openai", "name": "m"}
GENERATED = 12

Config = dict[str, Any]


def simple(name: str, prompt: str = "Speak.", **more: Any) -> Config:
    return {"type": "simple", "name": name, "systemPrompt": f"{prompt} {name}.", **more}


def react(name: str, **more: Any) -> Config:
    return {
        "type": "react",
        "name": name,
        "systemPrompt": f"[react] {name}.",
        "react": {"maxSteps": 5},
        "mcp": {"localTools": ["search", "terminate"]},
        **more,
    }


def guarded(name: str, *, fallback: bool = False) -> Config:
    validator = "'never' in x" if fallback else "'right' in x"
    guard = {"validator": validator, "retry": 2, "fallback": "last"}
    return simple(name, "[guarded]", guard=guard)


def chain(name: str, *steps: Config) -> Config:
    return {
        "type": "chain",
        "name": name,
        "systemPrompt": "Go on.",
        "chain": {"steps": list(steps)},
    }


def parallel(name: str, *branches: Config) -> Config:
    return {
        "type": "parallel",
        "name": name,
        "systemPrompt": "All.",
        "parallel": {"agents": list(branches), "merge": "custom", "mergePrompt": f"Merge {name}."},
    }


def router(name: str, left: Config, right: Config) -> Config:
    return {
        "type": "router",
        "name": name,
        "systemPrompt": "Choose.",
        "router": {
            "classifier": {"prompt": f"[route] {name}", "categories": ["a", "b"]},
            "routes": {"a": left, "b": right},
        },
    }


def generated(seed: int) -> Config:
    """A random agent; no two parts of it have one name."""
    random, names = Random(seed), iter(range(1_000))

    def make(depth: int) -> Config:
        name = f"n{next(names)}"
        forms = ["simple", "react", "guarded", "memory"]
        forms += ["chain", "parallel", "router"] * 2 if depth else []
        match random.choice(forms):
            case "react":
                return react(name)
            case "guarded":
                return guarded(name, fallback=random.random() < 0.3)
            case "memory":
                strategy = random.choice(["local", "sqlite"])
                return simple(name, memory={"strategy": strategy, "ttl": 60})
            case "chain":
                return chain(name, *(make(depth - 1) for _ in range(random.randint(1, 3))))
            case "parallel":
                return parallel(name, *(make(depth - 1) for _ in range(random.randint(2, 3))))
            case "router":
                return router(name, make(depth - 1), make(depth - 1))
        return simple(name)

    return chain(f"seed{seed}", make(2), make(2))


CONFIGS: dict[str, Config] = {
    "react": react("worker"),
    "council": parallel("council", *(simple(f"b{i}") for i in range(4))),
    "guarded": chain("edit", guarded("first"), guarded("second", fallback=True), simple("third")),
    "nested": chain(
        "outer",
        simple("opening"),
        parallel("middle", chain("inner", simple("x"), guarded("y")), react("z"), simple("w")),
        router("choice", simple("left"), react("right")),
    ),
    "confirmed": react("sender", confirm=["search"]),
    "confirmed council": parallel(
        "senders", *(react(f"b{i}", confirm=["search"]) for i in range(3))
    ),
    **{f"generated {seed}": generated(seed) for seed in range(GENERATED)},
}


@attrs.frozen
class Agent:
    """What runs.

    Attributes:
        input: What it is asked.
        tool: The name of the tool that it has, if it has one.
        config: None for an example.
    """

    name: str
    input: str = "the input"
    tool: str | None = None
    config: Config | None = None

    def overrides(self, client: Client) -> dict[str, Any]:
        """Whoever answers it: `client`, for an example as its script says."""
        found: dict[str, Any] = {"providers": {"openai": client}}
        if self.config is None:
            found["providers"] = {"scripted": Played(client)}
        if self.tool is not None:
            found["tools"] = {self.tool: client.tool(self.tool)}
        return found

    def program(self, client: Client) -> Program:
        if self.config is None:
            path = EXAMPLES / f"{self.name}.yml"
            return compile_term(from_config(path, **self.overrides(client)))
        config = {**self.config, "model": MODEL}
        return compile_term(build_agent(config, **self.overrides(client)), self.name)


def _hand_made(name: str, config: Config) -> Agent:
    return Agent(name, tool="search" if '"search"' in json.dumps(config) else None, config=config)


def _examples(path: Path) -> list[Agent]:
    """The runs that the comment of an example shows, each once."""
    shown = rf"^#   lambdagent run examples/{path.name} (.*)$"
    made = []
    for words in map(shlex.split, re.findall(shown, path.read_text(), re.MULTILINE)):
        tool = words[words.index("--tool") + 1].partition("=")[0] if "--tool" in words else None
        made.append(Agent(path.stem, words[0], tool))
    return list(dict.fromkeys(made))


AGENTS: dict[str, Agent] = {
    **{name: _hand_made(name, config) for name, config in CONFIGS.items()},
    **{
        f"{path.stem} example {number}": agent
        for path in sorted(EXAMPLES.glob("*.yml"))
        for number, agent in enumerate(_examples(path))
    },
}
