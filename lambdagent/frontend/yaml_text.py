r"""Data → YAML that reads back as the same, for people to go on with.

In: mappings, lists, texts, numbers, booleans. Out: block style; texts of several lines as blocks,
all others on one line, quoted where they must be. Recursion follows the nesting of the data, which
must not be deeper than a file may nest.

    >>> print(print_yaml({"name": "a b", "prompt": "one\ntwo"}, {("prompt",): ["why"]}), end="")
    name: a b
    # why
    prompt: |-
      one
      two
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lambdagent.frontend.nodes import NULLS
from lambdagent.source import HIDDEN

Path: TypeAlias = "tuple[str | int, ...]"
# Comments by the path of what they stand before; those of () stand before everything.
Notes: TypeAlias = Mapping[Path, Sequence[str]]

# What begins with a letter and holds no `: `, ` #` or closing mark is a plain text everywhere.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./+()'&@%?!;=*-]|:(?=\w)|,(?= ))*(?<! )")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile("[\ufffe\uffff]")
_LINE = re.compile(r"\S|\S.*\S")
_LONGEST_PLAIN = 400


def print_yaml(data: Mapping[str, Any], notes: Notes | None = None) -> str:
    """Return `data` as the text of a YAML file, with `notes` as comments."""
    writer = _Writer(notes or {})
    head = list(writer.comments((), 0))
    return "\n".join([*head, *writer.mapping(data, (), 0)]) + "\n"


def comment(text: str, depth: int = 0) -> str:
    """Return `text` as a line of comment; a line break in it does not end the comment."""
    flat = HIDDEN.sub(" ", _UNPRINTABLE.sub(" ", text))
    return f"{'  ' * depth}# {flat}".rstrip()


class _Writer:
    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def comments(self, path: Path, depth: int) -> Iterator[str]:
        for note in self.notes.get(path, ()):
            yield comment(note, depth)

    def mapping(self, data: Mapping[str, Any], path: Path, depth: int) -> Iterator[str]:
        for key, value in data.items():
            inside = (*path, key)
            yield from self.comments(inside, depth)
            yield from self.entry(f"{'  ' * depth}{scalar(key)}:", value, inside, depth)

    def entry(self, head: str, value: Any, path: Path, depth: int) -> Iterator[str]:
        """Yield `value` after `head`, which ends with its colon."""
        if isinstance(value, Mapping) and value:
            yield head
            yield from self.mapping(value, path, depth + 1)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            yield head
            yield from self.items(value, path, depth + 1)
        elif isinstance(value, str) and _fits_block(value):
            yield f"{head} |-"
            margin = "  " * (depth + 1)
            yield from (f"{margin}{line}" if line else "" for line in value.split("\n"))
        else:
            yield f"{head} {scalar(value)}"

    def items(self, data: Sequence[Any], path: Path, depth: int) -> Iterator[str]:
        margin = "  " * depth
        for number, value in enumerate(data):
            inside = (*path, number)
            yield from self.comments(inside, depth)
            if isinstance(value, Mapping) and value:
                # The first key stands behind the dash, its own comments before it.
                lines = list(self.mapping(value, inside, depth + 1))
                first = next(i for i, line in enumerate(lines) if line.lstrip()[:1] != "#")
                yield from (line[2:] for line in lines[:first])
                yield f"{margin}- {lines[first].lstrip()}"
                yield from lines[first + 1 :]
            elif isinstance(value, Sequence) and not isinstance(value, str) and value:
                yield f"{margin}-"
                yield from self.items(value, inside, depth + 1)
            else:
                yield f"{margin}- {scalar(value)}"


def _fits_block(text: str) -> bool:
    """Whether `text` reads back as it is from a block of lines."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and all(not line or _LINE.fullmatch(line.lstrip(" ")) for line in lines)
        and lines[0][:1] not in {"", " "}
        and lines[-1] != ""
        and not HIDDEN.search(text.replace("\n", ""))
        and not _UNPRINTABLE.search(text)
    )


def scalar(value: Any) -> str:
    """Return `value`, a text, number, boolean, or an empty list or mapping, on one line.

    >>> scalar("a: b"), scalar("true"), scalar(True), scalar("Ada, Bob")
    ('"a: b"', '"true"', 'true', 'Ada, Bob')
    """
    if not isinstance(value, str):
        return json.dumps(value)
    plain = len(value) <= _LONGEST_PLAIN and _PLAIN.fullmatch(value)
    if plain and value.casefold() not in _WORDS and value not in NULLS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(_escaped, HIDDEN.sub(_escaped, quoted))


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
