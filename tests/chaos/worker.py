"""Starts processes that begin or go on with a run, each to be killed at any moment.

Reads a job a line, forks, writes the number of the process and, when it has ended, how: a fork is
forty times as quick as an interpreter that imports everything anew. The number is not free for
another process before a second line was read.
"""

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from lambdagent.api.kept import Run, ask_again
from lambdagent.effects import keeper
from lambdagent.effects.run_directory import runs_in
from lambdagent.ir.data import thaw
from lambdagent.machine.values import project
from tests.chaos.world import Client, program

# Short runs are to have states in the middle, too.
keeper._SHORTEST = 20
AUTOSAVE = 5


def clock() -> float:
    return 1_000.0


def run_of(job: dict[str, Any], client: Client) -> Run:
    """The run in the job's directory, begun if there is none."""
    directory = Path(job["directory"])
    found = runs_in(directory) if directory.exists() else []
    options: dict[str, Any] = {"fsync": job["fsync"], "clock": clock}
    if not found:
        agent = program(job["agent"], client)
        return Run.begin(agent, "the input", directory, autosave=AUTOSAVE, **options)
    uses_search = '"tool:search"' in (found[0].path / "program.json").read_text()
    tools = {"search": client.search} if uses_search else None
    return Run.load(found[0].path, tools=tools, providers={"openai": client}, **options)


def work(job: dict[str, Any]) -> None:
    with run_of(job, Client(job["port"], job["process"])) as run:
        if job["asynchronous"]:
            result = asyncio.run(run.aresume(doubt=ask_again))
        else:
            result = run.resume(doubt=ask_again)
        outcome = {
            "value": result.value,
            "store": {name: thaw(project(value)) for name, value in sorted(result.store.items())},
            "counters": result.counters,
            "transitions": result.transitions,
            "trace": [[each.kind, each.term, each.input, each.output] for each in result.trace],
        }
    path = Path(job["outcome"])
    path.with_suffix(".new").write_text(json.dumps(outcome))
    path.with_suffix(".new").replace(path)


def main() -> None:
    while line := sys.stdin.readline():
        job = json.loads(line)
        number = os.fork()
        if number == 0:
            try:
                work(job)
            except BaseException:  # noqa: BLE001 - a process says why it ends
                Path(job["outcome"]).with_suffix(".error").write_text(traceback.format_exc())
                os._exit(1)
            os._exit(0)
        print(number, flush=True)  # noqa: T201 - to the parent
        os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
        print("ended", flush=True)  # noqa: T201
        sys.stdin.readline()
        print(os.waitpid(number, 0)[1], flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
