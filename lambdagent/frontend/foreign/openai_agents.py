"""OpenAI Agents SDK: Python source with ``Agent(…)``, which is parsed and never run.

An agent with handoffs is a router whose default is the agent itself; one with tools is a ReAct
loop. The program begins with the agent that is given to ``Runner.run``, or else with the one that
no other hands over to.

Source: https://openai.github.io/openai-agents-python/agents/ and …/handoffs/
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

import attrs

from lambdagent.errors import ConfigError, finding
from lambdagent.frontend.foreign.draft import MAX_LEVELS, NO_MATCH, Agent, Draft, Imported
from lambdagent.frontend.foreign.models import served_by
from lambdagent.frontend.foreign.python_code import (
    Module,
    Names,
    assigned,
    is_nothing,
    name_of,
    number_of,
    parse_python,
    text_of,
    walk,
)
from lambdagent.frontend.foreign.python_types import form_of
from lambdagent.messages import Phrase, phrase
from lambdagent.source import Source

OPENAI_AGENTS: Final = "the OpenAI Agents SDK"
_CHANGES: Final = ("append", "clear", "extend", "insert", "pop", "remove")
# Decorators of functions that agents call.
_CALLED: Final = frozenset({"function_tool", "input_guardrail", "output_guardrail"})
_GIVEN: Final = frozenset({"starting_agent", "input"})  # the other arguments of a run are options
_RUNS: Final = ("run", "run_streamed", "run_sync")
_DEFAULT_MODEL: Final = {"provider": "openai", "name": "gpt-4.1"}
# Settings of a model: ours, least, most, whether whole.
_SETTINGS: Final = {
    "temperature": ("temperature", 0.0, 2.0, False),
    "top_p": ("topP", 0.0, 1.0, False),
    "max_tokens": ("maxTokens", 1.0, 2.0**53, True),
}


def import_source(source: Source) -> Imported:
    """Return the agent file that the agents of a Python source make.

    Raises:
        ConfigError: It is no Python, or makes no agent.
    """
    draft = Draft()
    reader = _Reader(draft, parse_python(source))
    return draft.imported(reader.program(), OPENAI_AGENTS, [source])


@attrs.frozen(eq=False)
class _Made:
    """An ``Agent(…)`` of the source.

    Attributes:
        variable: What it is assigned to.
        call: The call, whose keywords are its fields.
    """

    variable: str
    call: ast.Call

    @property
    def fields(self) -> dict[str, ast.expr]:
        """The arguments, by keyword; the first without one is the name."""
        given = {each.arg: each.value for each in self.call.keywords if each.arg is not None}
        if self.call.args:
            given.setdefault("name", self.call.args[0])
        return given


class _Reader:
    def __init__(self, draft: Draft, module: Module) -> None:
        self.draft = draft
        self.module = module
        self.source = module.source
        self.names: Names = assigned(module.tree)
        self.made = {
            name: _Made(name, value)
            for name, value in self.names.items()
            if isinstance(value, ast.Call) and name_of(value.func) == "Agent"
        }
        self.nameless()
        self.by_call = {id(each.call): name for name, each in self.made.items()}
        self.used: set[str] = set()

    def program(self) -> Agent:
        """Return the agent that the program begins with."""
        if not self.made:
            hint = phrase("agents are read where a name stands for one, as in `a = Agent(name=…)`")
            found = finding("I011", what=phrase("agent"), path=self.source.name, hint=hint)
            raise ConfigError(found, self.source)
        root = self.agent(self.made[self.first()], ())
        self.changed()
        for name, each in self.made.items():
            if name not in self.used:
                self.lose(each.call, name, phrase("nothing that is carried over leads to it"))
        return root

    def nameless(self) -> None:
        """Name the agents that are made where they are used."""
        known = {id(each.call) for each in self.made.values()}
        for node in walk(self.module.tree):
            is_agent = isinstance(node, ast.Call) and name_of(node.func) == "Agent"
            if is_agent and isinstance(node, ast.Call) and id(node) not in known:
                variable = f"Agent:{node.lineno}"
                self.made[variable] = _Made(variable, node)

    def first(self) -> str:
        """Return the name of the agent that the program begins with."""
        aside = self.aside()
        for node in walk(self.module.tree):
            match node:
                case ast.Call(func=ast.Attribute(attr=verb, value=owner)) if (
                    verb in _RUNS and name_of(owner) == "Runner" and id(node) not in aside
                ):
                    given = [*node.args[:1], *(k.value for k in node.keywords)]
                    for each in given:
                        name = self.by_call.get(id(each)) or self.variable(each)
                        if name is not None:
                            self.besides(verb, node.keywords)
                            return name
        led_to = {
            name
            for each in self.made.values()
            for key in ("handoffs", "tools")
            for item in _items(each.fields.get(key))
            if (name := self.led_to(item)) is not None
        }
        return next((name for name in reversed(self.made) if name not in led_to), [*self.made][-1])

    def besides(self, verb: str, given: list[ast.keyword]) -> None:
        """Note what the run that begins the program asks for besides."""
        for each in given:
            known = each.arg is None or each.arg in _GIVEN
            if not known and not is_nothing(each.value):
                self.lose(each.value, f"Runner.{verb}.{each.arg}", NO_MATCH)

    def aside(self) -> set[int]:
        """Return what stands in functions that agents call: no program begins there."""
        called = {
            name_of(each.value)
            for node in walk(self.module.tree)
            if isinstance(node, ast.Call)
            for each in node.keywords
            if each.arg == "guardrail_function"
        }
        return {
            id(inner)
            for node in walk(self.module.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if node.name in called or any(name_of(each) in _CALLED for each in node.decorator_list)
            for inner in walk(node)
        }

    def changed(self) -> None:
        """Note what becomes of agents after they are made."""
        for node in walk(self.module.tree):
            match node:
                case (
                    ast.Assign(targets=[ast.Attribute(value=owner, attr=field)])
                    | ast.AugAssign(target=ast.Attribute(value=owner, attr=field))
                ):
                    name, what = self.variable(owner), phrase("it is set while the program runs")
                case ast.Call(func=ast.Attribute(value=owner, attr="clone" as field)):
                    name, what = self.variable(owner), phrase("agents made of others are not read")
                case ast.Call(
                    func=ast.Attribute(value=ast.Attribute(value=owner, attr=field), attr=verb)
                ) if verb in _CHANGES:
                    name, what = (
                        self.variable(owner),
                        phrase("it is changed while the program runs"),
                    )
                case _:
                    continue
            if name is not None:
                self.lose(node, f"{name}.{field}", what)

    def variable(self, node: ast.expr) -> str | None:
        """Return the name of the agent that `node` names."""
        return node.id if isinstance(node, ast.Name) and node.id in self.made else None

    def led_to(self, item: ast.expr) -> str | None:
        """Return whom a handoff, or an agent used as a tool, leads to."""
        match item:
            case ast.Call(func=ast.Attribute(value=inner, attr="as_tool")):
                return self.led_to(inner)
            case ast.Call(func=called, args=[inner, *_]) if name_of(called) == "handoff":
                return self.led_to(inner)
            case ast.Call(func=called, keywords=keywords) if name_of(called) == "handoff":
                given = [each.value for each in keywords if each.arg == "agent"]
                return self.led_to(given[0]) if given else None
            case ast.Call() if name_of(item.func) == "Agent":
                return self.by_call[id(item)]
        return self.variable(item)

    def lose(self, node: ast.AST, field: str, reason: Phrase) -> None:
        where = self.module.span(node)
        self.draft.lose("I001", self.source, where, field=field, reason=reason)

    # --- one agent ---

    def agent(self, made: _Made, above: tuple[str, ...]) -> Agent:
        """Return `made`, which those `above` lead to."""
        self.used.add(made.variable)
        fields = made.fields
        name = text_of(fields.get("name"), self.names) or made.variable
        prompt = self.prompt(made, fields)
        model = self.model(made, fields)
        tools = list(self.tools(made, fields))
        form = self.form(made, fields)
        known = {"name", "instructions", "model", "model_settings", "tools", "handoffs"}
        for key, value in fields.items():
            if key not in known | {"handoff_description", "output_type"} and not is_nothing(value):
                self.lose(value, f"{made.variable}.{key}", NO_MATCH)
        for each in made.call.keywords:
            if each.arg is None:
                self.lose(
                    each.value, made.variable, phrase("only what is written in the file is read")
                )
        members = list(self.handoffs(made, fields, above))
        alone = {**self.draft.agent(name, prompt, model, tools), **form}
        if not members:
            return alone
        own = {**alone, "name": f"{name} itself"}
        return self.draft.choice(name, prompt, members, model, own)

    def prompt(self, made: _Made, fields: dict[str, ast.expr]) -> str:
        written = fields.get("instructions")
        found = text_of(written, self.names)
        if found is None and written is not None:
            self.lose(
                written,
                f"{made.variable}.instructions",
                phrase("it is made while the program runs"),
            )
        return (found or "").strip()

    def form(self, made: _Made, fields: dict[str, ast.expr]) -> dict[str, Any]:
        """Return what answers must be."""
        written = fields.get("output_type")
        match written:
            case ast.Call(func=called, args=[inner, *_]) if name_of(called) == "AgentOutputSchema":
                written = inner
        if written is None or is_nothing(written) or name_of(written) == "str":
            return {}
        found = form_of(written, self.module.tree, self.names)
        if found is None:
            reason = phrase("its type is not written in the file, or has no JSON Schema")
            self.lose(written, f"{made.variable}.output_type", reason)
            return {}
        self.draft.count(len(str(found)))
        return {"outputSchema": found}

    def model(self, made: _Made, fields: dict[str, ast.expr]) -> dict[str, Any]:
        model: dict[str, Any] = dict(_DEFAULT_MODEL)
        written = fields.get("model")
        name = text_of(written, self.names)
        if name is None and isinstance(written, ast.Call):  # such as LitellmModel(model="…")
            name = next(
                (text_of(k.value, self.names) for k in written.keywords if k.arg == "model"), None
            )
        if name:
            provider, served, known = served_by(None, name.removeprefix("litellm/"))
            model = {"provider": provider, "name": served}
            if not known and written is not None:
                where = self.module.span(written)
                self.draft.lose("I004", self.source, where, name=name)
        elif written is not None and not is_nothing(written):
            self.lose(
                written, f"{made.variable}.model", phrase("it is made while the program runs")
            )
        return {**model, **self.settings(made, fields)}

    def settings(self, made: _Made, fields: dict[str, ast.expr]) -> dict[str, Any]:
        written = fields.get("model_settings")
        if isinstance(written, ast.Name):
            written = self.names.get(written.id, written)
        if written is None:
            return {}
        if not isinstance(written, ast.Call):
            self.lose(
                written, f"{made.variable}.model_settings", phrase("it is no `ModelSettings(…)`")
            )
            return {}
        found: dict[str, Any] = {}
        for each in written.keywords:
            ours = _SETTINGS.get(each.arg or "")
            number = number_of(each.value, self.names)
            if ours is not None and number is not None and ours[1] <= number <= ours[2]:
                found[ours[0]] = int(number) if ours[3] else number
            elif not is_nothing(each.value):
                self.lose(each.value, f"{made.variable}.model_settings.{each.arg}", NO_MATCH)
        return found

    def tools(self, made: _Made, fields: dict[str, ast.expr]) -> Iterator[str]:
        """Yield the names of the tools, and note that what they do is left out."""
        for item in self.listed(made, "tools", fields):
            name = self.led_to(item)
            if name is not None:
                field = f"{made.variable}.tools"
                self.lose(
                    item, field, phrase("the agent `{name}` cannot be called as a tool", name=name)
                )
                self.used.add(name)
                continue
            called = name_of(item)
            where = self.module.span(item)
            if called:
                self.draft.lose("I002", self.source, where, name=called)
                yield called
            else:
                self.lose(
                    item, f"{made.variable}.tools", phrase("it is made while the program runs")
                )

    def handoffs(
        self, made: _Made, fields: dict[str, ast.expr], above: tuple[str, ...]
    ) -> Iterator[tuple[str, str, Agent]]:
        """Yield the name, the description and the agent of each handoff."""
        field = f"{made.variable}.handoffs"
        above = (*above, made.variable)
        for item in self.listed(made, "handoffs", fields):
            name = self.led_to(item)
            if name is None:
                self.lose(item, field, phrase("it is no agent of this file"))
            elif name in above:
                self.lose(
                    item,
                    field,
                    phrase("`{name}` handed over before; a route does not lead back", name=name),
                )
            elif len(above) > MAX_LEVELS:
                self.lose(item, field, phrase("it nests too deeply"))
            else:
                if isinstance(item, ast.Call) and name_of(item.func) == "handoff":
                    self.options(item, field)
                target = self.made[name]
                about = text_of(target.fields.get("handoff_description"), self.names) or ""
                agent = self.agent(target, above)
                yield str(agent["name"]), about.strip(), agent

    def options(self, item: ast.Call, field: str) -> None:
        for each in item.keywords:
            if each.arg != "agent" and not is_nothing(each.value):
                self.lose(each.value, f"{field}.{each.arg}", NO_MATCH)

    def listed(self, made: _Made, key: str, fields: dict[str, ast.expr]) -> list[ast.expr]:
        """Return the items of a list; one that is made while the program runs is told."""
        written = fields.get(key)
        if isinstance(written, ast.Name):
            written = self.names.get(written.id, written)
        if written is not None and not isinstance(written, ast.List | ast.Tuple):
            if not is_nothing(written):
                self.lose(
                    written, f"{made.variable}.{key}", phrase("it is made while the program runs")
                )
            return []
        return _items(written)


def _items(node: ast.expr | None) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else []
