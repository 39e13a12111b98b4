"""Random runs, recorded as `run --trace-file` does it."""

import json
from pathlib import Path
from typing import Any, cast

from lambdagent.api import failures, running
from lambdagent.api.recording import Recording, document, load
from lambdagent.effects.driver import drive
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers
from lambdagent.effects.journal import told_by
from lambdagent.effects.redaction import Redaction
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.program import Program
from lambdagent.machine.checkpoint import decode_machine
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import link
from lambdagent.machine.state import Fail
from lambdagent.machine.step import start
from lambdagent.machine.values import project
from tests.laws.observe import Answering, Oracle

ENGINES = (Choice("cek", "asked for"), Choice("recursive", "asked for"))


def recorded(program: Program, value: Data, oracle: Oracle, engine: Choice) -> dict[str, Any]:
    """Return the trace file of a run."""
    linked = link(program)
    execution = Execution(linked, start(linked, value), choice=engine)

    def answer(request: Any) -> Any:
        return oracle(request.key, request.site.name, project(request.argument))

    def confirm(call: Any) -> Any:
        (request,) = [each for each in execution.unconfirmed if each.key == call.key]
        return answer(request)

    drive(execution, cast(Handlers, Answering(answer)), confirm=confirm)
    state = execution.machine.root.state
    if isinstance(state, Fail):
        trace = [record.to_json() for record in running.trace_of(execution)]
        error = str(failures.error_of(state.error, by_hand=program.by_hand))
        outcome: dict[str, object] = {"error": error, "trace": trace}
    else:
        result = running.Result(None, *execution.choice, 1.5, execution, lambda: execution)
        outcome = running.to_json(result)
    found: dict[str, Any] = json.loads(document(execution, outcome, Redaction({})))
    return found


def of_program(program: Program, data: dict[str, Any]) -> Recording:
    """Return the run of a trace file of a program that has sites which no file may have."""
    linked = link(program)
    frozen = cast(Record, freeze(data))
    first, told = decode_machine(linked, frozen["start"]), told_by(cast(Any, frozen["journal"]))
    return Recording("run", frozen, linked, first, told)


def loaded(data: dict[str, Any], path: Path) -> Recording:
    """Return the run of a trace file, which is written to `path`."""
    path.write_text(json.dumps(data), encoding="utf-8")
    return load(path)
