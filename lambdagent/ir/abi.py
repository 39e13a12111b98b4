"""The types by which a machine decodes what pure λ hands to a site, and encodes what it answers.

    "data" | "unit" | "bool" | "nat" | "text" | ["pair", a, b] | ["list", a] | ["sum", {l: a, …}]

Decoding: a native value is itself at every type, and a function is probed as its type says.
Encoding: what is no number, text or list where one is wanted is refused; what is no unit, boolean,
pair or choice stays native. ``data`` is never taken apart.
"""

from typing import Final

from lambdagent.ir.data import Data, Record

DATA: Final = "data"
# The site that encodes the input of a program.
INPUT: Final = "border:input"
# The largest numeral, in texts and of the world, since it has a node for each unit; and the most
# units that all numerals of a program in pure λ may have together.
LARGEST_NUMERAL: Final = 100_000
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
