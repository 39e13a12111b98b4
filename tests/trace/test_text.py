"""β-lines and totals, as specification 15.3 shows them."""

import attrs
import pytest

from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.text import render, render_record, render_total

THINK = TraceRecord(
    0, "llm", "think", "帮我写快速排序", "需要调用代码工具...", 0.0, 2.84, (1900, 500)
)
ROUTE = TraceRecord(1, "route", "route", "", "selected: sum")
TOOL = TraceRecord(2, "tool", "Tool:sum", "sort", "def quicksort(arr): ...", 2.8, 1.2)
ENDING = TraceRecord(3, "route", "route", "", "selected: terminate (λx.x)")
TERMINATE = TraceRecord(4, "terminate", "terminate", "done", "done")


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (THINK, 'β[0]  think         (2.8s)  "帮我写快速排序" → "需要调用代码工具..."'),
        (ROUTE, "β[1]  route         (0.0s)  → selected: sum"),
        (TOOL, 'β[2]  Tool:sum      (1.2s)  → "def quicksort(arr): ..."'),
        (ENDING, "β[3]  route         (0.0s)  → selected: terminate (λx.x)"),
        (TERMINATE, "β[4]  terminate     (0.0s)  → (identity: base case reached)"),
    ],
    ids=lambda value: getattr(value, "term", ""),
)
def test_a_record_is_one_line(record: TraceRecord, line: str):
    assert render_record(record) == line


def test_records_total_and_a_rule_between():
    records = (THINK, ROUTE, TOOL, ENDING, TERMINATE)
    lines = render(records, 7.06).splitlines()
    assert lines[:5] == [render_record(record) for record in records]
    assert lines[5:] == ["─" * 40, "Total: 5 β-reductions, 7.1s, ~2400 tokens"]


def test_tokens_are_told_only_when_every_call_was_counted():
    uncounted = attrs.evolve(THINK, tokens=None)
    assert render_total((THINK, uncounted), 1.0) == "Total: 2 β-reductions, 1.0s"
    assert render_total((THINK, THINK), 1.0) == "Total: 2 β-reductions, 1.0s, ~4800 tokens"
    assert render_total((ROUTE,), 0.0) == "Total: 1 β-reduction, 0.0s"


def test_texts_stay_on_their_line_and_are_cut():
    record = attrs.evolve(THINK, input="a\n\tb\x1b\x7f", output="x" * 61)
    line = render_record(record)
    assert line.endswith('"a\\n\\tb\\u001b\\u007f" → "' + "x" * 59 + '…"')
    assert "\n" not in line
    assert render_record(attrs.evolve(THINK, output="x" * 60)).endswith("x" * 60 + '"')


def test_notes_stand_below_their_record():
    noted = attrs.evolve(ROUTE, notes=("guard: not valid", "reason: odd"))
    assert render_record(noted).splitlines()[1:] == [
        "      ↳ guard: not valid",
        "      ↳ reason: odd",
    ]
