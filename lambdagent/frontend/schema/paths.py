"""Blocks and fields by path, such as ``chain.steps[].prompt``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lambdagent.frontend.kinds import Block, Field, Kind, ListOf, MapOf, Model, Script, Step
from lambdagent.frontend.schema.agents import AGENT, NOT_YET
from lambdagent.frontend.schema.bodies import STEP
from lambdagent.frontend.schema.models import MODEL, SCRIPT


def _blocks(prefix: str, kind: Kind) -> Iterator[tuple[str, Block]]:
    """Yield the blocks in a value of `kind` that stands at `prefix`, outer before inner."""
    match kind:
        case Block():
            yield prefix, kind
            for field in kind.fields.values():
                yield from _blocks(below(prefix, field), field.kind)
        case ListOf(item):
            yield from _blocks(f"{prefix}[]", item)
        case MapOf(value, key):
            yield from _blocks(f"{prefix}.{key}", value)
        case Step():
            yield from _blocks(prefix, STEP)
        case Script():
            yield from _blocks(prefix, SCRIPT)
        case Model() if prefix == "model":
            yield from _blocks(prefix, MODEL)


def below(prefix: str, field: Field) -> str:
    """Return the path of `field` in the block at `prefix`."""
    return f"{prefix}.{field.name}" if prefix else field.name


# All blocks and all fields by path. An agent inside an agent has the same fields again, and so has
# a `model`; they stand here once.
BLOCKS: Final = tuple(_blocks("", AGENT))
FIELDS: Final[dict[str, Field]] = {
    below(prefix, field): field for prefix, block in BLOCKS for field in block.fields.values()
}

SERVED: Final[Any] = object()  # of a field that is compiled, whatever its value


def served_yet(path: str) -> Any:
    """Return the only value of the field at `path` that is compiled yet, None if there is none.

    `SERVED` for all other fields. What is in a block that is not compiled is not compiled either.
    """
    for known, served in NOT_YET.items():
        if path == known or path.startswith((f"{known}.", f"{known}[]")):
            return served
    return SERVED
