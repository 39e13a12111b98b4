"""What is written compiles, whatever was read; what cannot be read is refused, never a crash."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.autogen import import_team
from lambdagent.frontend.foreign.crewai import import_crew
from lambdagent.frontend.foreign.dify import import_app
from lambdagent.frontend.foreign.draft import Imported
from lambdagent.frontend.foreign.openai_agents import import_source
from lambdagent.source import Source
from tests.frontend.foreign import test_autogen, test_crewai, test_dify, test_openai_agents
from tests.frontend.foreign.imported import compiled

NAME = st.sampled_from(["a", "b", "_", "terminate", "Ada L.", "客服", "x: y", "- z", "true", " "])
TEXT = st.one_of(NAME, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
NUMBER = st.one_of(st.integers(-2, 10**20), st.floats(-1, 3), st.just("many"))
ANYTHING = st.one_of(st.none(), st.booleans(), NUMBER, TEXT, st.lists(TEXT, max_size=2))
MODEL_NAME = st.sampled_from(["gpt-4o", "anthropic/claude-3", "groq/x", "m, n", "", "模型"])


def read_or_refused(read: Callable[[], Imported]) -> Imported | None:
    """What was read; None if it was refused, as what is at fault itself."""
    try:
        return read()
    except ConfigError as error:
        if error.exit_code != 2:
            raise
        return None


def block(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A mapping, of which each value may also be something else."""
    odd = {key: st.one_of(value, ANYTHING) for key, value in optional.items()}
    return st.fixed_dictionaries(required, optional={**odd, "unknown": ANYTHING})


# --- CrewAI ---

LLM = st.one_of(
    MODEL_NAME,
    block({"model": MODEL_NAME}, {"temperature": NUMBER, "max_tokens": NUMBER, "stop": TEXT}),
)
PERSON = block(
    {"role": TEXT},
    {"goal": TEXT, "backstory": TEXT, "llm": LLM, "tools": st.lists(TEXT), "max_iter": NUMBER},
)
TASK = block(
    {"description": TEXT},
    {
        "agent": NAME,
        "context": st.lists(NAME, max_size=3),
        "tools": st.lists(NAME, max_size=3),
        "async_execution": st.booleans(),
    },
)


@given(
    st.dictionaries(NAME, PERSON, min_size=1, max_size=4),
    st.dictionaries(NAME, TASK, min_size=1, max_size=6),
)
def test_each_crew_compiles(agents: Any, tasks: Any):
    sources = [
        Source(f"{name}.yaml", yaml.safe_dump(data, allow_unicode=True))
        for name, data in (("agents", agents), ("tasks", tasks))
    ]
    compiled(import_crew(*sources, None))


# --- AutoGen ---


def component(kinds: list[str], config: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"provider": st.sampled_from([f"x.{kind}" for kind in kinds]), "config": config}
    )


CLIENT = component(
    ["OpenAIChatCompletionClient", "OllamaChatCompletionClient", "Other"],
    block({"model": MODEL_NAME}, {"temperature": NUMBER, "base_url": TEXT, "host": TEXT}),
)
TOOL = component(["FunctionTool", "StaticWorkbench"], block({}, {"name": TEXT}))
ASSISTANT = component(
    ["AssistantAgent"],
    block(
        {"name": TEXT, "model_client": CLIENT},
        {
            "system_message": TEXT,
            "tools": st.lists(TOOL, max_size=2),
            "workbench": TOOL,
            "max_tool_iterations": NUMBER,
            "handoffs": st.lists(TEXT, max_size=2),
        },
    ),
)
STOP = component(
    ["MaxMessageTermination", "TextMentionTermination"],
    block({}, {"max_messages": st.integers(0, 9), "text": TEXT}),
)


def teams(member: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return component(
        ["RoundRobinGroupChat", "SelectorGroupChat", "Swarm"],
        block(
            {"participants": st.lists(member, min_size=1, max_size=3)},
            {
                "termination_condition": STOP,
                "max_turns": st.integers(0, 9),
                "selector_prompt": TEXT,
                "model_client": CLIENT,
            },
        ),
    )


@given(st.recursive(ASSISTANT, teams, max_leaves=5))
def test_each_team_compiles(data: Any):
    compiled(import_team(Source("team.json", json.dumps(data))))


# --- OpenAI Agents ---

LITERAL = st.one_of(TEXT, NUMBER, st.none()).map(repr)
ITEM = st.sampled_from(
    ["a", "b", "c", "handoff(a)", "b.as_tool()", "tool", "Tool()", "f(x)[0]", "1"]
)
ITEMS = st.lists(ITEM, max_size=3).map(lambda items: f"[{', '.join(items)}]")
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "name": LITERAL,
        "instructions": st.one_of(LITERAL, st.sampled_from(["P", "P + 'x'", "f'{x}'", "g()"])),
        "model": st.one_of(MODEL_NAME.map(repr), st.just("M(model='x')")),
        "model_settings": NUMBER.map(lambda n: f"ModelSettings(temperature={n!r}, top_p={n!r})"),
        "tools": ITEMS,
        "handoffs": ITEMS,
        "output_type": LITERAL | st.sampled_from(["K", "list[K]", "int | None", "L", "list[x]"]),
    },
)


@given(st.tuples(FIELDS, FIELDS, FIELDS), st.sampled_from(["", "Runner.run(a)", "Runner.run(P)"]))
def test_each_source_compiles(agents: Any, end: str):
    lines = ['P = "p"', "class K(BaseModel):\n    s: str", "class L(TypedDict):\n    l: list['L']"]
    for name, fields in zip("abc", agents, strict=True):
        given_ = ", ".join(f"{key}={value}" for key, value in fields.items())
        lines.append(f"{name} = Agent({given_})")
    compiled(import_source(Source("app.py", "\n".join([*lines, end]))))


# --- Dify ---

KINDS = ["llm", "llm", "question-classifier", "if-else", "code", "answer", "agent"]
NODE = block(
    {"type": st.sampled_from(KINDS)},
    {
        "title": TEXT,
        "model": block(
            {"provider": st.sampled_from(["openai", "x/y/tongyi", "z"]), "name": MODEL_NAME},
            {"completion_params": block({}, {"temperature": NUMBER, "max_tokens": NUMBER})},
        ),
        "prompt_template": st.lists(
            block({"role": st.sampled_from(["system", "user"])}, {"text": TEXT}), max_size=2
        ),
        "classes": st.lists(block({"id": st.sampled_from("xy")}, {"name": NAME}), max_size=3),
        "instruction": TEXT,
        "context": block({}, {"enabled": st.booleans()}),
    },
)
EDGE = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(["source", "x", "y"]))


@given(st.lists(NODE, min_size=1, max_size=6), st.lists(EDGE, max_size=12))
def test_each_graph_compiles_or_asks_no_model(bodies: Any, edges: Any):
    nodes = [{"id": "0", "data": {"type": "start"}}]
    nodes += [{"id": str(i + 1), "data": data} for i, data in enumerate(bodies)]
    rows = [
        {"source": str(start), "target": str(end), "sourceHandle": handle}
        for start, end, handle in [(0, 1, "source"), *edges]
    ]
    app = {
        "app": {"name": "a", "mode": "workflow"},
        "workflow": {"graph": {"nodes": nodes, "edges": rows}},
    }
    done = read_or_refused(
        lambda: import_app(Source("app.yml", yaml.safe_dump(app, allow_unicode=True)))
    )
    if done is not None:
        compiled(done)


# --- damaged files ---

TEAM = test_autogen.team(
    "SelectorGroupChat", test_autogen.assistant("a"), test_autogen.assistant("b")
)
APP = test_dify.flow(
    [test_dify.START, test_dify.classifier("x", "y"), test_dify.llm("a"), test_dify.llm("b")],
    "start choose",
    "choose c0 a",
    "choose c1 b",
)
FILES: dict[str, tuple[str, Callable[[str], Imported]]] = {
    "crewai": (
        test_crewai.AGENTS,
        lambda text: import_crew(
            Source("agents.yaml", text), Source("tasks.yaml", test_crewai.TASKS), None
        ),
    ),
    "crewai-tasks": (
        test_crewai.TASKS,
        lambda text: import_crew(
            Source("agents.yaml", test_crewai.AGENTS), Source("tasks.yaml", text), None
        ),
    ),
    "crewai-code": (
        test_crewai.CODE,
        lambda text: import_crew(
            Source("agents.yaml", test_crewai.AGENTS),
            Source("tasks.yaml", test_crewai.TASKS),
            Source("crew.py", text),
        ),
    ),
    "autogen": (json.dumps(TEAM, indent=1), lambda text: import_team(Source("t.json", text))),
    "openai-agents": (
        test_openai_agents.HEAD + test_openai_agents.HANDOFFS,
        lambda text: import_source(Source("a.py", text)),
    ),
    "dify": (yaml.safe_dump(APP), lambda text: import_app(Source("a.yml", text))),
}
PIECE = st.sampled_from(
    ["", " ", "\n", ":", "{", "}", "[", "]", '"', "'", "\t", "\0", "&a ", "*a", "<<: *a", "!!x ",
     "0", "- ", "null", "\ud7ff", "\\ud800", "(", ")", "=", "#"]
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), PIECE), min_size=1, max_size=4))
def test_a_damaged_file_compiles_or_is_refused(name: str, damage: Any):
    text, read = FILES[name]
    for share, length, piece in damage:
        at = int(share * len(text))
        text = text[:at] + piece + text[at + length :]
    done = read_or_refused(lambda: read(text))
    if done is not None:
        compiled(done)
