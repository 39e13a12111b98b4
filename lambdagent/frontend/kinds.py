"""How a field table is written: kinds of values, fields, blocks.

Data only: `check` knows what each kind means for a file, `reference` what it is called in the
documents. Nobody compares or prints them, and without `==` and `repr` a class takes 0.13 ms of the
start instead of 0.33.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs

from lambdagent.ir.data import Data

# --- kinds of values -----------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Text:
    """A text, often one of `known`; `blank` is the code of the finding if nothing is written.

    In a connection, ``${NAME}`` and ``${NAME:-default}`` stand for variables.
    """

    connection: bool = False
    known: tuple[str, ...] = ()
    blank: str | None = attrs.field(default=None, kw_only=True)


@attrs.frozen(eq=False, repr=False)
class Integer:
    """A whole number from `least` to `most`; `zero` is the code of the finding for 0."""

    least: int = 0
    zero: str | None = None
    most: int | None = None


@attrs.frozen(eq=False, repr=False)
class Number:
    """A number from `least` to `most`, above `least` if `open`."""

    least: float = 0
    most: float | None = None
    open: bool = False


@attrs.frozen(eq=False, repr=False)
class Flag:
    """Yes or no."""


@attrs.frozen(eq=False, repr=False)
class Remembered:
    """Whether a conversation is remembered, or a strategy: what of it is sent."""


@attrs.frozen(eq=False, repr=False)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]


@attrs.frozen(eq=False, repr=False)
class Expression:
    """An expression over `names`."""

    names: frozenset[str]


@attrs.frozen(eq=False, repr=False)
class Pattern:
    """A regular expression of Python."""


@attrs.frozen(eq=False, repr=False)
class ListOf:
    """A list of equal things.

    `empty` is the code of the finding for an empty one; `unique` is what its texts name, if each
    may stand there once only.
    """

    item: Kind
    empty: str | None = None
    unique: str = ""


@attrs.frozen(eq=False, repr=False)
class MapOf:
    """A mapping whose keys are names that the writer chooses, called `key` in the documents."""

    value: Kind
    key: str = "NAME"
    empty: str | None = None


@attrs.frozen(eq=False, repr=False)
class ListOrMap:
    """A list, or a mapping of lists."""

    items: ListOf
    maps: MapOf


@attrs.frozen(eq=False, repr=False)
class Model:
    """A `model` block: what it leaves out comes from the agent around it, or from the defaults."""


@attrs.frozen(eq=False, repr=False)
class Script:
    """A `script` block: at least one of its fields is there."""


@attrs.frozen(eq=False, repr=False)
class Reply:
    """What a model says in a script: a text, or a mapping as in a recording."""


@attrs.frozen(eq=False, repr=False)
class Agent:
    """A whole agent."""


@attrs.frozen(eq=False, repr=False)
class Step:
    """A step of a chain: a whole agent if it has a `type`, a prompt otherwise."""


@attrs.frozen(eq=False, repr=False)
class Anything:
    """Any data: texts, numbers, booleans, null, lists and mappings of them."""


Kind: TypeAlias = (
    "Text | Integer | Number | Flag | Remembered | Choice | Expression | Pattern | ListOf | MapOf"
    " | ListOrMap | Model | Script | Reply | Agent | Step | Anything | Block"
)

# --- fields --------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Field:
    """One key of a block.

    Attributes:
        doc: What it is, in one sentence or a few.
        zh: The same in Chinese.
        to: What it compiles to; empty for what its block does.
        default: Its value when it is left out; None if it is then absent.
        required: Whether it must be there.
        only_with: A field beside it and the value of that with which alone this one has an effect;
            it is required only then.
        types: Agent types that it belongs to; empty for all.
        top_only: Whether it belongs to the file, not to an agent inside it.
        since: The first version that reads it.
    """

    name: str
    kind: Kind
    doc: str
    zh: str
    to: str = attrs.field(default="", kw_only=True)
    default: Data = attrs.field(default=None, kw_only=True)
    required: bool = attrs.field(default=False, kw_only=True)
    only_with: tuple[str, str] | None = attrs.field(default=None, kw_only=True)
    types: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    top_only: bool = attrs.field(default=False, kw_only=True)
    since: str = attrs.field(default="0.1", kw_only=True)


@attrs.frozen(init=False, eq=False, repr=False)
class Block:
    """A mapping with fixed keys.

    Attributes:
        doc: What it is for, in one sentence.
        zh: The same in Chinese.
        to: What it compiles to.
        defaults: The values of the fields that have one.
        required: The names of the fields that must be there, whatever stands beside them.
        conditional: The fields that have an effect only beside some value of another one.
    """

    name: str
    doc: str
    zh: str
    to: str
    fields: dict[str, Field]
    defaults: dict[str, Data]
    required: tuple[str, ...]
    conditional: tuple[Field, ...]

    def __init__(self, name: str, doc: str, zh: str, *fields: Field, to: str = "") -> None:
        """Make the block `name` of `fields`."""
        self.__attrs_init__(
            name,
            doc,
            zh,
            to,
            {field.name: field for field in fields},
            {field.name: field.default for field in fields if field.default is not None},
            tuple(each.name for each in fields if each.required and not each.only_with),
            tuple(field for field in fields if field.only_with),
        )
