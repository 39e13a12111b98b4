"""Python text as it is written: lines, functions, and blocks that count in one go.

In: statements in order. Out: the lines, and for each line that an error may leave by, what its
function has counted and not reached.
"""

# Note [Counting in direct style]
#
# An increment at each β would cost a third of the speed. Instead each block of statements adds
# what it will contract, β and δ, in one go at its start: floats, in variables of the enclosing
# function, which Python adds without allocating for long. A caller counts β for every callee that
# it does not know; one that is no closure takes it back. Where an error leaves a block early, what
# the block has not reached is subtracted: the traceback names the line of each function that was
# left, and `late` what is still to come after that line. See `recursive.Run.caught`.

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

import attrs

# Where a function returns instead of assigning.
RETURN = "return"
_MAX_LINES = 50_000
_MAX_INDENT = 90  # Python's tokenizer takes 100

Work: TypeAlias = Generator[Any, Any, Any]
Late: TypeAlias = tuple[int, int, int, int]


class NotDirectError(Exception):
    """The program cannot be written in direct style."""


def carry_out(work: Work) -> None:
    """Run `work`, which yields the work that it waits for; a stack of our own, not Python's."""
    stack, result = [work], None
    while stack:
        try:
            stack.append(stack[-1].send(result))
            result = None
        except StopIteration as end:
            stack.pop()
            result = end.value


@attrs.define(eq=False)
class _Block:
    """Statements that count at their start what they contract.

    Attributes:
        line: Where that stands in the text.
        begins_try: It is the body of a `try`.
    """

    line: int
    indent: int
    parent: _Block | None
    begins_try: bool
    beta: int = 0
    delta: int = 0


@attrs.define(eq=False)
class _Function:
    """A Python function being written; `loop` is the fixpoint whose body it is."""

    line: int
    loop: int | None
    counters: set[str] = attrs.field(factory=set)
    tries: int = 0


class Text:
    """Python text being written."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lines: list[str] = []
        self.indent = 0
        self.made = 0
        self.function = _Function(0, None)
        self.block = _Block(0, 0, None, begins_try=False)
        self._marks: list[tuple[int, list[tuple[_Block, int, int]]]] = []

    def late(self) -> Mapping[int, Late]:
        """Return, by line number, the β and δ counted and not reached.

        First those of the whole function, then those of the innermost `try` alone.
        """
        late: dict[int, Late] = {}
        for line, chain in self._marks:
            beta = delta = try_beta = try_delta = 0
            inside = True
            for block, betas, deltas in chain:
                beta += block.beta - betas
                delta += block.delta - deltas
                if inside:
                    try_beta, try_delta = beta, delta
                inside = inside and not block.begins_try
            if beta or delta:
                late[line + 1] = (beta, delta, try_beta, try_delta)
        return late

    def add(self, text: str) -> None:
        """Add a line."""
        if len(self.lines) >= _MAX_LINES or self.indent > _MAX_INDENT:
            raise NotDirectError
        self.lines.append(" " * self.indent + text)

    def call(self, dest: str, text: str) -> None:
        """Add a call, which an error may leave by."""
        chain, block = [], self.block
        while True:
            chain.append((block, block.beta, block.delta))
            if block.parent is None:
                break
            block = block.parent
        self._marks.append((len(self.lines), chain))
        self.assign(dest, text)

    def assign(self, dest: str, text: str) -> None:
        """Assign an expression to `dest`, or return it."""
        self.add(f"return {text}" if dest == RETURN else f"{dest} = {text}")

    def fresh(self, stem: str = "t") -> str:
        """Return a name that is not used yet."""
        self.made += 1
        return f"{stem}{self.made}"

    def open(self, head: str, *, begins_try: bool = False) -> None:
        """Begin a block under `head` inside the current function."""
        self.add(head)
        self.indent += 1
        self.block = _Block(len(self.lines), self.indent, self.block, begins_try)
        self.function.tries += begins_try
        self.add("")

    def close(self) -> None:
        """End a block: now it is known what it counts."""
        block = self.block
        counted = [
            f"{name} += {count}.0"
            for name, count in (("b", block.beta), ("d", block.delta))
            if count
        ]
        self.function.counters |= {each[0] for each in counted}
        self.lines[block.line] = " " * block.indent + "; ".join(counted)
        self.indent -= 1
        self.function.tries -= block.begins_try
        if block.parent is not None:
            self.block = block.parent

    def define(self, head: str, body: Work, loop: int | None = None) -> Work:
        """Define a function whose statements `body` adds."""
        outer = self.function, self.block
        self.add(f"def {head}:")
        self.indent += 1
        self.function = _Function(len(self.lines), loop)
        self.add("")
        self.block = _Block(len(self.lines), self.indent, None, begins_try=False)
        self.add("")
        yield body
        self.close()
        used = ", ".join(sorted(self.function.counters))
        if used:
            line = self.function.line
            self.lines[line] = " " * (self.indent + 1) + f"nonlocal {used}"
        self.function, self.block = outer
