"""Results → OpenTelemetry spans, by the semantic conventions for generative AI.

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
from typing import TYPE_CHECKING, TypeAlias

from lambdagent.api.running import Result
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Exchange, Failure, key_text
from lambdagent.trace.macro import TraceRecord

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer, TracerProvider

_Attribute: TypeAlias = "str | int | float | tuple[str, ...]"
_NANO = 1_000_000_000
# Names of providers in the conventions, where they are not ours.
_PROVIDERS = {"azure": "azure.ai.openai"}


def export_spans(
    result: Result,
    *,
    provider: TracerProvider | None = None,
    ended_s: float | None = None,
    content: bool = False,
) -> None:
    """Tell OpenTelemetry what a run did.

    Args:
        result: A run that is over.
        provider: Gets the spans; the global one by default.
        ended_s: When the run ended, in seconds since the epoch; now by default.
        content: Whether the spans hold prompts, arguments and answers. Secrets of the environment
            are never in them.

    Raises:
        ImportError: ``opentelemetry`` is not installed.
    """
    try:
        from opentelemetry import trace  # noqa: PLC0415 - an SDK is loaded by whoever uses it
    except ImportError as error:
        what = "spans need OpenTelemetry: pip install 'lambdagent[telemetry]'"
        raise ImportError(what) from error

    tracer = trace.get_tracer("lambdagent", tracer_provider=provider)
    ended_s = time.time() if ended_s is None else ended_s
    clock = _Clock(ended_s - result.elapsed_s)
    agent = result.execution.linked.program.name
    whole = tracer.start_span(
        f"invoke_agent {agent}",
        start_time=clock.at(0.0),
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent},
    )
    with trace.use_span(whole, end_on_exit=False):
        exchanges = result.execution.exchanges
        for record in result.trace:
            _span(tracer, clock, record, exchanges.get(record.key), content=content)
    whole.set_attribute("lambdagent.engine", result.engine)
    whole.end(clock.at(result.elapsed_s))


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


def _span(
    tracer: Tracer, clock: _Clock, record: TraceRecord, asked: Exchange | None, *, content: bool
) -> None:
    start, end = clock.span(record)
    name, attributes = _described(record, asked)
    attributes["lambdagent.key"] = key_text(record.key)
    if content and asked is not None:
        attributes |= _content(record)
    span = tracer.start_span(name, start_time=start, attributes=attributes, kind=_kind(record))
    for note in record.notes:
        span.add_event(note, timestamp=end)
    if asked is not None and isinstance(asked.answer, Failure):
        _fail(span, asked.answer)
    span.end(end)


def _kind(record: TraceRecord) -> SpanKind:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415

    return SpanKind.CLIENT if record.kind == "llm" else SpanKind.INTERNAL


def _fail(span: Span, failure: Failure) -> None:
    from opentelemetry.trace import StatusCode  # noqa: PLC0415

    span.set_attribute("error.type", failure.kind)
    span.set_status(StatusCode.ERROR, failure.message)


def _described(record: TraceRecord, asked: Exchange | None) -> tuple[str, dict[str, _Attribute]]:
    """Return the name of a record's span, and its attributes."""
    if asked is not None and record.kind == "llm":
        return _model_call(record, asked)
    if asked is not None and record.kind == "tool":
        tool = str(asked.site.static["name"])
        attributes: dict[str, _Attribute] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.id": key_text(record.key),
            "gen_ai.tool.type": "function",
        }
        return f"execute_tool {tool}", attributes
    attributes = {"lambdagent.output": record.output} if record.kind == "route" else {}
    return record.term, attributes


def _model_call(record: TraceRecord, asked: Exchange) -> tuple[str, dict[str, _Attribute]]:
    model = asked.site.static["model"]
    assert isinstance(model, Record)
    provider = str(model["provider"])
    attributes: dict[str, _Attribute] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": str(model["name"]),
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


def _finish_reason(answer: Data | Failure) -> str | None:
    reason = answer.get("finish_reason") if isinstance(answer, Record) else None
    return reason if isinstance(reason, str) else None


def _content(record: TraceRecord) -> dict[str, _Attribute]:
    """Return what was said, in the layout of the conventions."""
    if record.kind == "tool":
        return {
            "gen_ai.tool.call.arguments": record.input,
            "gen_ai.tool.call.result": record.output,
        }
    if record.kind != "llm":
        return {"lambdagent.input": record.input}
    said = (("input", "user", record.input), ("output", "assistant", record.output))
    return {
        f"gen_ai.{side}.messages": json.dumps(
            [{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False
        )
        for side, role, text in said
    }
