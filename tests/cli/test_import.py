"""``lambdagent import``: the agent file, what it lacks line by line, and the exit code."""

import json
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.frontend.foreign import test_autogen, test_crewai, test_dify, test_openai_agents


@pytest.fixture
def project(command: Command) -> Path:
    """A project of CrewAI, of which nothing is lost."""
    folder = command.folder / "mountain" / "src" / "mountain" / "config"
    folder.mkdir(parents=True)
    (folder / "agents.yaml").write_text(test_crewai.AGENTS)
    (folder / "tasks.yaml").write_text(test_crewai.TASKS)
    return folder


@pytest.mark.parametrize(
    "place", ["mountain", "mountain/src/mountain", "mountain/src/mountain/config"]
)
def test_a_crew_is_found_from_each_of_its_directories(command: Command, project: Path, place: str):
    done = command("import", "crewai", place)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# Imported from CrewAI: agents.yaml, tasks.yaml\ntype: chain\n")
    command.write("crew.yml", done.out)
    assert command("compile", "crew.yml").code == 0


@pytest.mark.parametrize("name", ["agents.yaml", "tasks.yaml"])
def test_each_file_of_a_crew_finds_the_other(command: Command, project: Path, name: str):
    done = command("import", "crewai", str(project / name))
    assert (done.code, done.err) == (0, "")
    assert "name: advise" in done.out


def test_the_code_of_a_crew_is_read_and_not_run(command: Command, project: Path):
    (project.parent / "crew.py").write_text(test_crewai.CODE)
    done = command("import", "crewai", "mountain")
    assert done.code == 3
    place = "mountain/src/mountain/crew.py:10:65"
    assert f"{place}: [I002] what the tool `Radar` does is not carried over" in done.err


def test_losses_go_to_standard_error_one_on_each_line(command: Command):
    command.write("app.py", test_openai_agents.HEAD + 'a = Agent("A", tools=[t], output_type=T)')
    done = command("import", "openai-agents", "app.py")
    assert done.code == 3
    first, second = done.err.splitlines()
    assert first.startswith(
        "app.py:2:23: [I002] what the tool `t` does is not carried over; pass "
    )
    assert second.startswith("app.py:2:39: [I001] `a.output_type` is not carried over: its type ")
    for line in ("app.py:2: what the tool `t`", "app.py:2: `a.output_type`"):
        assert f"#   {line}" in done.out


def test_a_team_and_an_app_are_read(command: Command):
    command.write("team.json", json.dumps(test_autogen.assistant("ada")))
    command.write("app.yml", json.dumps(test_dify.chat()))
    assert "name: ada" in command("import", "autogen", "team.json").out
    assert "name: bot" in command("import", "dify", "app.yml").out


def test_a_file_that_is_there_stays_unless_forced(command: Command, project: Path):
    command.write("crew.yml", "mine")
    done = command("import", "crewai", "mountain", "--output", "crew.yml")
    assert (done.code, done.out) == (2, "")
    assert "error[U033]" in done.err
    assert (command.folder / "crew.yml").read_text() == "mine"
    done = command("import", "crewai", "mountain", "--output", "crew.yml", "--force")
    assert (done.code, done.out) == (0, "crew.yml\n")
    assert (command.folder / "crew.yml").read_text().startswith("# Imported")


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("crewai", "nowhere"), 4, "there is no file"),
        (("crewai", "."), 4, "config/agents.yaml"),
        (("dify", "simple.yml"), 2, "this is no file of Dify: it has no `app`"),
        (("autogen", "simple.yml"), 2, "this is no file of AutoGen"),
        (("openai-agents", "simple.yml"), 2, "error[I013]"),
        (("openai-agents", "."), 2, "error[S011]"),
        (("langflow", "simple.yml"), 2, 'there is no "langflow"'),
    ],
)
def test_what_cannot_be_read_is_told(
    command: Command, argv: tuple[str, ...], code: int, said: str
):
    done = command("import", *argv)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_file_that_is_too_large_is_refused(command: Command):
    command.write("a.json", " " * (5 << 20))
    done = command("import", "autogen", "a.json")
    assert done.code == 2
    assert "error[I014]" in done.err


def test_an_imported_loop_runs_with_its_tool(command: Command):
    tool = test_autogen.component("FunctionTool", name="add")
    command.write("team.json", json.dumps(test_autogen.assistant("ada", tools=[tool])))
    done = command("import", "autogen", "team.json")
    model = "model:\n  provider: openai\n  name: gpt-4o\n  temperature: 0.2\n"
    assert model in done.out
    replies = """['{"tool": "add", "args": "1"}', done]"""
    script = f"model: {{provider: scripted, script: {{replies: {replies}}}}}\n"
    command.write("ada.yml", done.out.replace(model, script))
    ran = command("run", "ada.yml", "go", "--tool", "add=cat", "--quiet")
    assert (ran.code, ran.out) == (0, "done\n")
