"""Tools.

Tool(s)                 λx. do tool:s x
Tool(s, confirm=True)   λx. case (do confirm:s x) {approved _ ⇒ do tool:s x; denied why ⇒ why}
Tool(terminate)         λx. x
"""

from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import App, Label, Lam, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE, VERDICT

_X = Var(0, "x")
_X_IN_BRANCH = Var(1, "x")
_DENIED = Lam(Var(0, "why"), "why")
IDENTITY = Lam(_X, "x")


def lower_tool(tool: surface.Tool, table: SiteTable) -> Term:
    """Return the core term of a tool; ``terminate`` is the identity, whatever the file says."""
    if tool.name == TERMINATE:
        return IDENTITY
    static = Record(name=tool.name, command=tool.command, description=tool.description)
    only = _only_argument(tool)
    if only is not None:
        static = Record(static, input=only)
    if tool.retries:
        static = Record(static, retries=tool.retries)
    if tool.server is not None:
        static = Record(static, server=tool.server)
        if tool.parameters is not None:
            static = Record(static, parameters=tool.parameters)
    site = table.add(
        "tool",
        tool.name,
        static,
        on_error="text",
        idempotent=tool.idempotent,
        timeout_s=tool.timeout_s,
        binding=tool.implementation,
    )
    label = Label("tool", f"Tool:{tool.name}")
    if not tool.confirm:
        return Lam(App(site, _X, label), "x")
    confirm = table.add("confirm", tool.name, Record(tool=tool.name))
    asked = App(confirm, _X, Label("confirm", f"Confirm:{tool.name}"))
    approved = Lam(App(site, _X_IN_BRANCH, label), "_")
    return Lam(App(App(App(Prim("case", (VERDICT,)), asked), approved), _DENIED), "x")


def _only_argument(tool: surface.Tool) -> str | None:
    """Return the argument that a command gets as it is, where there is but one."""
    properties = None if tool.parameters is None else tool.parameters.get("properties")
    names = [*properties] if isinstance(properties, Record) and tool.command is not None else []
    return names[0] if len(names) == 1 else None
