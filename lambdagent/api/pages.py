"""Recordings → pages that show them: every step of a run, in one file."""

from __future__ import annotations

import attrs

from lambdagent.api.recording import Recording
from lambdagent.api.reducing import library
from lambdagent.effects.collector import relaxed
from lambdagent.ir.limits import dollars
from lambdagent.machine.text import text_of_data
from lambdagent.trace.html import input_row, outcome_row, record_rows, render
from lambdagent.trace.macro import total_cost, total_tokens
from lambdagent.trace.nesting import Nesting
from lambdagent.trace.sight import Sight
from lambdagent.trace.step_table import StepTable
from lambdagent.trace.timeline import bars

# What a browser holds with ease; a page of more would take minutes to write.
MOST_STEPS = 100_000
# Steps between two of which is told that they are there.
_TOLD = 1_000


@attrs.frozen
class Page:
    """A page that shows a run.

    Attributes:
        steps: How many steps it has.
        length: How many steps the run has.
    """

    text: str = attrs.field(repr=False)
    steps: int
    length: int


def page_of(recording: Recording, *, most_steps: int = MOST_STEPS) -> Page:
    """Return the page of a run; of one with more than `most_steps` it has the first ones."""
    history = recording.history
    data = page_data(recording, most_steps=most_steps)
    length = history.length - history.first
    return Page(render(data), min(length, most_steps), length)


@relaxed()
def page_data(recording: Recording, *, most_steps: int = MOST_STEPS) -> dict[str, object]:
    """Return what the page of a run shows."""
    history = recording.history
    state = history.state(history.first)
    table = StepTable(Sight(recording.linked, library()), state)
    last = min(history.length, history.first + most_steps)
    for number in range(history.first + 1, last + 1):
        if number % _TOLD == 0:
            recording.watch(number, last)
        move = history.move(number, state)
        table.add(move)
        state = move.after
    records = recording.records
    found = bars(records)
    places = Nesting(recording.linked).places(records, recording.execution.exchanges)
    cost = total_cost(records)
    head = {
        "agent": recording.program.name,
        "input": input_row(text_of_data(recording.input)),
        "outcome": outcome_row(history.last, recording.head.get("error")),
        "engine": recording.engine[0] if recording.engine else None,
        "tokens": total_tokens(records),
        "cost": None if cost is None else dollars(cost),
        "elapsed": max([recording.elapsed_s, *(bar.end_s for bar in found)]),
        "length": history.length,
        "endless": history.is_cut,
    }
    return {
        "head": head,
        "records": record_rows(found, places, history.events, table.asked),
        **table.to_json(),
    }
