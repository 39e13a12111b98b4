"""Two recorded runs → how they differ; nobody is asked."""

from __future__ import annotations

import os

from lambdagent.api.differences import difference
from lambdagent.api.recording import Recording
from lambdagent.effects.redaction import Redaction
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.ir.sites import Site
from lambdagent.machine.state import Fail, Halt, Path, Value
from lambdagent.machine.text import text_of_data
from lambdagent.machine.values import project
from lambdagent.trace.comparison import Comparison, Side, asked_by, by_key, compare


def compare_runs(ours: Recording, theirs: Recording) -> Comparison:
    """Return how two runs differ.

    Raises:
        DivergenceError: One of them is not what its own journal says.
    """
    same = ours.linked.digest == theirs.linked.digest
    program = "" if same else difference(ours.program, theirs.program, Redaction(os.environ).text)
    return compare(_side(ours), _side(theirs), program)


def _side(recording: Recording) -> Side:
    execution = recording.execution
    requests: dict[Path, tuple[Site, Value, Data | Failure, bool]] = {
        key: (each.site, each.argument, each.answer, True)
        for key, each in execution.exchanges.items()
    }
    for request in execution.pending:
        requests[request.key] = (request.site, request.argument, None, False)
    records = by_key(recording.records)
    return Side(recording.place, recording.input, asked_by(requests), records, _outcome(recording))


def _outcome(recording: Recording) -> str:
    execution = recording.execution
    match execution.machine.root.state:
        case Halt(value):
            return f"answer: {text_of_data(project(value))}"
        case Fail(error):
            return f"error: {error['kind']}: {error['message']}"
    open_ = len(execution.pending)
    return f"no end: {'1 request has' if open_ == 1 else f'{open_:,} requests have'} no answer"
