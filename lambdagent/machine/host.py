"""Host sites: deterministic, total functions of their argument, found by kind (δ).

Each factory gets the static data of a site and returns its function from value to value.
"""

from collections.abc import Callable, Mapping

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_schema import named_types, problems_of
from lambdagent.ir.finish_reasons import finish_of_reason
from lambdagent.ir.labels import (
    EXIT_CONDITION,
    FITTING,
    MAX_TURNS,
    OTHER,
    RESULTS,
    ROUNDS,
    TERMINATE,
    TRANSCRIPT,
    action_labels,
)
from lambdagent.machine.answers import text_of
from lambdagent.machine.called import (
    Answer,
    Call,
    answer_of,
    arguments_of,
    finish_of,
    fitted,
    is_answer,
    is_cut,
)
from lambdagent.machine.decoders import NO_JSON, DecodeError, decode_label, decode_output
from lambdagent.machine.expression import check
from lambdagent.machine.several_calls import native_call, read_round
from lambdagent.machine.state import CONS, NIL_VALUE, PAIR, TAGGED, Value
from lambdagent.machine.text import text_of_data, text_of_value
from lambdagent.machine.toolcall import extract_call
from lambdagent.machine.values import (
    Noted,
    inject,
    list_items,
    list_value,
    pair,
    parts,
    project,
    tagged,
    tuple_items,
)
from lambdagent.messages import phrase

HostFunction = Callable[[Value], Value]

# What a model sees of a result that it is not to see.
_NOT_SHOWN = "(the result is not shown)"


def predicate(static: Record) -> HostFunction:
    """``P(x)``: the expression over the names of the components of the argument.

    An exception counts as false; its reason is a note of the trace.
    """
    names = _strings(static["names"])
    expression = static["expression"]

    def run(value: Value) -> Value:
        values = tuple_items(value) if len(names) > 1 else [value]
        bound = {name: project(item) for name, item in zip(names, values, strict=True)}
        passed, reason = check(expression, bound)
        return passed if reason is None else Noted(passed, reason)

    return run


def stop(static: Record) -> HostFunction:
    """The exit test of a ReAct loop, over ⟨reply, ⟨tool, ⟨argument, ⟨observation, round⟩⟩⟩⟩.

    Where a reply may hold several calls it is over ⟨reply, ⟨results, round⟩⟩.
    """
    expression = static["expression"]
    tools_of = _several_tools if static.get("several") else _one_tool

    def run(value: Value) -> Value:
        reply, *seen, done = map(project, tuple_items(value))
        bound: dict[str, Data] = {
            "x": text_of(reply),
            "content": text_of(reply),
            "turn": done + 1 if isinstance(done, int) else 1,
            "finish": finish_of_reason(finish_of(reply)),
            "finish_reason": finish_of(reply),
            **tools_of(reply, *seen),
        }
        passed, reason = check(expression, bound)
        if passed:
            return Noted(passed, EXIT_CONDITION, "exit")
        return passed if reason is None else Noted(passed, reason)

    return run


def _one_tool(_reply: Data, tool: Data, argument: Data, observation: Data) -> dict[str, Data]:
    """Return what an exit test knows of the tool of a round."""
    return {
        "tool_calls": (Record(id="", name=tool, arguments=argument),),
        "tool_results": Record({text_of_data(tool): observation}),
        "observation": observation,
    }


def _several_tools(reply: Data, results: Data) -> dict[str, Data]:
    """Return what an exit test knows of the tools of a round, ⟨tool, observation⟩ each."""
    items = results if isinstance(results, tuple) else ()
    rows = [(text_of_data(row[0]), row[1]) for row in items if isinstance(row, tuple)]
    called = reply.get("tool_calls") if isinstance(reply, Record) else None
    texts = [text_of_data(observation) for _, observation in rows]
    return {
        "tool_calls": called or tuple(Record(id="", name=n, arguments=None) for n, _ in rows),
        "tool_results": Record(dict(rows)),
        "observation": rows[0][1] if len(rows) == 1 else "\n\n".join(texts),
    }


def action(static: Record) -> HostFunction:
    """Decode a reply: ``call tool⟨args⟩ | invalid⟨why⟩ | terminate⟨answer⟩ | answer⟨text⟩``.

    Where a reply may hold several calls, see `several_calls`. JSON that fits the form of answers
    is no broken call, whatever it looks like.
    """
    tools, arguments = _strings(static["tools"]), arguments_of(static.get("parameters"))
    form = static.get("schema")
    if static.get("several"):
        return lambda value: read_round(project(value), tools, arguments, form)
    labels = action_labels(tools)
    known = (*tools, TERMINATE)
    number = {tool: i for i, tool in enumerate(known)}

    def run(value: Value) -> Value:
        reply = project(value)
        text = text_of(reply)
        decoded = native_call(reply, known) or extract_call(text, known, finish_of(reply))
        if isinstance(decoded, Call) and decoded.tool == TERMINATE:
            return tagged(labels, len(tools) + 1, answer_of(decoded, form))
        if isinstance(decoded, Call):
            decoded = fitted(decoded, arguments, known)
        if isinstance(decoded, Call):
            return tagged(labels, number[decoded.tool], inject(decoded.args))
        if isinstance(decoded, Answer) or is_answer(text, form):
            return tagged(labels, len(tools) + 2, text)
        return tagged(labels, len(tools), decoded.message)

    return run


def label(static: Record) -> HostFunction:
    """Decode a text to ``lᵢ⟨text⟩`` of the labels, or to ``_⟨text⟩``."""
    labels = (*_strings(static["labels"]), OTHER)

    def run(value: Value) -> Value:
        text = text_of_value(value)
        index = decode_label(text, labels[:-1])
        return tagged(labels, len(labels) - 1 if index is None else index, text)

    return run


def fits(static: Record) -> HostFunction:
    """Decode a reply to ``fits⟨value⟩``, or to ``misfit⟨why⟩`` if it is no JSON that fits.

    Why not is a note of the trace, and what the model is told.
    """
    schema = static["schema"]
    absent = _absent(schema)

    def run(value: Value) -> Value:
        try:
            answer = decode_output("json", text_of_value(value), absent)
            problems = problems_of(answer, schema)
        except DecodeError as error:
            problems = [error.reason]
            if is_cut(finish_of(project(value))):
                problems.append("it was cut off")
        if problems:
            why = "; ".join(problems)
            return Noted(tagged(FITTING, 1, why), why)
        return tagged(FITTING, 0, inject(answer))

    return run


def _absent(schema: Data) -> str:
    """Return what is said of a text without JSON that should fit `schema`."""
    types = named_types(schema)
    if types == {"string"}:
        return phrase("the text is no JSON string, which stands in double quotes")
    if types and types.isdisjoint({"object", "array"}):
        names = ", ".join(f"`{each}`" for each in sorted(types))
        return phrase("the text is no JSON value of the type {types}", types=names)
    return NO_JSON


def next_view(static: Record) -> HostFunction:
    """``⟨view, ⟨reply, ⟨tool, observation⟩⟩⟩``: what the next round of a ReAct loop thinks about.

    In a conversation that is the observation, since the history holds the rest; without one it
    is the transcript with one more entry; with observations disabled it is the thought.

    Where a reply may hold several calls, ⟨tool, observation⟩ is a list of such pairs. Each call
    has a result then, if only the remark that it is not shown.
    """
    conversation, observed = static["conversation"], static["observation"]
    if static.get("several"):
        return lambda value: _next_round(value, conversation=conversation, observed=observed)

    def run(value: Value) -> Value:
        view, spoken = parts(value)
        reply, called = parts(spoken)
        tool, observation = parts(called)
        thought = text_of(project(reply))
        if not observed:
            return thought
        if conversation:
            return f"Observation from {text_of_value(tool)}: {text_of_value(observation)}"
        entry = pair(thought, pair(tool, observation))
        return _with_entry(view, TRANSCRIPT, entry)

    return run


def _next_round(value: Value, *, conversation: Data, observed: Data) -> Value:
    view, spoken = parts(value)
    reply, answers = parts(spoken)
    if not observed:
        hidden = [pair(parts(each)[0], _NOT_SHOWN) for each in list_items(answers)]
        answers = list_value(hidden)
    results = tagged(RESULTS, 0, answers)
    return results if conversation else _with_entry(view, ROUNDS, pair(reply, results))


def _with_entry(view: Value, labels: tuple[str], entry: Value) -> Value:
    """Return ⟨original, entries⟩ with one more, newest first, whether or not `view` has any."""
    if type(view) is tuple and view[0] == TAGGED and view[1] == labels:
        original, entries = parts(view[3])
    else:
        original, entries = view, NIL_VALUE
    return tagged(labels, 0, (PAIR, original, (CONS, entry, entries)))


def thought(_static: Record) -> HostFunction:
    """Return the text of a reply: the answer of a ReAct loop that ends without one.

    An exit test ends it, which has told so, or else the bound of rounds.
    """
    return lambda value: Noted(text_of(project(value)), MAX_TURNS, "exit")


def concat(static: Record) -> HostFunction:
    """Join the components of a tuple as text, with blank lines between.

    A tuple is right-nested pairs; `static` says of how many branches, since the last component may
    be a pair itself.
    """
    count = static.get("count")

    def run(value: Value) -> Value:
        parts: list[Value] = []
        while len(parts) + 1 != count and type(value) is tuple and value[0] == PAIR:
            _, first, value = value
            parts.append(first)
        return "\n\n".join(map(text_of_value, [*parts, value]))

    return run


def truth(_static: Record) -> HostFunction:
    """Decode an answer to true or false; one that is neither counts as false, with a note."""

    def run(value: Value) -> Value:
        if isinstance(value, bool):
            return value
        try:
            return decode_output("boolean", text_of_value(value))
        except DecodeError as error:
            return Noted(value=False, note=str(error))

    return run


def border(_static: Record) -> HostFunction:
    """Return the argument: the types of the site decode and encode it."""
    return lambda value: value


def _strings(data: Data) -> tuple[str, ...]:
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, tuple) else ()


HOSTS: Mapping[str, Callable[[Record], HostFunction]] = {
    "predicate": predicate,
    "stop": stop,
    "action": action,
    "label": label,
    "fits": fits,
    "next": next_view,
    "thought": thought,
    "concat": concat,
    "truth": truth,
    "border": border,
}
