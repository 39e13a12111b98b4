"""Surface term → the configuration that would describe it, so that the same rules apply.

In: the agent of a λ text. Out: configurations as plain dicts. What no agent file can say stands as
an agent about which no rule says anything; the agents inside it are configurations of their own.
"""

from __future__ import annotations

from typing import Any

from lambdagent.ir import surface
from lambdagent.ir.data import thaw
from lambdagent.ir.model import USUAL_WINDOW, Model
from lambdagent.ir.strategies import MANAGED, WITHIN_HISTORY, parse_strategy

# The field of an agent file that says where a memory keeps its entries.
_PLACES = {"sqlite": "path", "custom": "customStore"}
# Agents inside agents in one configuration: what reads it is recursive.
_DEEPEST = 20
_SILENT = {"provider": "scripted", "script": {"rules": [{"reply": "ok"}]}}


def configurations(root: surface.Term) -> list[dict[str, Any]]:
    """Return the configurations of `root`: its own first, then those of what is inside it."""
    waiting, found = [root], []
    while waiting:
        made = _Translation()
        found.append(made.agent(waiting.pop(0)))
        waiting += made.left
    return found


class _Translation:
    """Translates one agent; `left` are the agents that have no place in its configuration."""

    def __init__(self) -> None:
        self.left: list[surface.Term] = []
        self.silent = 0
        self.depth = 0

    def agent(self, term: surface.Term) -> dict[str, Any]:
        """Return the configuration of `term`; what nests too deeply in it has one of its own."""
        if self.depth == _DEEPEST:
            self.left.append(term)
            return self._nothing()
        self.depth += 1
        found = self._agent(term)
        self.depth -= 1
        return found

    def _agent(self, term: surface.Term) -> dict[str, Any]:
        match term:
            case surface.Guard(agent, validator, retry) if isinstance(validator, str):
                return self._around(agent, "guard", {"validator": validator, "retry": retry})
            case surface.Memory(agent):
                self.left += surface.parts(term)[1:]
                return self._around(agent, "memory", _memory(term))
            case surface.Lam():
                return _call(term, "simple", "systemPrompt")
            case surface.Loop(surface.ReActStep() as step):
                return _react(term, step)
            case surface.Compose(stages) if stages:
                steps = [self._step(stage) for stage in stages]
                return {"type": "chain", "systemPrompt": "-", "chain": {"steps": steps}}
            case surface.Par(branches):
                agents = [self.agent(branch) for branch in branches]
                return {"type": "parallel", "systemPrompt": "-", "parallel": {"agents": agents}}
            case surface.Route(surface.Lam() as classifier):
                return self._router(term, classifier)
        self.left += surface.parts(term)
        return self._nothing()

    def _around(self, agent: surface.Term, key: str, settings: dict[str, Any]) -> dict[str, Any]:
        own = (surface.Memory, surface.Guard) if key == "guard" else surface.Memory
        if isinstance(agent, own):  # asked first: to translate it too would double all inside
            self.left.append(agent)
            return {**self._nothing(), key: settings}
        return {**self.agent(agent), key: settings}

    def _step(self, term: surface.Term) -> dict[str, Any]:
        match term:
            case surface.Lam():
                return {**_call(term, None, "prompt"), **_parser(term)}
            case surface.Guard(surface.Lam() as call, str() as validator, retry):
                step = {**_call(call, None, "prompt"), **_parser(call)}
                return {**step, "guard": {"validator": validator, "retry": retry}}
        return self.agent(term)

    def _router(self, term: surface.Route, classifier: surface.Lam) -> dict[str, Any]:
        chooser = _call(classifier, None, "prompt")
        del chooser["name"]
        if term.others:
            chooser["categories"] = [*term.routes, *term.others]
        routes = {label: self.agent(route) for label, route in term.routes.items()}
        body: dict[str, Any] = {"classifier": chooser, "routes": routes}
        if term.default is not None:
            body["default"] = self.agent(term.default)
        return {"type": "router", "systemPrompt": "-", "router": body}

    def _nothing(self) -> dict[str, Any]:
        self.silent += 1
        name = f"({self.silent})"
        return {"type": "simple", "name": name, "systemPrompt": "-", "model": _SILENT}


def _call(call: surface.Lam, type_: str | None, prompt: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": call.name, prompt: call.prompt}
    if type_ is not None:
        found |= {"type": type_, **_schema(call)}
    if call.model is not None:
        found["model"] = {**_model(call.model), **_conversation(call)}
    return found


def _parser(call: surface.Lam) -> dict[str, Any]:
    found = {} if call.output_parser == "text" else {"outputParser": call.output_parser}
    return {**found, **_schema(call)}


def _schema(call: surface.Lam) -> dict[str, Any]:
    return {} if call.output_schema is None else {"outputSchema": thaw(call.output_schema)}


def _model(model: Model) -> dict[str, Any]:
    window = model.context_window
    settings = {
        "provider": model.provider,
        "name": model.name,
        "temperature": model.temperature,
        "maxTokens": model.max_tokens,
        "baseUrl": model.base_url,
        "contextWindow": None if window == USUAL_WINDOW else window,
    }
    return {key: value for key, value in settings.items() if value not in {None, ""}}


def _memory(memory: surface.Memory) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "name": memory.name,
        "strategy": memory.strategy,
        "scope": memory.scope,
        "size": memory.size,
        "ttl": memory.ttl_s,
    }
    if memory.place is not None and memory.strategy in _PLACES:
        settings[_PLACES[memory.strategy]] = memory.place
    if memory.settings and memory.strategy == "custom":
        settings["settings"] = thaw(memory.settings)
    return settings


def _conversation(call: surface.Lam) -> dict[str, Any]:
    if not isinstance(call, surface.ConversationLam):
        return {"conversation": False}
    found: dict[str, Any] = {}
    if call.strategy != MANAGED:
        found["conversation"] = call.strategy
    if parse_strategy(call.strategy).name in WITHIN_HISTORY:
        found["maxHistoryTokens"] = call.max_history_tokens
    return found


def _react(loop: surface.Loop, step: surface.ReActStep) -> dict[str, Any]:
    body: dict[str, Any] = {
        "maxSteps": loop.max_steps,
        "observationEnabled": step.observation_enabled,
    }
    if step.early_stop is not None:
        body["earlyStop"] = step.early_stop
    tools = [tool.name for tool in step.tools]
    found = _call(step.think, "react", "systemPrompt")
    return {**found, "react": body, "mcp": {"localTools": tools}}
