"""What a reader of foreign files makes: agents as data, and what was left out.

In: parts of agents. Out: the text of an agent file, whose head lists what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from lambdagent.errors import ConfigError, Diagnostic, finding
from lambdagent.frontend.yaml_text import print_yaml
from lambdagent.ir.labels import OTHER, TERMINATE
from lambdagent.messages import phrase, say
from lambdagent.source import Source, Span

Agent: TypeAlias = "dict[str, Any]"

MAX_AGENTS = 500
MAX_CHARACTERS = 4 << 20  # of prompts and names of tools, as often as they are written
MAX_LEVELS = 15  # of agents in agents; a file nests up to 100 levels, an agent takes four
_MAX_STEPS = 10_000
_HEAD_LINES = 40

NO_MATCH: Final = phrase("an agent file has nothing that stands for it")

_TEAM: Final = "You work in a team. Do the part that is described here."


@attrs.frozen
class Imported:
    """An agent file, and what it lacks.

    Attributes:
        text: The file.
        losses: What was left out, with the file where it stands, in the order of files and lines.
    """

    text: str
    losses: tuple[tuple[Source, Diagnostic], ...]


class Draft:
    """Collects what is left out, and makes agents."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.found: list[tuple[Source, Diagnostic]] = []
        self.agents = 0
        self.characters = 0

    # --- what is left out ---

    def lose(self, code: str, source: Source, where: Span | None, **values: Any) -> None:
        """Note that something is left out."""
        self.found.append((source, finding(code, where, **values)))

    def losses(self) -> tuple[tuple[Source, Diagnostic], ...]:
        """Return what was left out, each once, by file and line."""
        order: dict[str, int] = {}
        for source, _ in self.found:
            order.setdefault(source.name, len(order))
        distinct = dict.fromkeys(self.found)
        return tuple(sorted(distinct, key=lambda each: (order[each[0].name], *_place(each[1]))))

    # --- agents ---

    def agent(
        self,
        name: str,
        prompt: str,
        model: Mapping[str, Any] | None,
        tools: Iterable[str] = (),
        max_steps: int | None = None,
    ) -> Agent:
        """Return an agent that asks a model; with tools it is a ReAct loop."""
        tools = list(dict.fromkeys([TERMINATE, *tools])) if tools else []
        self.count(len(prompt) + sum(map(len, tools)))
        made = self._named("react" if tools else "simple", name)
        made["systemPrompt"] = prompt or f"You are {made['name']}."
        if model:
            made["model"] = dict(model)
        if tools:
            if max_steps is not None:
                made["react"] = {"maxSteps": max(1, min(max_steps, _MAX_STEPS))}
            made["mcp"] = {"localTools": tools}
        return made

    def chain(self, name: str, steps: list[Agent]) -> Agent:
        """Return `steps` one after another; one step stands for itself."""
        if len(steps) == 1:
            return steps[0]
        return {
            **self._made("chain", name),
            "systemPrompt": _TEAM,
            "chain": {"steps": steps},
        }

    def parallel(self, name: str, agents: list[Agent]) -> Agent:
        """Return `agents` side by side, their answers joined."""
        if len(agents) == 1:
            return agents[0]
        return {
            **self._made("parallel", name),
            "systemPrompt": _TEAM,
            "parallel": {"agents": agents, "merge": "concat"},
        }

    def choice(
        self,
        name: str,
        prompt: str,
        members: Sequence[tuple[str, str, Agent]],
        model: Mapping[str, Any] | None = None,
        default: Agent | None = None,
    ) -> Agent:
        """Return a router that chooses who answers.

        Args:
            name: What it is called.
            prompt: What the classifier is told first.
            members: The name, the description and the agent of each.
            model: Who chooses; the first model of the members by default.
            default: Who answers when none fits; the first of the members by default.
        """
        routes: dict[str, Agent] = {}
        lines = ["Who should answer? Say the name alone, one of these:"]
        for each, about, agent in members:
            label = category(each, routes)
            routes[label] = agent
            lines.append(f"- {label}: {about}" if about else f"- {label}")
        classifier: dict[str, Any] = {"prompt": "\n".join(lines)}
        model = model or first_model(routes.values())
        if model:
            classifier["model"] = dict(model)
        if default is None:
            first = members[0][2]
            self.count(len(str(first)))
            default = {**first, "name": f"{first['name']} by default"}
        return self.router(name, prompt, classifier, routes, default)

    def router(
        self,
        name: str,
        prompt: str,
        classifier: Mapping[str, Any],
        routes: Mapping[str, Agent],
        default: Agent | None,
    ) -> Agent:
        """Return a choice between `routes`.

        Args:
            name: What it is called.
            prompt: What the classifier is told first.
            classifier: Its fields, but for the categories, which are the names of the routes.
            routes: Agents by category.
            default: Who answers when none fits.
        """
        made = self._made("router", name)
        made["systemPrompt"] = prompt or "Choose who answers."
        made["router"] = {
            "classifier": {**classifier, "categories": list(routes)},
            "routes": dict(routes),
        }
        if default is not None:
            made["router"]["default"] = default
        return made

    def count(self, characters: int) -> None:
        """Count one more agent, which is written in so many `characters`.

        Raises:
            ConfigError: There are too many, or what is written is too large.
        """
        self.agents += 1
        self.characters += characters
        if self.agents > MAX_AGENTS:
            raise ConfigError(finding("I012", limit=MAX_AGENTS))
        if self.characters > MAX_CHARACTERS:
            raise ConfigError(finding("I015", limit=f"{MAX_CHARACTERS >> 20} MB"))

    def _made(self, kind: str, name: str) -> Agent:
        self.count(0)
        return self._named(kind, name)

    def _named(self, kind: str, name: str) -> Agent:
        return {"type": kind, "name": name.strip() or kind}

    # --- the file ---

    def imported(self, agent: Agent, framework: str, sources: Iterable[Source]) -> Imported:
        """Return the agent file that holds `agent`."""
        hoist_model(agent)
        losses = self.losses()
        names = ", ".join(source.name.rpartition("/")[2] for source in sources)
        head = [
            say("Imported from {framework}: {names}", framework=framework, names=names),
            *_listed(losses),
        ]
        return Imported(print_yaml(agent, {(): head}), losses)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    where = diagnostic.where
    return (where.line, where.column) if where else (0, 0)


def _listed(losses: tuple[tuple[Source, Diagnostic], ...]) -> Iterator[str]:
    if losses:
        yield ""
        yield say("Not carried over:")
    for source, loss in losses[:_HEAD_LINES]:
        line = "" if loss.where is None else f":{loss.where.line}"
        yield f"  {source.name.rpartition('/')[2]}{line}: {loss.what}"
    if len(losses) > _HEAD_LINES:
        more = say("and {count} more", count=len(losses) - _HEAD_LINES)
        yield f"  {more}"


def category(name: str, taken: Iterable[str]) -> str:
    """Return a category called like `name`, which is not `taken` and not ``_``."""
    stem = " ".join(name.split())
    stem = stem if stem and stem != OTHER else "route"
    known = set(taken)
    return next(
        each
        for each in (stem, *(f"{stem} {n}" for n in range(2, len(known) + 3)))
        if each not in known
    )


def first_model(agents: Iterable[Agent]) -> dict[str, Any] | None:
    """Return the first model that one of `agents` has."""
    owners = (owner for agent in agents for owner in _owners(agent))
    found = next(owners, None)
    return None if found is None else dict(found["model"])


def hoist_model(root: Agent) -> None:
    """Write a model that all agents of `root` share once, at the top."""
    owners = list(_owners(root))
    models = [owner["model"] for owner in owners]
    at_root = any(owner is root for owner in owners)
    if at_root or not models or any(each != models[0] for each in models):
        return
    for owner in owners:
        owner.pop("model", None)  # an agent may stand at two places
    body = dict(root)
    root.clear()
    for key, value in body.items():
        root[key] = value
        if key == "systemPrompt":
            root["model"] = models[0]


def _owners(root: Any) -> Iterator[Agent]:
    """Yield what has a model of its own: agents and classifiers, outer before inner."""
    stack = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            if isinstance(part.get("model"), dict):
                yield part
            stack += [value for key, value in part.items() if key != "model"][::-1]
        elif isinstance(part, list):
            stack += part[::-1]
