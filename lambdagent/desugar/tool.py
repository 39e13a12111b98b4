"""Tools.

Tool(s)            λx. do tool:s x
Tool(terminate)    λx. x
"""

from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import App, Label, Lam, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE

_X = Var(0, "x")
IDENTITY = Lam(_X, "x")


def lower_tool(tool: surface.Tool, table: SiteTable) -> Term:
    """Return the core term of a tool; ``terminate`` is the identity, whatever the file says."""
    if tool.name == TERMINATE:
        return IDENTITY
    static = Record(name=tool.name, command=tool.command, description=tool.description)
    site = table.add(
        "tool",
        tool.name,
        static,
        on_error="text",
        idempotent=tool.idempotent,
        timeout_s=tool.timeout_s,
        binding=tool.implementation,
    )
    return Lam(App(site, _X, Label("tool", f"Tool:{tool.name}")), "x")
