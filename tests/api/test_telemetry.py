"""Spans of a run, as OpenTelemetry's own exporter sees them."""

import json
import sys

import attrs
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

from lambdagent.api.kept import Run
from lambdagent.api.recording import document, load
from lambdagent.api.running import Session, run
from lambdagent.api.telemetry import Run as Told
from lambdagent.api.telemetry import export_spans
from lambdagent.errors import BudgetError, RunError, SuspendedError, finding
from lambdagent.ir.data import freeze
from lambdagent.ir.model import Model
from lambdagent.ir.surface import Compose, Guard, Lam, Loop, Par, ReActStep, Term, Tool

OPERATIONS = {each.value for each in gen_ai_attributes.GenAiOperationNameValues}
KNOWN = {
    value
    for module in (gen_ai_attributes, error_attributes)
    for name, value in vars(module).items()
    if name.isupper()
}


CALL = {
    "text": '{"tool": "wc", "args": "abc"}',
    "usage": {"input": 7, "output": 3},
    "finish_reason": "tool_use",
}


def model(*replies: object) -> Model:
    script = freeze({"replies": list(replies)})
    return Model(provider="scripted", name="tiny", max_tokens=99, script=script)


def agent(*replies: object, tool: str = "wc -c") -> Loop:
    think = Lam("worker", "work", model(*replies))
    step = ReActStep("worker.step", think=think, tools=(Tool("wc", command=tool),))
    return Loop(step, "False", 4)


def spans_of(result: Told, **options: object) -> list[ReadableSpan]:
    """Return the spans of `result`, the one of the whole run first."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    export_spans(result, provider=provider, ended_s=1_000.0, **options)
    *inner, whole = exporter.get_finished_spans()
    return [whole, *inner]


def check(spans: list[ReadableSpan]) -> None:
    """Refuse what OpenTelemetry does not know, and times that do not nest."""
    whole, *inner = spans
    for span in spans:
        assert whole.start_time <= span.start_time <= span.end_time <= whole.end_time
        assert {name for name in span.attributes if not name.startswith("lambdagent.")} <= KNOWN
        assert span.attributes.get("gen_ai.operation.name", "chat") in OPERATIONS
    assert {span.parent.span_id for span in inner} == {whole.context.span_id}


def test_each_record_has_a_span_by_the_conventions():
    result = run(agent(CALL, "done"), "count")
    whole, *inner = spans = spans_of(result)
    check(spans)
    assert (whole.name, whole.end_time) == ("invoke_agent agent", 10**12)
    assert dict(whole.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "agent",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "tiny",
        "lambdagent.engine": result.engine,
        "lambdagent.outcome": "answered",
    }
    assert [span.name for span in inner] == [
        "chat tiny",
        "route",
        "execute_tool wc",
        "chat tiny",
        "route",
    ]
    chat, _, tool, *_ = inner
    assert chat.kind is SpanKind.CLIENT
    assert dict(chat.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "tiny",
        "gen_ai.agent.name": "worker",
        "gen_ai.request.temperature": 0.3,
        "gen_ai.request.max_tokens": 99,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.response.finish_reasons": ("tool_use",),
        "lambdagent.key": "@0",
    }
    assert tool.attributes["gen_ai.tool.name"] == "wc"
    assert "gen_ai.tool.call.id" not in tool.attributes, "the model gave it no name"
    assert tool.end_time > tool.start_time


def test_what_was_said_is_in_the_spans_only_when_it_is_asked_for():
    result = run(agent(CALL, "done"), "count")
    quiet = json.dumps([dict(span.attributes) for span in spans_of(result)], default=str)
    assert "count" not in quiet
    spans = spans_of(result, content=True)
    check(spans)
    chat, tool = spans[1], spans[3]
    (message,) = json.loads(chat.attributes["gen_ai.input.messages"])
    assert message == {"role": "user", "parts": [{"type": "text", "content": "count"}]}
    (message,) = json.loads(chat.attributes["gen_ai.output.messages"])
    assert message == {
        "role": "assistant",
        "parts": [{"type": "text", "content": CALL["text"]}],
        "finish_reason": "tool_use",
    }
    assert tool.attributes["gen_ai.tool.call.arguments"] == "abc"
    assert tool.attributes["gen_ai.tool.call.result"] == "3"


def test_a_call_that_failed_has_a_status():
    spans = spans_of(run(agent(CALL, "done", tool="exit 3"), "count"))
    (tool,) = (span for span in spans if span.name == "execute_tool wc")
    assert tool.status.status_code is StatusCode.ERROR
    assert tool.attributes["error.type"] == "ToolError"
    failed = [span.name for span in spans if span.status.status_code is StatusCode.ERROR]
    assert failed == ["execute_tool wc"]


def test_what_fails_and_what_is_remarked_quote_answers_only_when_that_is_asked_for():
    failing = run(agent(CALL, "done", tool="echo private >&2; exit 3"), "count")
    guarded = Guard(Lam("w", "p", model("private", "private")), "int(x) > 0", 1, "text")
    remarked = run(guarded, "count")
    for result in (failing, remarked):
        quiet, loud = (
            json.dumps([json.loads(span.to_json()) for span in spans_of(result, content=content)])
            for content in (False, True)
        )
        assert "private" not in quiet
        assert "private" in loud
    told = [event.attributes["lambdagent.note"] for event in spans_of(remarked)[1].events]
    assert "guard: not valid, 1 retries left" in told


def test_calls_have_the_names_that_the_model_gave_them():
    asked = {"id": "call_7", "name": "wc", "arguments": {"input": "abc"}}
    result = run(agent({"text": "", "tool_calls": [asked]}, "done"), "count")
    (tool,) = (span for span in spans_of(result) if span.name == "execute_tool wc")
    assert tool.attributes["gen_ai.tool.call.id"] == "call_7"


def test_models_of_several_providers_are_not_told_for_the_whole_run():
    named = attrs.evolve(model("no"), name="huge")
    whole, *_ = spans_of(run(Par(Lam("a", "p", model("yes")), Lam("b", "p", named)), "x"))
    assert whole.attributes["gen_ai.provider.name"] == "scripted"
    assert "gen_ai.request.model" not in whole.attributes


def test_parallel_branches_and_kept_runs_have_spans_too(tmp_path):
    both = Par(Lam("a", "p", model("yes")), Lam("b", "p", model("no")))
    with Run.begin(both, "x", tmp_path) as kept:
        spans = spans_of(kept.resume())
    check(spans)
    assert [span.attributes.get("lambdagent.key") for span in spans[1:]] == ["@0.0.0", "@0.1.0"]


def failed(term: Term) -> RunError | SuspendedError:
    with pytest.raises((RunError, SuspendedError)) as caught:
        run(term, "count")
    return caught.value


def test_a_run_that_failed_has_the_spans_of_what_it_did():
    error = failed(Compose(Lam("a", "p", model("yes")), Lam("b", "p", model())))
    whole, first, second = spans = spans_of(error)
    check(spans)
    assert whole.attributes["lambdagent.outcome"] == "failed"
    assert [span.status.status_code for span in spans] == [
        StatusCode.ERROR,
        StatusCode.UNSET,
        StatusCode.ERROR,
    ]
    assert (first.attributes["gen_ai.agent.name"], second.attributes["gen_ai.agent.name"]) == (
        "a",
        "b",
    )
    assert whole.attributes["error.type"] == second.attributes["error.type"]
    assert whole.status.description is None
    loud, *_ = spans_of(error, content=True)
    assert loud.status.description


def test_a_recording_of_a_run_that_failed_has_the_same_spans(tmp_path):
    term = Compose(Lam("a", "p", model("yes")), Lam("b", "p", model()))
    path = tmp_path / "run.json"
    with Session(term) as session:
        with pytest.raises(RunError) as caught:
            session.run("count")
        execution = session.history()
        path.write_text(document(execution, {"error": str(caught.value)}, session.redaction))
    told = [
        [(span.name, span.status.status_code) for span in spans_of(each)]
        for each in (caught.value, execution, load(path))
    ]
    assert told[0] == told[1] == told[2]


def test_a_run_that_was_stopped_says_by_what():
    with pytest.raises(BudgetError) as caught:
        run(agent(CALL, CALL, CALL, CALL), "count", transition_limit=60)
    whole, chat, *_ = spans = spans_of(caught.value)
    check(spans)
    assert chat.name == "chat tiny"
    assert whole.attributes["lambdagent.outcome"] == "stopped"
    assert whole.attributes["error.type"] == "BudgetError"
    assert whole.status.status_code is StatusCode.ERROR
    whole, *_ = spans_of(caught.value.execution)
    assert whole.attributes["error.type"] == "_OTHER"


def test_a_run_that_waits_for_a_person_has_not_failed():
    think = Lam("worker", "work", model(CALL))
    tool = Tool("wc", command="wc -c", confirm=True)
    error = failed(Loop(ReActStep("worker.step", think=think, tools=(tool,)), "False", 4))
    assert isinstance(error, SuspendedError)
    for told in (error, error.execution):
        whole, chat, *_ = spans_of(told)
        assert chat.name == "chat tiny"
        assert whole.attributes["lambdagent.outcome"] == "suspended"
        assert whole.status.status_code is StatusCode.UNSET
        assert "error.type" not in whole.attributes


def test_an_error_of_no_run_has_no_spans():
    with pytest.raises(ValueError, match="did not begin"):
        export_spans(BudgetError(finding("R005", limit=1)))


def test_without_opentelemetry_it_says_what_to_install(monkeypatch):
    result = run(Lam("a", "p", model("yes")), "x")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ImportError, match=r"lambdagent\[telemetry\]"):
        export_spans(result)
