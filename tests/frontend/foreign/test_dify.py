"""Apps become agents: chats, agents with tools, and graphs of nodes."""

from typing import Any

import pytest
import yaml

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.dify import import_app
from lambdagent.source import Source
from tests.frontend.foreign.imported import compiled, told

MODEL = {
    "provider": "langgenius/openai/openai",
    "name": "gpt-4o",
    "mode": "chat",
    "completion_params": {"temperature": 0.7, "max_tokens": 256, "stop": []},
}


def imported(data: Any) -> Any:
    return import_app(Source("app.yml", yaml.safe_dump(data, sort_keys=False)))


def chat(mode: str = "chat", **config: Any) -> dict[str, Any]:
    return {
        "app": {"name": "bot", "mode": mode, "description": "Talks.", "icon": "x"},
        "kind": "app",
        "version": "0.1.5",
        "model_config": {"model": MODEL, "pre_prompt": "Be kind.", **config},
    }


def test_a_chat_is_a_model_call_and_nothing_is_lost():
    done = imported(chat(suggested_questions=["a"], speech_to_text={"enabled": False}))
    assert done.losses == ()
    assert compiled(done) == {
        "type": "simple",
        "name": "bot",
        "description": "Talks.",
        "systemPrompt": "Be kind.",
        "model": {
            "provider": "openai",
            "name": "gpt-4o",
            "temperature": 0.7,
            "maxTokens": 256,
        },
    }


def test_an_agent_is_a_loop():
    tools = [
        {"enabled": True, "provider_id": "time", "tool_name": "clock"},
        {"enabled": False, "provider_id": "time", "tool_name": "bell"},
    ]
    mode = {"enabled": True, "max_iteration": 4, "strategy": "function_call", "tools": tools}
    done = imported(chat("agent-chat", agent_mode=mode))
    data = compiled(done)
    assert (data["type"], data["react"]["maxSteps"]) == ("react", 4)
    assert data["mcp"]["localTools"] == ["terminate", "clock"]
    assert [code for code, _ in told(done)] == ["I002"]


@pytest.mark.parametrize(
    ("config", "codes"),
    [
        ({"pre_prompt": "For {{who}} and {{ who }}"}, ["I003"]),
        ({"opening_statement": "Hello!"}, ["I001"]),
        ({"dataset_configs": {"datasets": {"datasets": [{"dataset": {"id": "1"}}]}}}, ["I001"]),
        ({"sensitive_word_avoidance": {"enabled": True}}, ["I001"]),
        ({"sensitive_word_avoidance": {"enabled": False, "type": "keywords"}}, []),
        ({"annotation_reply": {"enabled": True}}, ["I001"]),
        ({"prompt_type": "advanced", "chat_prompt_config": {"prompt": ["x"]}}, ["I001", "I001"]),
        ({"prompt_type": "simple", "chat_prompt_config": {"prompt": ["x"]}}, []),
        ({"file_upload": {"image": {"enabled": False, "number_limits": 3}}}, []),
        ({"file_upload": {"image": {"enabled": True, "number_limits": 3}}}, ["I001"]),
        ({"something_new": {"x": 1}}, ["I001"]),
    ],
)
def test_what_a_chat_cannot_keep_is_told(config: dict[str, Any], codes: list[str]):
    done = imported(chat(**config))
    compiled(done)
    assert [code for code, _ in told(done)] == codes


# --- graphs ---


def node(name: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"id": name, "type": "custom", "data": {"type": kind, "title": name, **data}}


def llm(name: str, system: str = "Work.", **data: Any) -> dict[str, Any]:
    template = [
        {"id": "1", "role": "system", "text": system},
        {"role": "user", "text": "{{#sys.query#}}"},
    ]
    return node(name, "llm", **{"model": MODEL, "prompt_template": template, **data})


def flow(nodes: list[Any], *edges: str, mode: str = "advanced-chat") -> dict[str, Any]:
    rows = []
    for edge in edges:
        start, handle, end = (*edge.split(" "), "")[:3] if edge.count(" ") == 2 else (
            edge.split(" ")[0], "source", edge.split(" ")[1]
        )  # fmt: skip
        rows.append({"source": start, "sourceHandle": handle, "target": end, "type": "custom"})
    return {
        "app": {"name": "flow", "mode": mode},
        "kind": "app",
        "workflow": {"graph": {"nodes": nodes, "edges": rows, "viewport": {"x": 0}}},
    }


START, END = node("start", "start", variables=[]), node("end", "answer", answer="{{#b.text#}}")


@pytest.mark.parametrize("mode", ["advanced-chat", "workflow"])
def test_a_line_of_nodes_is_a_chain(mode: str):
    done = imported(flow([START, llm("a"), llm("b"), END], "start a", "a b", "b end", mode=mode))
    assert [each for each in told(done) if each[0] != "I001"] == []
    data = compiled(done)
    assert (data["type"], data["name"]) == ("chain", "flow")
    assert [step["name"] for step in data["chain"]["steps"]] == ["a", "b"]
    assert data["model"]["name"] == "gpt-4o"


def classifier(*classes: str) -> dict[str, Any]:
    rows = [{"id": f"c{i}", "name": name} for i, name in enumerate(classes)]
    return node("choose", "question-classifier", model=MODEL, classes=rows, instruction="Look.")


def test_a_classifier_is_a_router():
    nodes = [START, classifier("books", "music"), llm("a"), llm("b"), llm("c"), END]
    done = imported(
        flow(nodes, "start choose", "choose c0 a", "choose c1 b", "b c", "a end", "c end")
    )
    router = compiled(done)["router"]
    assert router["classifier"]["categories"] == ["books", "music"]
    assert router["routes"]["books"]["name"] == "a"
    assert [step["name"] for step in router["routes"]["music"]["chain"]["steps"]] == ["b", "c"]
    assert done.losses == ()


def test_a_class_without_a_model_call_is_told():
    nodes = [START, classifier("books", "music"), llm("a"), END]
    done = imported(flow(nodes, "start choose", "choose c0 a", "choose c1 end", "a end"))
    assert list(compiled(done)["router"]["routes"]) == ["books"]
    assert [loss.what for _, loss in done.losses] == [
        (
            "`workflow.graph.nodes[1].data.classes[1].name` is not carried over:"
            " no model is asked on its way"
        )
    ]


def test_ways_that_meet_again_are_branches():
    nodes = [
        START,
        llm("a"),
        llm("b"),
        llm("c"),
        node("all", "variable-aggregator"),
        llm("d"),
        END,
    ]
    done = imported(flow(nodes, "start a", "start b", "b c", "a all", "c all", "all d", "d end"))
    first, second = compiled(done)["chain"]["steps"]
    assert first["type"] == "parallel"
    assert [agent["type"] for agent in first["parallel"]["agents"]] == ["simple", "chain"]
    assert second["name"] == "d"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("code", "an agent file holds no program code"),
        ("knowledge-retrieval", "agents have no knowledge base yet"),
        ("iteration", "an agent file has no loop over a list"),
        ("brand-new", "`brand-new` has no counterpart"),
    ],
)
def test_other_nodes_are_passed_and_told(kind: str, reason: str):
    done = imported(flow([START, node("x", kind), llm("a"), END], "start x", "x a", "a end"))
    assert compiled(done)["name"] == "flow"
    assert [loss.what for _, loss in done.losses] == [f"`x` is not carried over: {reason}"]
    assert all(loss.where is not None for _, loss in done.losses)


def test_of_a_condition_one_way_is_kept():
    nodes = [START, node("if", "if-else", cases=[]), llm("a"), llm("b"), END]
    done = imported(flow(nodes, "start if", "if true a", "if false b", "a end", "b end"))
    assert compiled(done)["type"] == "simple"
    assert [loss.field for _, loss in done.losses] == ["if", "b"]


STRUCTURED = {"structured_output_enabled": True}


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        ({"prompt_template": [{"role": "system", "text": "From {{#x.y#}}"}]}, ["I003"]),
        ({"prompt_template": [{"role": "assistant", "text": "so"}]}, ["I001"]),
        ({"prompt_template": {"text": "Just this"}}, []),
        ({"context": {"enabled": True, "variable_selector": []}}, ["I001"]),
        ({"memory": {"window": {"enabled": True, "size": 9}}}, []),
        ({"retry_config": {"retry_enabled": False, "max_retries": 3}}, []),
        ({"retry_config": {"retry_enabled": True, "max_retries": 3}}, ["I001"]),
        ({"_targetBranches": [1]}, []),
        ({"structured_output": {"schema": {"type": "object"}}}, []),
        ({**STRUCTURED, "structured_output": {"schema": {"type": "object"}}}, []),
        ({**STRUCTURED, "structured_output": {"schema": {"type": "thing"}}}, ["I001"]),
        ({**STRUCTURED, "structured_output": {"schema": "x"}}, ["I001"]),
        ({**STRUCTURED, "structured_output": {"schema": {"const": 10**4250}}}, ["I001"]),
        (STRUCTURED, []),
        ({"model": {**MODEL, "provider": "langgenius/groq/groq"}}, ["I004"]),
        ({"model": {**MODEL, "completion_params": {"presence_penalty": 0.1}}}, ["I001"]),
    ],
)
def test_each_part_of_a_model_call_is_read_or_told(data: dict[str, Any], codes: list[str]):
    done = imported(flow([START, llm("a", **data), END], "start a", "a end"))
    compiled(done)
    assert [code for code, _ in told(done)] == codes


def test_a_structured_answer_has_its_schema():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "s": {"enum": ["5", 5, None]}},
        "required": ["n"],
        "additionalProperties": False,
    }
    asking = llm("a", **STRUCTURED, structured_output={"schema": schema})
    done = imported(flow([START, asking, END], "start a", "a end"))
    assert done.losses == ()
    assert compiled(done)["outputSchema"] == schema


def test_an_answer_with_more_than_a_reference_is_told():
    end = node("end", "answer", answer="Dear {{#a.text#}}")
    done = imported(flow([START, llm("a"), end], "start a", "a end"))
    assert [code for code, _ in told(done)] == ["I001"]


def test_circles_are_cut_and_told():
    done = imported(flow([START, llm("a"), llm("b")], "start a", "a b", "b a"))
    assert [step["name"] for step in compiled(done)["chain"]["steps"]] == ["a", "b"]
    assert "reached again" in done.losses[0][1].what


def test_a_graph_that_would_be_written_out_too_often_is_refused():
    nodes, edges = [START, llm("n0")], ["start n0"]
    for i in range(1, 30):
        nodes += [llm(f"a{i}"), llm(f"b{i}"), node(f"n{i}", "question-classifier", classes=[
            {"id": "x", "name": "x"}, {"id": "y", "name": "y"}])]  # fmt: skip
        edges += [f"n{i - 1} a{i}" if i == 1 else f"n{i - 1} x a{i}", f"a{i} n{i}", f"b{i} n{i}"]
        edges += [] if i == 1 else [f"n{i - 1} y b{i}"]
    with pytest.raises(ConfigError) as caught:
        imported(flow(nodes, *edges))
    assert caught.value.diagnostic.code in {"I011", "I012"}


def test_features_of_a_workflow_are_read_or_told():
    app = flow([START, llm("a")], "start a")
    app["workflow"]["features"] = {
        "opening_statement": "Hello!",
        "suggested_questions": ["a"],
        "file_upload": {"enabled": True},
        "sensitive_word_avoidance": {"enabled": False},
    }
    done = imported(app)
    assert [loss.field for _, loss in done.losses] == [
        "workflow.features.opening_statement",
        "workflow.features.file_upload",
    ]


def test_notes_on_the_page_are_no_nodes():
    note = {"id": "n", "type": "custom-note", "data": {"text": "hello", "type": ""}}
    assert imported(flow([START, llm("a"), note], "start a")).losses == ()


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"app": {"mode": "chat"}},
        {"app": {"mode": "workflow"}, "workflow": {}},
        flow([START, END], "start end"),
        flow([]),
        flow([START, classifier("a")], "start choose"),
    ],
    ids=range(7),
)
def test_what_asks_no_model_is_refused(data: Any):
    with pytest.raises(ConfigError):
        imported(data)
