"""The tools of a `react` agent: those it lists, its own, those of servers, the injected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from lambdagent.errors import plain
from lambdagent.frontend import schema
from lambdagent.frontend.models import Overrides, Path
from lambdagent.frontend.report import certain, nearest
from lambdagent.frontend.servers import Servers
from lambdagent.frontend.tool_parameters import tool_parameters
from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE
from lambdagent.messages import phrase

# Which calls wait for a person, by mode: from the tool, and whether `confirm` names it.
_ASKS: Final[Mapping[str, Callable[[surface.Tool, bool], bool]]] = {
    "auto": lambda _, named: named,
    "force": lambda _tool, _named: True,
    "intelligence": lambda tool, named: named or not tool.idempotent,
    "disable": lambda _tool, _named: False,
}
_EMPTY: Final[Record] = Record()
_POLICY: Final = Record(schema.POLICY.defaults)


def policy_of(data: Any) -> Any:
    """Return how the tools of the agent `data` are called."""
    return data.get("mcp", _EMPTY).get("policy", _POLICY)


class Toolbox:
    """Makes the tools of the agents of one file."""

    def __init__(
        self, overrides: Overrides, report: Callable[..., None], servers: Servers
    ) -> None:
        """Make tools; `report` is called with code, path and words of each finding."""
        self.overrides = overrides
        self.report = report
        self.servers = servers

    def tools(self, data: Any, path: Path) -> tuple[surface.Tool, ...]:
        """Return the tools of the agent `data`, which stands at `path`."""
        timeout_s = self.overrides.tool_timeout_s or data["react"]["toolTimeout"]
        listed = data.get("mcp", _EMPTY).get("localTools", ())
        own = self.own_tools(data, path, timeout_s)
        local = [*dict.fromkeys((*listed, *own, *self.overrides.tools))]
        policy = policy_of(data)
        retries = policy.get("retryOnFail")
        remote = self.servers.tools(data, path, timeout_s, retries, {TERMINATE, *local})
        self.check_confirmed(data, path, [*local, *(tool.name for tool in remote)])
        tools = [self.tool(name, own.get(name), timeout_s, retries or 0) for name in local]
        return tuple(self.confirmed(tool, data) for tool in (*tools, *remote))

    def own_tools(self, data: Any, at: Path, timeout_s: float) -> dict[str, surface.Tool]:
        """Return the tools that the file defines, by name."""
        found: dict[str, surface.Tool] = {}
        for number, each in enumerate(data.get("tools", ())):
            path = (*at, "tools", number)
            name = each["name"]
            if name == TERMINATE:
                expected = phrase("a name other than `{name}`", name=TERMINATE)
                hint = phrase("leave it out: `terminate` ends the loop and calls nothing")
                words = {"expected": expected, "actual": name, "hint": hint}
                self.report("S104", (*path, "name"), **words)
            elif name and name in found:  # nameless is what could not be read
                self.report("S201", (*path, "name"), name=name, things="tools")
            else:
                found[name] = surface.Tool(
                    name,
                    description=each.get("description", ""),
                    command=each.get("command"),
                    timeout_s=self.overrides.tool_timeout_s or each.get("timeout", timeout_s),
                    idempotent=each["idempotent"],
                    parameters=self.parameters(each.get("parameters"), (*path, "parameters")),
                )
        return found

    def parameters(self, written: Record | None, path: Path) -> Record | None:
        """Return the JSON Schema of the arguments that the file gives a tool."""

        def refuse(inside: tuple[str, ...], expected: str, actual: object, hint: str) -> None:
            words = {"expected": expected, "actual": plain(actual), "hint": hint}
            self.report("S104" if hint else "S103", (*path, *inside), **words)

        return None if written is None else tool_parameters(written, refuse)

    def tool(
        self, name: str, own: surface.Tool | None, timeout_s: float, retries: int
    ) -> surface.Tool:
        """Return the tool `name`; what the file says of it goes before what the function does."""
        injected = self.overrides.tools.get(name)
        if name == TERMINATE:
            return surface.Tool(name, timeout_s=timeout_s)
        if own is None:
            found = surface.Tool(name) if injected is None else injected
            return attrs.evolve(found, timeout_s=timeout_s, retries=found.retries or retries)
        if injected is None:
            return attrs.evolve(own, retries=retries)
        return attrs.evolve(
            injected,
            description=own.description or injected.description,
            timeout_s=own.timeout_s,
            idempotent=own.idempotent or injected.idempotent,
            parameters=own.parameters or injected.parameters,
            retries=injected.retries or retries,
        )

    def confirmed(self, tool: surface.Tool, data: Any) -> surface.Tool:
        """Return `tool`, to be confirmed if the agent or who injected it wants that."""
        mode = policy_of(data)["mode"]
        asks = _ASKS[mode](tool, tool.name in data.get("confirm", ()))
        return attrs.evolve(tool, confirm=True) if asks and tool.name != TERMINATE else tool

    def check_confirmed(self, data: Any, path: Path, tools: list[str]) -> None:
        """Report names that are to be confirmed and that no tool has which could be called."""
        if self.servers.unknown:
            return
        called = [name for name in tools if name != TERMINATE]
        for i, name in enumerate(data.get("confirm", ())):
            if name not in called:
                meant = nearest(name, called)
                hint = (
                    phrase("write `{meant}`", meant=meant)
                    if meant
                    else phrase("leave it out, or add it to `mcp.localTools`")
                )
                if name == TERMINATE:
                    hint = phrase("leave it out: `terminate` ends the loop and calls nothing")
                known = ", ".join(f"`{each}`" for each in called) or phrase("none")
                words = {"name": name, "known": known, "hint": hint}
                instead = certain(name, meant, called)
                self.report("S204", (*path, "confirm", i), **words, instead=instead)
