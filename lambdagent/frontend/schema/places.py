"""Where a key belongs that stands in a block that has none of this name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from lambdagent.frontend.kinds import Block, Model
from lambdagent.frontend.schema.agents import AGENT, NOT_YET
from lambdagent.frontend.schema.models import MODEL
from lambdagent.messages import Phrase, phrase

_KEYS: Final = phrase("remove it: keys of models are read from the environment")
_PROMPT: Final = phrase("write `{meant}`", meant="systemPrompt")
# By what others call it, without case, `_` and `-`.
_CALLED: Final[dict[str, Phrase]] = {
    "apikey": _KEYS,
    "instructions": _PROMPT,
    "prompt": _PROMPT,
    "system": _PROMPT,
}


def hint_for(key: str, block: Block) -> Phrase | None:
    """Return what to do with `key`, which `block` does not have; None if nobody can tell.

    >>> from lambdagent.frontend.schema import AGENT
    >>> hint_for("max_steps", AGENT), hint_for("colour", AGENT)
    ('write it in `react:`', None)
    """
    folded = fold(key)
    if block is AGENT or folded == "apikey":
        return _homes().get(folded)
    return None


@cache
def _homes() -> dict[str, Phrase]:
    found: dict[str, Phrase] = dict(_CALLED)
    places = [*_places()]
    names = [name for name, _ in places] + [fold(name) for name in AGENT.fields]
    for name, block in places:
        if names.count(name) == 1:
            found[name] = phrase("write it in `{block}:`", block=block)
    return found


def _places() -> Iterator[tuple[str, str]]:
    """Yield the fields of the blocks that are compiled, and their blocks."""
    for outer in AGENT.fields.values():
        block = MODEL if isinstance(outer.kind, Model) else outer.kind
        if isinstance(block, Block) and outer.name not in NOT_YET:
            for name in block.fields:
                yield fold(name), outer.name


def fold(word: str) -> str:
    """Return `word` without what is often written otherwise: case, `_`, `-` and spaces."""
    return word.replace("_", "").replace("-", "").replace(" ", "").casefold()
