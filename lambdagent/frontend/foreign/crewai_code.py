"""crew.py of CrewAI → the tools, the order and the process that it gives to what the YAML says.

The file is parsed, never run. It holds a class whose methods, marked with ``@agent`` and
``@task``, return ``Agent(config=self.agents_config['name'], …)`` and the like.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import attrs

from lambdagent.frontend.foreign.draft import NO_MATCH, Draft
from lambdagent.frontend.foreign.python_code import (
    Module,
    Names,
    assigned,
    is_nothing,
    name_of,
    parse_python,
    walk,
)
from lambdagent.frontend.foreign.python_code import text_of as text_in
from lambdagent.messages import Phrase, phrase
from lambdagent.source import Source

_KINDS = {"agent": "Agent", "task": "Task", "crew": "Crew"}
# What the YAML says, or changes nothing that a run answers.
_READ = {"config", "tools", "verbose", "agents", "tasks", "cache", "max_rpm", "agent", "name"}
_READ |= {"process", "tracing"}


@attrs.frozen
class Code:
    """What crew.py says.

    Attributes:
        tools: Names of tools by kind, ``agent`` or ``task``, and name.
        models: Names of models by agent.
        tasks: The tasks in the order of their methods.
    """

    tools: dict[tuple[str, str], tuple[str, ...]] = attrs.field(factory=dict)
    models: dict[str, str] = attrs.field(factory=dict)
    tasks: tuple[str, ...] = ()

    def agent_tools(self, name: str) -> tuple[str, ...]:
        """Return the tools of an agent."""
        return self.tools.get(("agent", name), ())

    def task_tools(self, name: str) -> tuple[str, ...]:
        """Return the tools of a task."""
        return self.tools.get(("task", name), ())

    def order(self, names: list[str]) -> list[str]:
        """Return `names` as the code orders them; those that it does not name come last."""
        first = [name for name in self.tasks if name in names]
        return [*dict.fromkeys(first), *(name for name in names if name not in first)]


def read_code(source: Source, draft: Draft) -> Code:
    """Return what `source` says; what is left out of it is noted in `draft`.

    Raises:
        ConfigError: It is no Python.
    """
    module = parse_python(source)
    names = assigned(module.tree)
    code = Code()
    tasks: list[str] = []
    for kind, method, made in _methods(module.tree):
        name = _config(made) or method
        if kind == "task":
            tasks.append(name)
        for keyword in made.keywords:
            if keyword.arg == "tools":
                code.tools[kind, name] = tuple(_tools(keyword.value, names, module, draft))
            elif (
                kind == "agent" and keyword.arg == "llm" and (llm := text_in(keyword.value, names))
            ):
                code.models[name] = llm
            elif keyword.arg == "process" and name_of(keyword.value) != "sequential":
                reason = phrase("the tasks run one after another")
                _lose(draft, module, keyword, reason)
            elif keyword.arg not in _READ and not is_nothing(keyword.value):
                _lose(draft, module, keyword, NO_MATCH)
    return attrs.evolve(code, tasks=tuple(tasks))


def _methods(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield the kind and the name of each marked method, and the call that makes its object."""
    for node in walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            kind = name_of(decorator)
            made = _made(node, _KINDS[kind]) if kind in _KINDS else None
            if made is not None:
                yield kind, node.name, made


def _made(method: ast.FunctionDef, kind: str) -> ast.Call | None:
    calls = (node for node in walk(method) if isinstance(node, ast.Call))
    return next((call for call in calls if name_of(call.func) == kind), None)


def _config(call: ast.Call) -> str | None:
    """Return the name under which the YAML has what `call` makes."""
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(
                arg="config", value=ast.Subscript(slice=ast.Constant(value=str(name)))
            ):
                return name
    return None


def _tools(value: ast.expr, names: Names, module: Module, draft: Draft) -> Iterator[str]:
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    for item in items:
        found = text_in(item, names) or name_of(item)
        if found:
            draft.lose("I002", module.source, module.span(item), name=found)
            yield found


def _lose(draft: Draft, module: Module, keyword: ast.keyword, reason: Phrase) -> None:
    field = keyword.arg or "**"
    draft.lose("I001", module.source, module.span(keyword), field=field, reason=reason)
