"""Runs → OpenTelemetry spans, by the semantic conventions for generative AI.

    invoke_agent calculator
    ├── chat gpt-4o-mini
    ├── execute_tool search
    └── chat gpt-4o-mini

A span for each record of the macro trace. Prompts and answers are left out unless they are asked
for. Source: OpenTelemetry semantic conventions, `gen_ai`, of `opentelemetry-semantic-conventions`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs

from lambdagent.api.recording import Recording
from lambdagent.api.running import Result, trace_of
from lambdagent.effects.execution import Execution
from lambdagent.effects.protocol import reply_of
from lambdagent.errors import LambdagentError, RunError, SuspendedError
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Exchange, Failure, key_text
from lambdagent.machine.state import Fail, Halt, Path
from lambdagent.trace.macro import TraceRecord, call_record

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer, TracerProvider

_Attribute: TypeAlias = "str | int | float | tuple[str, ...]"
# What can be told; errors carry the run that they ended.
Run: TypeAlias = "Result | Recording | Execution | RunError | SuspendedError"
_NANO = 1_000_000_000
# For errors that have no name, by the conventions.
_UNKNOWN = "_OTHER"
# Names of providers in the conventions, where they are not ours.
_PROVIDERS = {"moonshot": "moonshot_ai"}


def export_spans(
    run: Run,
    *,
    provider: TracerProvider | None = None,
    ended_s: float | None = None,
    content: bool = False,
) -> None:
    """Tell OpenTelemetry what a run did.

    Args:
        run: A result; the error of a run that failed, was stopped or waits for a person; a
            recording; or what `history` of a session or of a kept run returns.
        provider: Gets the spans; the global one by default.
        ended_s: When the run ended, in seconds since the epoch; now by default.
        content: Whether the spans hold prompts, arguments and answers. Secrets of the environment
            are never in them.

    Raises:
        ImportError: ``opentelemetry`` is not installed.
        ValueError: `run` is an error of no run.
    """
    try:
        from opentelemetry import trace  # noqa: PLC0415 - an SDK is loaded by whoever uses it
    except ImportError as error:
        what = "spans need OpenTelemetry: pip install 'lambdagent[telemetry]'"
        raise ImportError(what) from error

    tracer = trace.get_tracer("lambdagent", tracer_provider=provider)
    ended_s = time.time() if ended_s is None else ended_s
    found = _seen(run)
    clock = _Clock(ended_s - found.elapsed_s)
    agent = found.execution.linked.program.name
    exchanges = found.execution.exchanges
    whole = tracer.start_span(
        f"invoke_agent {agent}",
        start_time=clock.at(0.0),
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            **_in_common(exchanges.values()),
        },
    )
    ids = _call_ids(exchanges)
    with trace.use_span(whole, end_on_exit=False):
        for record in found.records:
            # What asked nothing has the key of what comes next.
            asked = None if record.started_s is None else exchanges.get(record.key)
            _span(tracer, clock, record, asked, ids.get(record.key), content=content)
    whole.set_attribute("lambdagent.engine", found.engine)
    whole.set_attribute("lambdagent.outcome", found.outcome)
    if found.failure is not None:
        _fail(whole, found.failure, told=content)
    whole.end(clock.at(found.elapsed_s))


@attrs.frozen
class _Seen:
    """What there is to tell of a run.

    Attributes:
        engine: The engine that ran; of a recording that does not say it, the one that replays.
        outcome: ``answered``, ``failed``, ``stopped`` or ``suspended``.
        failure: Why it did not come to an answer, if something went wrong.
    """

    execution: Execution
    elapsed_s: float
    engine: str
    outcome: str
    failure: Failure | None

    @property
    def records(self) -> list[TraceRecord]:
        """The steps, and the calls by which the run failed, which are no steps of its trace."""
        records = list(trace_of(self.execution))
        told = {record.key for record in records if record.started_s is not None}
        for key, asked in sorted(self.execution.exchanges.items()):
            is_call = asked.site.kind in {"llm", "tool"} and isinstance(asked.answer, Failure)
            if is_call and key not in told:
                records.append(call_record(len(records), asked.site.name, asked))
        return sorted(records, key=lambda record: record.key)


def _seen(run: Run) -> _Seen:
    error = run if isinstance(run, LambdagentError) else None
    execution = run if isinstance(run, Execution) else run.execution
    if execution is None:
        what = "the run did not begin, so there is nothing to tell"
        raise ValueError(what)
    ends = [each.started_s + each.elapsed_s for each in execution.exchanges.values()]
    known_s = run.elapsed_s if isinstance(run, Result | Recording) else 0.0
    recorded = run.engine if isinstance(run, Recording) else ()
    engine, _ = recorded or execution.choice
    return _Seen(execution, max([known_s, *ends]), engine, *_outcome(execution, error))


def _outcome(execution: Execution, error: LambdagentError | None) -> tuple[str, Failure | None]:
    state = execution.machine.root.state
    if isinstance(state, Fail):
        return "failed", Failure(str(state.error["kind"]), str(state.error["message"]), None)
    if isinstance(state, Halt):
        return "answered", None
    if isinstance(error, SuspendedError) or (error is None and execution.unconfirmed):
        return "suspended", None
    kind = _UNKNOWN if error is None else type(error).__name__
    return "stopped", Failure(kind, "" if error is None else str(error), None)


class _Clock:
    """Turns seconds of a run into nanoseconds since the epoch."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._last_s = 0.0

    def at(self, run_s: float) -> int:
        return round((self._began_s + run_s) * _NANO)

    def span(self, record: TraceRecord) -> tuple[int, int]:
        """Return the start and the end of a record; one that takes no time follows the last."""
        start = self._last_s if record.started_s is None else record.started_s
        self._last_s = start + record.elapsed_s
        return self.at(start), self.at(self._last_s)


def _in_common(exchanges: Iterable[Exchange]) -> dict[str, _Attribute]:
    """Return what all models of a run have in common."""
    found = [dict(_model_of(asked)) for asked in exchanges if asked.site.kind == "llm"]
    return dict(set.intersection(*(set(each.items()) for each in found))) if found else {}


def _call_ids(exchanges: Mapping[Path, Exchange]) -> dict[Path, str]:
    """Return what models called their tool calls where their API has names for these, by key."""
    ids: dict[Path, str] = {}
    named: dict[Path, dict[str, str]] = {}
    for key in sorted(exchanges):
        asked = exchanges[key]
        if asked.site.kind == "llm":
            reply = reply_of(asked.answer)
            calls = () if reply is None else reply.tool_calls
            named[key[:-1]] = {call.name: call.id for call in reversed(calls)}
        elif asked.site.kind == "tool":
            known = named.get(key[:-1], {}).get(str(asked.site.static["name"]))
            if known:
                ids[key] = known
    return ids


def _span(
    tracer: Tracer,
    clock: _Clock,
    record: TraceRecord,
    asked: Exchange | None,
    call_id: str | None,
    *,
    content: bool,
) -> None:
    start, end = clock.span(record)
    name, attributes = _described(record, asked)
    attributes["lambdagent.key"] = key_text(record.key)
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    if content and asked is not None:
        attributes |= _content(record, asked.answer)
    span = tracer.start_span(name, start_time=start, attributes=attributes, kind=_kind(record))
    for note in record.notes:
        span.add_event("lambdagent.note", {"lambdagent.note": _remark(note, content=content)}, end)
    if asked is not None and isinstance(asked.answer, Failure):
        _fail(span, asked.answer, told=content or record.kind != "tool")
    span.end(end)


def _remark(note: str, *, content: bool) -> str:
    """Return a note; what checks say quotes answers, so without these only who says it is told."""
    who = note.partition(":")[0]
    return note if content or who == "guard" else who


def _kind(record: TraceRecord) -> SpanKind:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415

    return SpanKind.CLIENT if record.kind == "llm" else SpanKind.INTERNAL


def _fail(span: Span, failure: Failure, *, told: bool) -> None:
    """Mark a span as failed; how is `told` unless that is an answer of a tool."""
    from opentelemetry.trace import StatusCode  # noqa: PLC0415

    span.set_attribute("error.type", failure.kind)
    span.set_status(StatusCode.ERROR, failure.message if told else None)


def _described(record: TraceRecord, asked: Exchange | None) -> tuple[str, dict[str, _Attribute]]:
    """Return the name of a record's span, and its attributes."""
    if asked is not None and record.kind == "llm":
        return _model_call(record, asked)
    if asked is not None and record.kind == "tool":
        tool = str(asked.site.static["name"])
        attributes: dict[str, _Attribute] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
        }
        return f"execute_tool {tool}", attributes
    attributes = {"lambdagent.output": record.output} if record.kind == "route" else {}
    return record.term, attributes


def _model_call(record: TraceRecord, asked: Exchange) -> tuple[str, dict[str, _Attribute]]:
    model = asked.site.static["model"]
    assert isinstance(model, Record)
    attributes: dict[str, _Attribute] = {
        "gen_ai.operation.name": "chat",
        **_model_of(asked),
        "gen_ai.agent.name": str(asked.site.static["agent"]),
    }
    for name in ("temperature", "max_tokens", "top_p"):
        value = model[name]
        if isinstance(value, int | float):
            attributes[f"gen_ai.request.{name}"] = value
    if record.tokens is not None:
        attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"] = (
            record.tokens
        )
    reason = _finish_reason(asked.answer)
    if reason is not None:
        attributes["gen_ai.response.finish_reasons"] = (reason,)
    return f"chat {model['name']}".rstrip(), attributes


def _model_of(asked: Exchange) -> dict[str, _Attribute]:
    """Return who is asked: the provider and its model, where it has a name."""
    model = asked.site.static["model"]
    assert isinstance(model, Record)
    provider = str(model["provider"])
    named = {"gen_ai.request.model": str(model["name"])} if model["name"] else {}
    return {"gen_ai.provider.name": _PROVIDERS.get(provider, provider), **named}


def _finish_reason(answer: Data | Failure) -> str | None:
    reason = answer.get("finish_reason") if isinstance(answer, Record) else None
    return reason if isinstance(reason, str) else None


def _content(record: TraceRecord, answer: Data | Failure) -> dict[str, _Attribute]:
    """Return what was said, in the layout of the conventions."""
    if record.kind == "tool":
        return {
            "gen_ai.tool.call.arguments": record.input,
            "gen_ai.tool.call.result": record.output,
        }
    if record.kind != "llm":
        return {"lambdagent.input": record.input}
    found = _message("input", role="user", text=record.input)
    if not isinstance(answer, Failure):
        reason = _finish_reason(answer) or "unknown"
        found |= _message("output", role="assistant", text=record.output, finish_reason=reason)
    return found


def _message(side: str, *, role: str, text: str, **more: str) -> dict[str, _Attribute]:
    message = {"role": role, "parts": [{"type": "text", "content": text}], **more}
    return {f"gen_ai.{side}.messages": json.dumps([message], ensure_ascii=False)}
