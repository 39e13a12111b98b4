"""``python -m bench [NAME …]``: measure all, or what is named, and print tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from bench import chain, compiling, durable, machine, react, recording, startup, stepping
from bench.timing import Row, table

BENCHES: dict[str, tuple[str, Callable[[], list[Row]]]] = {
    "machine": ("the machine", machine.rows),
    "compile": ("compilation", compiling.rows),
    "react": ("one ReAct step", react.rows),
    "chain": ("one stage of a chain", chain.rows),
    "durable": ("one durable step", durable.rows),
    "concurrent": ("many runs at a time", chain.concurrent_rows),
    "recording": ("what recording costs", recording.rows),
    "startup": ("start-up", startup.rows),
    "stepping": ("`trace --slow` on a million transitions", stepping.rows),
}


def main(names: Sequence[str]) -> int:
    """Print a table for each of `names`, or for all."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench `{unknown[0]}`; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    for name in names or BENCHES:
        title, rows = BENCHES[name]
        print(table(title, rows()), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
