"""Crews become chains, and what a chain cannot say is told with file and line."""

from typing import Any

import pytest

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.crewai import import_crew
from lambdagent.source import Source
from tests.frontend.foreign.imported import compiled, told

AGENTS = """\
scout:
  role: weather scout
  goal: Know the weather of the mountain
  backstory: >
    You have lived in the hut
    for ten years.
  llm: anthropic/claude-3-5-sonnet
guide:
  role: mountain guide
  goal: Bring everybody home
  backstory: You know each path.
  llm: anthropic/claude-3-5-sonnet
"""
TASKS = """\
look:
  description: Say how the weather will be.
  expected_output: Three lines
  agent: scout
advise:
  description: Say which path to take.
  expected_output: The name of a path
  agent: guide
  context: [look]
"""


def crew(agents: str = AGENTS, tasks: str | None = TASKS, code: str | None = None) -> Any:
    return import_crew(
        Source("agents.yaml", agents),
        None if tasks is None else Source("tasks.yaml", tasks),
        None if code is None else Source("crew.py", code),
    )


def test_tasks_in_a_row_are_a_chain_and_nothing_is_lost():
    imported = crew()
    assert imported.losses == ()
    data = compiled(imported)
    assert (data["type"], data["model"]) == (
        "chain",
        {"provider": "anthropic", "name": "claude-3-5-sonnet"},
    )
    first, second = data["chain"]["steps"]
    assert (first["name"], first["type"], second["name"]) == ("look", "simple", "advise")
    for words in ("You are weather scout.", "lived in the hut for ten years", "Three lines"):
        assert words in first["systemPrompt"]
    assert "You know each path." in second["systemPrompt"]


def test_different_models_stay_with_their_agents():
    data = compiled(crew(AGENTS.replace("anthropic/claude-3-5-sonnet", "gpt-4o", 1)))
    assert "model" not in data
    assert [step["model"]["provider"] for step in data["chain"]["steps"]] == [
        "openai",
        "anthropic",
    ]


def test_one_agent_without_tasks_is_an_agent():
    data = compiled(crew("only: {role: cook, goal: Cook, backstory: b, tools: [oven]}", None))
    assert data["type"] == "react"
    assert data["mcp"]["localTools"] == ["terminate", "oven"]


def test_several_agents_without_tasks_are_refused():
    with pytest.raises(ConfigError) as caught:
        crew(AGENTS, None)
    assert caught.value.diagnostic.code == "I011"
    assert "tasks.yaml" in caught.value.diagnostic.fix


def test_tools_make_a_loop_and_are_told():
    agents = AGENTS.replace("  role: weather", "  tools: [Radar]\n  max_iter: 7\n  role: weather")
    imported = crew(agents)
    first = compiled(imported)["chain"]["steps"][0]
    assert (first["type"], first["react"]) == ("react", {"maxSteps": 7})
    assert first["mcp"]["localTools"] == ["terminate", "Radar"]
    assert told(imported) == [("I002", "agents.yaml:2")]


def test_inputs_in_braces_are_told_where_they_stand():
    imported = crew(tasks=TASKS.replace("the weather will", "{place} and {{x}} will"))
    assert told(imported) == [("I003", "tasks.yaml:2")]
    assert "`{place}` in `look.description`" in imported.losses[0][1].what


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("output_file: report.md", "I001"),
        ("guardrail: It must rhyme", "I001"),
        ("human_input: true", "I001"),
        ("human_input: false", None),
        ("callback: null", None),
        ("output_json: Report", "I001"),
        ("tools: [Oven]", "I002"),
        ("description_: x", "I001"),
    ],
)
def test_each_key_of_a_task_is_read_or_told(line: str, code: str | None):
    imported = crew(tasks=TASKS + f"  {line}\n")
    compiled(imported)
    assert told(imported) == ([] if code is None else [(code, "tasks.yaml:10")])


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("allow_delegation: true", True),
        ("allow_delegation: false", False),
        ("verbose: true", False),
        ("reasoning: true", True),
        ("max_iter: many", True),
        ("llm_: x", True),
    ],
)
def test_each_key_of_an_agent_is_read_or_told(line: str, lost: bool):
    imported = crew(AGENTS + f"  {line}\n")
    compiled(imported)
    assert told(imported) == ([("I001", "agents.yaml:13")] if lost else [])


def test_a_third_task_sees_less_than_in_crewai():
    more = "rest: {description: d, expected_output: e, agent: guide}\n"
    assert told(crew(tasks=TASKS + more)) == [("I001", "tasks.yaml:10")]
    more = "rest: {description: d, expected_output: e, agent: guide, context: [advise, look]}\n"
    imported = crew(tasks=TASKS + more)
    assert told(imported) == [("I001", "tasks.yaml:10")]
    assert "it names `look`" in imported.losses[0][1].what


def test_tasks_that_nobody_waits_for_are_branches():
    tasks = TASKS.replace("  agent: scout", "  agent: scout\n  async_execution: true")
    tasks = tasks.replace(
        "advise:",
        "ask:\n  description: Ask around.\n  agent: guide\n  async_execution: true\nadvise:",
    ).replace("[look]", "[look, ask]")
    imported = crew(tasks=tasks)
    assert imported.losses == ()
    first, second = compiled(imported)["chain"]["steps"]
    assert first["type"] == "parallel"
    assert [agent["name"] for agent in first["parallel"]["agents"]] == ["look", "ask"]
    assert second["name"] == "advise"


def test_an_agent_without_a_task_and_a_task_without_an_agent_are_told():
    imported = crew(tasks="look: {description: d, expected_output: e, agent: nobody}")
    compiled(imported)
    assert told(imported) == [
        ("I001", "tasks.yaml:1"),
        ("I001", "agents.yaml:2"),
        ("I001", "agents.yaml:9"),
    ]


def test_a_model_as_a_mapping_keeps_its_settings_and_no_secret():
    agents = AGENTS.replace(
        "llm: anthropic/claude-3-5-sonnet",
        "llm: {model: groq/llama, temperature: 0.5, max_tokens: 99, api_key: sk-hush, seed: 3}",
        1,
    )
    imported = crew(agents)
    model = compiled(imported)["chain"]["steps"][0]["model"]
    assert model == {
        "provider": "custom",
        "name": "groq/llama",
        "temperature": 0.5,
        "maxTokens": 99,
    }
    assert {code for code, _ in told(imported)} == {"I001", "I004", "I005"}
    assert "sk-hush" not in imported.text + str(imported.losses[0][1])


CODE = """\
from crewai import Agent, Crew, Process, Task
from crewai_tools import Radar

raise SystemExit("this file is never run")

@CrewBase
class Mountain:
    @agent
    def scout(self) -> Agent:
        return Agent(config=self.agents_config["scout"], tools=[Radar(), self.bell], verbose=True)

    @agent
    def other_name(self) -> Agent:
        return Agent(config=self.agents_config["guide"], step_callback=print, llm="gpt-4o")

    @task
    def advise(self) -> Task:
        return Task(config=self.tasks_config["advise"], output_file="x")

    @task
    def look(self) -> Task:
        return Task(config=self.tasks_config["look"])

    @crew
    def crew(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks, process=Process.hierarchical)
"""


def test_the_code_gives_tools_order_and_process():
    imported = crew(tasks=TASKS.replace("  context: [look]\n", ""), code=CODE)
    first, second = compiled(imported)["chain"]["steps"]
    assert (first["name"], second["name"]) == ("advise", "look")
    assert (first["model"]["name"], second["model"]["name"]) == ("gpt-4o", "claude-3-5-sonnet")
    assert second["mcp"]["localTools"] == ["terminate", "Radar", "bell"]
    assert told(imported) == [
        ("I002", "crew.py:10"),
        ("I002", "crew.py:10"),
        ("I001", "crew.py:14"),
        ("I001", "crew.py:18"),
        ("I001", "crew.py:26"),
    ]


@pytest.mark.parametrize("agents", ["", "[]", "a: b", "a: {", "\tx: 1", "scout: [1]"])
def test_what_is_no_crew_is_refused_with_its_place(agents: str):
    with pytest.raises(ConfigError) as caught:
        crew(agents)
    assert caught.value.exit_code == 2


def test_no_task_is_refused():
    with pytest.raises(ConfigError):
        crew(tasks="{}")


def test_the_head_lists_what_was_lost():
    text = crew(tasks=TASKS + "  output_file: x\n").text
    assert text.startswith(
        "# Imported from CrewAI: agents.yaml, tasks.yaml\n#\n# Not carried over:\n"
    )
    assert "#   tasks.yaml:10: `advise.output_file` is not carried over" in text
