"""Starts processes that begin or go on with a run, each to be killed at any moment.

Reads a job a line, forks, writes the number of the process and, when it has ended, how: a fork is
forty times as quick as an interpreter that imports everything anew. The number is not free for
another process before a second line was read.
"""

import asyncio
import gc
import itertools
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lambdagent import Confirmation
from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.effects import keeper
from lambdagent.effects.run_directory import runs_in
from lambdagent.errors import SuspendedError
from lambdagent.ir.data import thaw
from lambdagent.machine.values import project
from tests.chaos.agents import AGENTS
from tests.chaos.world import Client

# Short runs are to have states in the middle, too.
keeper._SHORTEST = 20
AUTOSAVE = 5
Decide = Callable[[Confirmation], bool | str]


def clock() -> float:
    return 1_000.0


def run_of(job: dict[str, Any], client: Client) -> Run:
    """The run in the job's directory, begun if there is none."""
    directory = Path(job["directory"])
    found = runs_in(directory) if directory.exists() else []
    options: dict[str, Any] = {"fsync": job["fsync"], "clock": clock}
    agent = AGENTS[job["agent"]]
    if not found:
        program = agent.program(client)
        return Run.begin(program, agent.input, directory, autosave=AUTOSAVE, **options)
    return Run.load(found[0].path, **agent.overrides(client), **options)


def deciding(deadly: int | None, decide: Decide) -> Decide:
    """`decide`, and an end of the process in place of decision number `deadly`."""
    numbers = itertools.count()

    def decided(call: Confirmation) -> bool | str:
        if next(numbers) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return decide(call)

    return decided


def work(job: dict[str, Any]) -> None:
    client = Client(job["port"], job["process"])
    decide = deciding(job["deadly"], client.decide) if job["person"] else None
    with run_of(job, client) as run:
        if job["asynchronous"]:
            result = asyncio.run(run.aresume(doubt=ask_again, confirm=decide))
        else:
            result = run.resume(doubt=ask_again, confirm=decide)
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
    gc.freeze()  # a fork copies no page only because its garbage is looked for
    while line := sys.stdin.readline():
        job = json.loads(line)
        number = os.fork()
        if number == 0:
            try:
                work(job)
            except SuspendedError:
                os._exit(SuspendedError.exit_code)
            except BaseException:  # noqa: BLE001 - a process says why it ends
                Path(job["outcome"]).with_suffix(".error").write_text(traceback.format_exc())
                os._exit(1)
            os._exit(0)
        print(number, flush=True)  # noqa: T201 - to the parent
        os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
        print("ended", flush=True)  # noqa: T201
        sys.stdin.readline()
        _, status = os.waitpid(number, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
