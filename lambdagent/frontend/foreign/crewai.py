"""CrewAI: agents.yaml and tasks.yaml, and what crew.py adds to them.

A crew whose tasks run one after another is a chain; each task is one call of its agent, or a
ReAct loop if the agent or the task has tools. Tasks in a row that nobody waits for are branches
of a parallel agent.

Source: https://docs.crewai.com/concepts/agents, /concepts/tasks, /concepts/crews
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from lambdagent.errors import ConfigError, finding
from lambdagent.frontend.foreign.blocks import Block, read_blocks
from lambdagent.frontend.foreign.crewai_code import Code, read_code
from lambdagent.frontend.foreign.draft import Agent, Draft, Imported
from lambdagent.frontend.foreign.models import USUAL, model_named, settings
from lambdagent.messages import phrase
from lambdagent.source import Source, Span

CREWAI: Final = "CrewAI"
_PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_][\w-]*)\}(?!\})")
# What changes nothing that a run answers: logs, caches, limits of the service.
_SILENT: Final = (
    "cache", "fingerprint", "inject_date", "max_rpm", "max_retry_limit", "respect_context_window",
    "security_config", "tracing", "use_system_prompt", "verbose", "markdown", "name",
)  # fmt: skip
_SEES_ONE = phrase("a step sees the answer of the step before it, and no other")


def import_crew(agents: Source, tasks: Source | None, code: Source | None) -> Imported:
    """Return the agent file that a crew makes.

    Args:
        agents: agents.yaml.
        tasks: tasks.yaml; without it there must be one agent.
        code: crew.py, which is parsed and never run.

    Raises:
        ConfigError: One of them cannot be read, or there is no agent.
    """
    draft = Draft()
    crew = _Crew(draft, agents, read_code(code, draft) if code is not None else Code())
    agent = crew.alone(agents) if tasks is None else crew.working(tasks)
    crew.finish()
    sources = [each for each in (agents, tasks, code) if each is not None]
    return draft.imported(agent, CREWAI, sources)


@attrs.frozen
class _Person:
    """An agent of the crew."""

    name: str
    prompt: str
    model: dict[str, Any]
    tools: tuple[str, ...]
    max_steps: int | None


class _Crew:
    def __init__(self, draft: Draft, agents: Source, code: Code) -> None:
        self.draft = draft
        self.code = code
        root = read_blocks(agents, draft, CREWAI)
        self.blocks = {name: root.block(name) for name in root.keys}
        self.people: dict[str, _Person] = {}
        if not any(self.blocks.values()):
            hint = phrase("agents.yaml holds a mapping of names to `role`, `goal` and `backstory`")
            found = finding("I011", root.span(), what=phrase("agent"), path=agents.name, hint=hint)
            raise ConfigError(found, agents)

    # --- agents ---

    def person(self, name: str) -> _Person | None:
        """Return the agent called `name`; None if there is none."""
        block = self.blocks.get(name)
        if block is None:
            return None
        if name not in self.people:
            self.people[name] = self.read_person(name, block)
        return self.people[name]

    def read_person(self, name: str, block: Block) -> _Person:
        role, goal, backstory = (
            _text(block, key, self.draft) for key in ("role", "goal", "backstory")
        )
        parts = [
            f"You are {role}." if role else "",
            backstory,
            f"Your goal: {goal}" if goal else "",
        ]
        model = self.model(name, block)
        tools = [*_tools(block, self.draft), *self.code.agent_tools(name)]
        max_steps = block.whole("max_iter", 10_000)
        block.ignore(_SILENT)
        if "allow_delegation" in block.keys and block.flag("allow_delegation"):
            block.lost("allow_delegation", phrase("no step of a chain can hand over its work"))
        block.finish()
        return _Person(name, _joined(parts), model, tuple(tools), max_steps)

    def model(self, person: str, block: Block) -> dict[str, Any]:
        if person in self.code.models:
            block.ignore(["llm"])
            return model_named(block, "llm", None, self.code.models[person], {})
        if "llm" not in block.keys:
            return dict(USUAL)
        if block.is_text("llm"):
            name, base = block.text("llm"), {}
        else:
            inner = block.block("llm")
            if inner is None:
                return dict(USUAL)
            name, base = inner.text("model"), settings(inner)
            inner.finish()
        if not name:
            return {**USUAL, **base}
        return model_named(block, "llm", None, name, base)

    def alone(self, agents: Source) -> Agent:
        """Return the one agent that there is."""
        if len(self.blocks) > 1:
            hint = phrase("put tasks.yaml beside it: it says who does what, in which order")
            raise ConfigError(
                finding("I011", what=phrase("task"), path=agents.name, hint=hint), agents
            )
        person = self.person(next(iter(self.blocks)))
        assert person is not None
        return self.draft.agent(
            person.name, person.prompt, person.model, person.tools, person.max_steps
        )

    # --- tasks ---

    def working(self, source: Source) -> Agent:
        """Return the tasks of `source`, one after another."""
        root = read_blocks(source, self.draft, CREWAI)
        blocks = {name: root.block(name) for name in root.keys}
        order = self.code.order([name for name, block in blocks.items() if block is not None])
        if not order:
            hint = phrase("tasks.yaml holds a mapping of names to `description` and `agent`")
            found = finding("I011", root.span(), what=phrase("task"), path=source.name, hint=hint)
            raise ConfigError(found, source)
        steps: list[Agent] = []
        groups: list[list[str]] = []
        for group in _groups(order, blocks):
            made = [self.step(name, blocks[name], groups) for name in group]
            steps.append(self.draft.parallel(" and ".join(group)[:80], made))
            groups.append(group)
        return self.draft.chain("crew", steps)

    def step(self, name: str, block: Block | None, groups: Sequence[Sequence[str]]) -> Agent:
        """Return the task `name`, which comes after the tasks in `groups`."""
        assert block is not None
        description, expected = (
            _text(block, key, self.draft) for key in ("description", "expected_output")
        )
        person = self.worker(block)
        parts = [
            "" if person is None else person.prompt,
            f"Your task: {description}" if description else "",
            f"What is expected of the answer: {expected}" if expected else "",
        ]
        _seen(block, groups)
        tools = [*_tools(block, self.draft), *self.code.task_tools(name)]
        if person is not None:
            tools += person.tools
        block.ignore((*_SILENT, "async_execution"))
        block.finish()
        return self.draft.agent(
            name,
            _joined(parts),
            dict(USUAL) if person is None else person.model,
            tools,
            None if person is None else person.max_steps,
        )

    def worker(self, block: Block) -> _Person | None:
        name = block.text("agent")
        if not name:
            self.draft.lose(
                "I001",
                block.source,
                block.span(),
                field=block.path("agent"),
                reason=phrase("it is left out, so nobody is said to do the task"),
            )
            return None
        person = self.person(name)
        if person is None:
            block.lost("agent", phrase("agents.yaml has no `{name}`", name=name))
        return person

    def finish(self) -> None:
        """Note the agents that no task uses."""
        for name, block in self.blocks.items():
            if block is not None and name not in self.people:
                reason = phrase("no task is given to it")
                self.draft.lose("I001", block.source, block.span(), field=name, reason=reason)


def _seen(block: Block, groups: Sequence[Sequence[str]]) -> None:
    """Note which answers a task after `groups` would see in CrewAI and does not see here."""
    if "context" not in block.keys:
        block.ignore(["context"])
        if len(groups) > 1:
            block.lost(
                "context",
                phrase("it would be all tasks before; {more}", more=_SEES_ONE),
                block.span(),
            )
        return
    last = groups[-1] if groups else ()
    for name, where in block.texts("context"):
        if name not in last:
            block.lost(
                "context", phrase("it names `{name}`; {more}", name=name, more=_SEES_ONE), where
            )


def _groups(order: Sequence[str], blocks: dict[str, Block | None]) -> Iterator[list[str]]:
    """Yield the tasks in order; those in a row that nobody waits for stand together."""
    together: list[str] = []
    for name in order:
        block = blocks[name]
        if block is not None and block.flag("async_execution"):
            together.append(name)
            continue
        if together:
            yield together
            together = []
        yield [name]
    if together:
        yield together


def _text(block: Block, key: str, draft: Draft) -> str:
    """Return the text of `key`, and note each input that it names."""
    text = block.text(key) or ""
    for name in dict.fromkeys(_PLACEHOLDER.findall(text)):
        where: Span | None = block.span(key)
        draft.lose("I003", block.source, where, name=f"{{{name}}}", field=block.path(key))
    return text


def _tools(block: Block, draft: Draft) -> list[str]:
    found = block.texts("tools")
    for name, where in found:
        draft.lose("I002", block.source, where, name=name)
    return [name for name, _ in found if name]


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
