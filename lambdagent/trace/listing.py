"""Records and transitions → the rows and lines of `lambdagent trace`."""

from __future__ import annotations

from fnmatch import fnmatchcase

from lambdagent.ir.data_text import escaped
from lambdagent.ir.exchange import key_text
from lambdagent.ir.fitting import columns, fit_around, fit_middle
from lambdagent.ir.limits import dollars
from lambdagent.machine.state import Kind, Machine, Path
from lambdagent.trace.macro import TraceRecord
from lambdagent.trace.sight import Sight, path_text
from lambdagent.trace.transition import Transition

_ARROW = "  ⟶  "
_GREEK = {
    "beta": "β",
    "delta": "δ",
    "mu": "μ",
    "gamma": "γ",
    "epsilon": "ε",
    "pi": "π",
    "administrative": "",
}


def matches(pattern: str, *names: str) -> bool:
    """Whether `pattern` is one of `names`, or a glob that fits one; case does not count.

    >>> matches("tool:*", "Tool:search"), matches("search", "Tool:search"), matches("wc", "think")
    (True, True, False)
    """
    wanted = pattern.casefold()
    parts = [part for name in names for part in {name, name.partition(":")[2]} if part]
    return any(fnmatchcase(part.casefold(), wanted) for part in parts)


def is_record(pattern: str, record: TraceRecord) -> bool:
    """Whether a record is of the term, or of the kind, that `pattern` says."""
    return matches(pattern, record.term, record.kind)


def is_transition(pattern: str, made: Transition) -> bool:
    """Whether a transition is by the rule, of the kind, or of the site that `pattern` says."""
    return matches(pattern, made.rule.name, kind_name(made), made.rule.kind, made.site)


def kind_name(made: Transition) -> str:
    """Return the kind of a transition in letters."""
    return next(name for name, letter in _GREEK.items() if letter == made.rule.kind)


def transition_row(sight: Sight, made: Transition) -> dict[str, object]:
    """Return the kernel trace record of semantics.md §4."""
    row: dict[str, object] = {
        "i": made.number,
        "kind": kind_name(made),
        "rule": made.rule.name,
        "node": made.node,
        "path": list(made.path),
        "redex": sight.term(made.redex),
        "result": sight.term(made.result),
        "counters": {kind.name.lower(): made.counters[kind] for kind in Kind},
    }
    if made.site:
        row["site"] = made.site
    return row


def transition_line(sight: Sight, made: Transition, width: int) -> str:
    """Return one line: number, kind, rule, redex and what it becomes, if another term."""
    where = f"{key_text(made.path)} " if made.path else ""
    head = f"{made.number:>6} {made.rule.kind or '·'} {made.rule.name:<11} {where}"
    rest = max(width - columns(head) - len(_ARROW), 20)
    redex, result = sight.term(made.redex), sight.term(made.result)
    if redex == result:
        return f"{head}{fit_middle(redex, rest + len(_ARROW))}"
    redex = fit_middle(redex, max(rest // 2, rest - columns(result)))
    return f"{head}{redex}{_ARROW}{fit_middle(result, rest - columns(redex))}"


def transition_lines(sight: Sight, made: Transition, width: int) -> list[str]:
    """Return all that there is to say about one transition, besides its surroundings."""
    where = f" in {path_text(made.path)}" if made.path else ""
    kind = f"{made.rule.kind} " if made.rule.kind else ""
    return [
        f"step {made.number}: {kind}{made.rule.name}{where}",
        f"  {made.rule.line}",
        f"  {made.rule.sentence}",
        f"  before  {marked(fit_around(sight.before(made), width - 12))}",
        f"  after   {marked(fit_around(sight.after(made), width - 12))}",
    ]


def state_lines(sight: Sight, state: Machine, path: Path, width: int) -> list[str]:
    """Return what is around a term: environment, continuation, store, other threads."""
    thread = state.threads.get(path, state.root)
    sections = {
        "environment": [f"{name} = {text}" for name, text in sight.environment(thread)],
        "continuation": sight.frames(thread.kont),
        "store": [f"{cell}: {text}" for cell, text in sight.store(thread)],
        "other threads": [f"{name} {text}" for name, text in sight.threads(state, path)],
    }
    lines = []
    for title, rows in sections.items():
        if rows:
            lines += [f"  {title}"]
            lines += [f"    {fit_middle(escaped(row), width - 4)}" for row in rows]
    return lines


def marked(parts: tuple[str, str, str]) -> str:
    """Return texts with marks around the one in the middle."""
    before, middle, after = parts
    return f"{before}‹{middle}›{after}"


def record_lines(record: TraceRecord) -> list[str]:
    """Return all that there is to say about one record of the macro trace."""
    term = escaped(record.term)
    lines = [f"step {record.step}: {record.kind} {term} ({key_text(record.key)})"]
    if record.started_s is not None:
        lines.append(f"  from {record.started_s:.3f}s, for {record.elapsed_s:.3f}s")
    if record.tokens is not None:
        cost = "" if record.cost_usd is None else f", {dollars(record.cost_usd)}"
        lines.append(f"  {record.tokens[0]} tokens in, {record.tokens[1]} out{cost}")
    lines += [f"  note: {escaped(note)}" for note in record.notes]
    for name, text in (("input", record.input), ("output", record.output)):
        if text:
            lines += [f"  {name}:"]
            lines += [f"    {escaped(line)}" for line in text.removesuffix("\n").split("\n")]
    return lines
