"""No request is larger than it may be, with all that goes over the wire: prompts, tools, forms."""

import json
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Courier, Endpoint, _formed, _told
from lambdagent.effects.output_form import form_of
from lambdagent.effects.protocol import Message
from lambdagent.effects.render import messages_of, tools_of
from lambdagent.effects.wire_names import WireNames
from lambdagent.errors import EffectError
from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data, Record
from lambdagent.ir.labels import MOST_CALLS, REPLY, RESULTS
from lambdagent.ir.model import Model, model_row
from lambdagent.ir.services import wants_reasoning
from lambdagent.ir.sites import Site
from lambdagent.ir.tokens import OF_A_MESSAGE, OF_A_REQUEST, estimate_tokens
from lambdagent.machine.state import Value
from lambdagent.machine.store import STORES
from lambdagent.machine.values import list_value, pair, tagged

COURIERS: dict[str, Courier] = {
    "custom": OpenAIChat(Endpoint(provider="custom", base_url="http://nobody.test/v1")),
    "deepseek": OpenAIChat(Endpoint(provider="deepseek", base_url="http://nobody.test/v1")),
    "anthropic": AnthropicMessages(
        Endpoint(provider="anthropic", base_url="http://nobody.test", key="k")
    ),
}

# --- what is generated ---------------------------------------------------------------------------

TEXTS = st.text(max_size=40) | st.sampled_from(["", "word " * 30, "字" * 40, '{"a": [1, 2]}'])
NAMES = st.sampled_from(["search", "look up", "搜索", "terminate", "a" * 80])
ARGUMENTS: st.SearchStrategy[Data] = st.builds(Record, st.dictionaries(TEXTS, TEXTS, max_size=2))
SCHEMAS = st.sampled_from(
    [
        Record(type="object", properties=Record(word=Record(type="string", maxLength=9))),
        Record(type="object", properties=Record(), additionalProperties=False),
        Record(type="array", items=Record(type="integer")),
        Record(type="object", properties=Record(a=Record(enum=("x" * 40, "y")))),
    ]
)
TOOLS = st.lists(
    st.builds(lambda n, d, p: Record(name=n, description=d, parameters=p), NAMES, TEXTS, SCHEMAS),
    max_size=3,
    unique_by=lambda tool: tool["name"],
)


@st.composite
def rounds(draw: st.DrawFn) -> list[tuple[Value, Value]]:
    """Turns of one question: its answer, or rounds of calls and what the tools said to them."""
    turns: list[tuple[Value, Value]] = []
    asked: Value = draw(TEXTS)
    for _ in range(draw(st.integers(0, 3))):
        count = draw(st.sampled_from([1, 2, MOST_CALLS + 5]))
        made = [(draw(NAMES), draw(ARGUMENTS))] * count
        keys = draw(st.sampled_from(["", "same", "a" * 60]))
        calls = tuple(
            Record(id=keys and f"{keys}{n}", name=name, arguments=arguments)
            for n, (name, arguments) in enumerate(made)
        )
        thought = draw(st.builds(Record, reasoning=TEXTS) | st.just(Record()))
        reply = Record({"text": draw(TEXTS), "tool_calls": calls, **thought})
        turns.append((asked, tagged(REPLY, 0, reply)))
        said = draw(TEXTS)
        results = [pair(name, said) for name, _ in made[:MOST_CALLS]]
        asked = tagged(RESULTS, 0, list_value(results))
    return [*turns, (asked, draw(TEXTS))]


STRATEGIES = st.sampled_from([None, "full"]) | st.builds(
    lambda name, most: f"{name}({most})",
    st.sampled_from(["sliding_window", "token_budget", "summary"]),
    st.sampled_from([1, 4, 50, 300, 1000]),
)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Site, Value, int]:
    """A site, what it is asked with, and the most tokens that it may be asked in."""
    window = draw(st.sampled_from([60, 200, 600, 2000, 20_000]))
    provider = draw(st.sampled_from(list(COURIERS)))
    model = Model(provider=provider, name="m", context_window=window, max_tokens=50)
    tools, native = draw(TOOLS), draw(st.booleans())
    static: dict[str, Any] = {
        "agent": "a",
        "prompt": draw(TEXTS),
        "conversation": True,
        "model": model_row(model),
        "native": native,
        "several": draw(st.booleans()),
    }
    if tools or native:
        static["tools"] = tuple(tools)
    if draw(st.booleans()):
        static["schema"] = draw(SCHEMAS)
    asked: Value = draw(TEXTS)
    if repairs := draw(st.booleans()):
        static["repair"] = True
        asked = pair(asked, pair(draw(TEXTS), draw(TEXTS)))
    strategy = draw(STRATEGIES)
    settings: dict[str, Any] = {"max_tokens": draw(st.integers(0, 2000)), "recent_turns": 20}
    if strategy is not None:
        settings["strategy"] = strategy
    cell = None
    turns = [turn for each in draw(st.lists(rounds(), max_size=4)) for turn in each]
    if not repairs and native and turns and draw(st.booleans()):
        asked = turns.pop()[0]  # what is new may be what tools said
    for turn in turns:
        _, cell = STORES["conv.append"](Record(settings))(cell, pair(*turn))
    history, _ = STORES["conv.read"](Record(settings))(cell, UNIT)
    most = window - 50
    if strategy is not None and strategy.startswith("token_budget"):
        most = min(most, int(strategy[13:-1]))
    return Site("llm:a", "llm", Record(static)), pair(history, asked), most


# --- what goes over the wire ---------------------------------------------------------------------


def body_of(site: Site, messages: tuple[Message, ...]) -> dict[str, Any]:
    """Return the body of the request, as the courier sends it."""
    row = site.static["model"]
    assert isinstance(row, Record)
    courier, tools = COURIERS[str(row["provider"])], tools_of(site.static)
    names = WireNames(tools, reasoning=wants_reasoning(str(row["provider"]), "m"))
    form, refused = form_of(site), frozenset[str]()
    told = _told(tuple(map(names.message, messages)), form, refused)
    tools = tuple(map(names.spec, tools))
    model = Model(**dict(row))  # type: ignore[arg-type]
    return _formed(courier.request(model, told, tools, refused), form, refused)


def texts_in(value: Any) -> list[str]:
    """Return what a model reads of a message, texts and arguments of calls."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in texts_in(each)]
    if not isinstance(value, dict):
        return []
    kept = ("content", "reasoning_content", "text", "name", "arguments", "tool_calls", "function")
    found = [text for key in kept if key in value for text in texts_in(value[key])]
    return [
        *found,
        *([json.dumps(value["input"], ensure_ascii=False)] if "input" in value else []),
    ]


def tokens_of(body: dict[str, Any], provider: str) -> int:
    """Return how many tokens a body is: each message, the tools, the form of the answer."""
    said = [[body["system"]]] if "system" in body else []
    said += map(texts_in, body["messages"])
    told = [tool.get("function", tool) for tool in body.get("tools", ())]
    forms = [body[name] for name in ("response_format", "output_config") if name in body]
    told += [each for each in forms if each != {"type": "json_object"}]
    texts = [json.dumps(each, ensure_ascii=False) for each in told]
    texts += [text for each in said for text in each]
    return (
        OF_A_REQUEST
        + OF_A_MESSAGE * len(said)
        + sum(estimate_tokens(text, provider) for text in texts)
    )


@given(requests())
def test_no_request_is_larger_than_it_may_be(request: tuple[Site, Value, int]):
    site, argument, most = request
    try:
        messages = messages_of(site, argument)
    except EffectError as error:
        event(error.diagnostic.code)
        return
    row = site.static["model"]
    assert isinstance(row, Record)
    assert tokens_of(body_of(site, messages), str(row["provider"])) <= most
