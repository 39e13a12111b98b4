"""Teams become chains and routers, and what these cannot say is told with its line."""

import json
from typing import Any

import pytest

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.autogen import import_team
from lambdagent.source import Source
from tests.frontend.foreign.imported import compiled, told


def component(kind: str, **config: Any) -> dict[str, Any]:
    return {"provider": f"autogen.{kind}", "component_type": "x", "version": 1, "config": config}


CLIENT = component("OpenAIChatCompletionClient", model="gpt-4o", temperature=0.2, model_info={})


def assistant(name: str, **more: Any) -> dict[str, Any]:
    return component(
        "AssistantAgent",
        name=name,
        description=f"about {name}",
        **{
            "system_message": f"You are {name} 😀.",
            "model_client": CLIENT,
            "tools": [],
            "handoffs": None,
            **more,
        },
    )


def team(kind: str = "RoundRobinGroupChat", *members: Any, **more: Any) -> dict[str, Any]:
    return component(kind, participants=list(members), **more)


def imported(data: Any) -> Any:
    return import_team(Source("team.json", json.dumps(data, indent=2)))


def test_an_assistant_is_a_model_call_and_nothing_is_lost():
    done = imported(assistant("ada"))
    assert done.losses == ()
    assert compiled(done) == {
        "type": "simple",
        "name": "ada",
        "systemPrompt": "You are ada 😀.",
        "model": {"provider": "openai", "name": "gpt-4o", "temperature": 0.2},
    }


@pytest.mark.parametrize(
    ("kind", "settings", "strategy"),
    [
        ("BufferedChatCompletionContext", {"buffer_size": 10}, "sliding_window(10)"),
        ("TokenLimitedChatCompletionContext", {"token_limit": 8000}, "token_budget(8000)"),
        ("UnboundedChatCompletionContext", {}, None),
    ],
)
def test_a_limit_of_the_conversation_is_a_strategy(kind, settings, strategy):
    done = imported(assistant("ada", model_context=component(kind, **settings)))
    assert done.losses == ()
    assert compiled(done)["model"].get("conversation") == strategy


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("HeadAndTailChatCompletionContext", {"head_size": 1, "tail_size": 2}),
        ("TokenLimitedChatCompletionContext", {}),
    ],
)
def test_another_limit_of_the_conversation_is_told(kind, settings):
    done = imported(assistant("ada", model_context=component(kind, **settings)))
    assert ["model_context" in str(each) for _, each in done.losses] == [True]


def test_tools_make_a_loop():
    tool = component("FunctionTool", name="add", source_code="def add(): ...", description="d")
    done = imported(assistant("ada", tools=[tool], max_tool_iterations=4))
    data = compiled(done)
    assert (data["type"], data["react"], data["mcp"]) == (
        "react",
        {"maxSteps": 5},
        {"localTools": ["terminate", "add"]},
    )
    assert [code for code, _ in told(done)] == ["I002"]


@pytest.mark.parametrize("as_list", [True, False])
def test_tools_in_a_workbench_are_found(as_list: bool):
    bench: Any = component("StaticWorkbench", tools=[component("FunctionTool", name="add")])
    done = imported(assistant("ada", workbench=[bench] if as_list else bench))
    assert compiled(done)["mcp"]["localTools"] == ["terminate", "add"]


def test_a_round_robin_goes_round_as_often_as_it_says():
    stop = component("MaxMessageTermination", max_messages=6, include_agent_event=False)
    done = imported(
        team("RoundRobinGroupChat", assistant("a"), assistant("b"), termination_condition=stop)
    )
    steps = compiled(done)["chain"]["steps"]
    assert [step["name"] for step in steps] == ["a", "b", "a 2", "b 2", "a 3"]
    assert [code for code, _ in told(done)] == ["I001"]  # who sees what
    assert compiled(done)["model"]["name"] == "gpt-4o"


def test_an_end_that_depends_on_words_is_told():
    stop = component("TextMentionTermination", text="DONE")
    done = imported(team("RoundRobinGroupChat", assistant("a"), termination_condition=stop))
    assert compiled(done)["type"] == "simple"
    assert [loss.field for _, loss in done.losses] == ["config.termination_condition"]


@pytest.mark.parametrize("kind", ["SelectorGroupChat", "Swarm", "MagenticOneGroupChat"])
def test_a_team_that_chooses_is_a_router(kind: str):
    more = {} if kind == "Swarm" else {"model_client": CLIENT}
    done = imported(
        team(kind, assistant("a"), assistant("b"), selector_prompt="From {roles}", **more)
    )
    data = compiled(done)
    assert data["type"] == "router"
    assert data["router"]["classifier"]["categories"] == ["a", "b"]
    assert "- a: about a" in data["router"]["classifier"]["prompt"]
    assert data["router"]["default"]["name"] == "a by default"


def test_people_and_unknown_members_are_told():
    done = imported(
        team("RoundRobinGroupChat", assistant("a"), component("UserProxyAgent", name="me"))
    )
    assert compiled(done)["name"] == "a"
    assert "`UserProxyAgent` has no counterpart" in done.losses[0][1].what


def test_teams_in_teams_are_agents_in_agents():
    inner = team("SelectorGroupChat", assistant("b"), assistant("c"), model_client=CLIENT)
    data = compiled(imported(team("RoundRobinGroupChat", assistant("a"), inner)))
    assert [step["type"] for step in data["chain"]["steps"]] == ["simple", "router"]


def test_clients_keep_their_settings_and_no_secret():
    client = component(
        "OllamaChatCompletionClient",
        model="llama3",
        host="http://box:11434",
        options={"temperature": 1.0, "num_predict": 5, "mirostat": 2},
        api_key="sk-hush",
    )
    done = imported(assistant("a", model_client=client))
    assert compiled(done)["model"] == {
        "provider": "ollama",
        "name": "llama3",
        "baseUrl": "http://box:11434/v1",
        "temperature": 1.0,
        "maxTokens": 5,
    }
    assert {code for code, _ in told(done)} == {"I001", "I005"}
    assert "sk-hush" not in done.text


def test_a_variable_in_a_url_stays_text():
    client = component("OpenAIChatCompletionClient", model="m", base_url="http://${HOME}/v1")
    assert compiled(imported(assistant("a", model_client=client)))["model"]["baseUrl"] == (
        "http://$${HOME}/v1"
    )


def test_halves_of_characters_are_put_together():
    text = json.dumps(assistant("a", system_message="\\\\ud83d 😀"))
    assert "\\ud83d\\ude00" in text
    done = import_team(Source("team.json", text.replace("😀", "\\ud83d")))
    assert compiled(done)["systemPrompt"] == "\\\\ud83d 😀"
    lone = text.replace("\\ud83d\\ude00", "\\ud83d")
    assert compiled(import_team(Source("team.json", lone)))["systemPrompt"] == "\\\\ud83d \ufffd"


@pytest.mark.parametrize(
    "data",
    [
        [],
        "x",
        {},
        {"provider": "x.AssistantAgent"},
        component("Nothing"),
        team("RoundRobinGroupChat"),
    ],
)
def test_what_is_no_team_is_refused(data: Any):
    with pytest.raises(ConfigError):
        imported(data)


def test_too_many_agents_are_refused():
    members = [assistant(f"a{i}") for i in range(600)]
    with pytest.raises(ConfigError) as caught:
        imported(team("RoundRobinGroupChat", *members))
    assert caught.value.diagnostic.code == "I012"
