"""How branches of a fork agree on the store when they join.

Log cells (conversation, memory) take each branch's appended suffix in order. Any other cell
written by one branch takes that write, written by several the write of the highest index.

Source: semantics.md §3.3.
"""

from collections.abc import Sequence

from lambdagent.machine.state import Store, Value
from lambdagent.machine.store import MERGES


def merge(base: Store, branches: Sequence[Store]) -> Store:
    """Return the store after a join.

    Args:
        base: The store at the fork.
        branches: What each child left, in index order.
    """
    if all(branch is base for branch in branches):
        return base
    merged = dict(base)
    for branch in branches:
        for cell, value in branch.items():
            before = base.get(cell)
            if value is not before:
                merged[cell] = _merge_cell(cell, before, merged.get(cell), value)
    return merged


def _merge_cell(cell: str, base: Value | None, left: Value | None, right: Value) -> Value:
    kind = cell.partition(":")[0]
    if left is base or kind not in MERGES:
        return right
    return MERGES[kind](base, left, right)
