"""The site table: what each effect site of a program is, as plain data.

A term mentions a site by name only. Prompts, models, predicates, limits stand here, so a term can
be hashed, printed and stored. Implementations are found by `kind` when a program is linked to a
machine. Three stand behind each model call, so they are made as nodes are: see Note [Nodes are not
frozen at run time] in `ir.core`.

Source: semantics.md §2.
"""

from functools import cached_property
from typing import Final, Literal

import attrs

from lambdagent.ir.data import Data, Record
from lambdagent.ir.model import Model, model_from

SiteClass = Literal["oracle", "store", "host", "control"]

# Which class the sites of a kind have: who answers them, and whether the answer is journalled.
KINDS: dict[str, SiteClass] = {
    "llm": "oracle",
    "tool": "oracle",
    "now": "oracle",
    "conv.read": "store",
    "conv.append": "store",
    "conv.over": "store",
    "conv.old": "store",
    "conv.fold": "store",
    "mem.read": "store",
    "mem.append": "store",
    "recall": "oracle",
    "remember": "oracle",
    "confirm": "oracle",
    "predicate": "host",
    "stop": "host",
    "action": "host",
    "label": "host",
    "fits": "host",
    "next": "host",
    "thought": "host",
    "concat": "host",
    "truth": "host",
    "border": "host",
    "fail": "control",
}


@attrs.define(unsafe_hash=True)
class Site:
    """One row of the table.

    Attributes:
        name: Unique in the program, such as ``llm:writer``.
        kind: A key of `KINDS`.
        static: The configuration of the site.
        decoder: How an answer becomes a value: ``raw reply text json number boolean``.
        on_error: What an oracle's failure does: ``raise`` it, or answer with a ``text``.
        idempotent: Whether asking twice does no harm.
        timeout_s: Longest wait for an answer, in seconds.
        arg: In pure λ, the type by which the machine decodes arguments; see `ir.abi`.
        result: In pure λ, the type by which it encodes answers.
        binding: Key of a host object in `registry`; no part of the meaning, never hashed.
    """

    name: Final[str]
    kind: Final[str]
    static: Final[Record] = attrs.field(factory=Record, repr=False)
    decoder: Final[str] = "raw"
    on_error: Final[Literal["raise", "text"]] = "raise"
    idempotent: Final[bool] = True
    timeout_s: Final[float | None] = None
    arg: Final[Data] = None
    result: Final[Data] = None
    binding: Final[str | None] = attrs.field(default=None, eq=False)

    @property
    def site_class(self) -> SiteClass:
        """Who answers: the world, the store, a host function, or the machine itself."""
        return KINDS[self.kind]

    @cached_property
    def model(self) -> Model | None:
        """The model of a model site, if the agent has one."""
        row = self.static["model"]
        return model_from(row) if isinstance(row, Record) else None
