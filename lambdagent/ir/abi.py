"""The types by which a machine decodes what pure λ hands to a site, and encodes what it answers.

    "data" | "unit" | "bool" | "nat" | "text" | ["pair", a, b] | ["list", a] | ["sum", {l: a, …}]

A native value is itself at every type, since answers of the world are opaque atoms in pure λ; a
function is probed as its type says. ``data`` is never taken apart.
"""

from typing import Final

from lambdagent.ir.data import Data, Record

DATA: Final = "data"
SIMPLE: Final = frozenset({DATA, "unit", "bool", "nat", "text"})


def is_type(data: Data) -> bool:
    """Whether `data` is a type in the form above."""
    stack = [data]
    while stack:
        item = stack.pop()
        match item:
            case str(name) if name in SIMPLE:
                pass
            case ("pair", left, right):
                stack += [left, right]
            case ("list", part):
                stack.append(part)
            case ("sum", Record() as parts) if parts:
                stack += parts.values()
            case _:
                return False
    return True
