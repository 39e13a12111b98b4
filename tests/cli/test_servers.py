"""Agents whose tools are on servers, on the command line."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lambdagent.effects.mcp import pool
from tests.api.test_servers import SECRET, agent
from tests.cli.command import Command, command, environment  # noqa: F401
from tests.effects.mcp.servers import PLAIN
from tests.effects.mcp.test_stdio import gone

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "servers" / "agent.yml"


def test_the_example_runs(command: Command):  # noqa: F811
    done = command("run", str(EXAMPLE), "When is the rent due?", "--trace")
    assert (done.code, done.out) == (0, "It is due on the 3rd.\n")
    assert 'Tool:lookup   (0.0s)  → "Due on the 3rd."' in done.err


def test_only_those_that_are_told_to_ask_servers(command: Command):  # noqa: F811
    file = str(agent(command.folder, words="gone"))
    for name in ("compile", "lambda"):
        done = command(name, file)
        assert (done.code, "error[S206]" in done.err) == (2, True)
        done = command(name, file, "--discover")
        assert (done.code, "error[E024]" in done.err) == (1, True)
    assert command("compile", file, "--dry-run").code == 1
    assert command("lint", file).code == 0
    done = command("run", file, "x")
    assert (done.code, "cannot be used: it ended" in done.err) == (1, True)


def test_what_is_not_known_is_told(command: Command):  # noqa: F811
    file = str(agent(command.folder, server="tools: [add]"))
    for name in ("compile", "lambda"):
        done = command(name, file)
        assert done.code == 0
        assert done.err.startswith("note[S209]: what these tools of the server `plain` take is")
        assert command(name, file, "--discover").err == ""
    assert 'description: "Add two numbers."' in command("lambda", file, "--discover").out


def test_no_output_says_where_a_server_is(command: Command, monkeypatch):  # noqa: F811
    monkeypatch.setenv("LAMBDAGENT_LOG", "debug")
    call = {"tool": "env", "args": {"name": "NOBODY"}}
    file = str(agent(command.folder, call, {"tool": "terminate", "args": "x"}))
    told = [command("run", file, "x", "--trace"), command("compile", file, "--dry-run")]
    told += [command("lambda", file, "--discover", "--format", f) for f in ("formal", "json")]
    told += [command("compile", file, "--discover", "--format", f) for f in ("python", "json")]
    for done in told:
        assert done.code == 0
        assert SECRET not in done.out + done.err
        assert PLAIN not in done.out + done.err
    assert "mcp plain/env: answered in" in told[0].err
    assert "where its server is, is in the agent file alone" in told[4].out


def test_a_printed_program_needs_its_file(command: Command):  # noqa: F811
    file = str(agent(command.folder, server="tools: [add]"))
    command.write("p.lam", command("lambda", file).out)
    done = command("run", "p.lam", "x")
    assert (done.code, "error[E023]" in done.err) == (1, True)


def test_a_kept_run_goes_on_with_its_file_and_asks_nobody_again(command: Command):  # noqa: F811
    call = {"tool": "add", "args": {"a": 1}}
    end = {"tool": "terminate", "args": "two"}
    file = agent(command.folder, call, end, more="confirm: [add]")
    waiting = command("run", str(file), "x", "--checkpoint-dir", "runs")
    assert waiting.code == 75
    (run,) = (command.folder / "runs").iterdir()
    assert command("run", "--resume", str(run), "--approve").code == 1  # it needs the file
    log = command.folder / "asked"
    text = file.read_text().replace(json.dumps(PLAIN), json.dumps(spy(command.folder, log)))
    file.write_text(text)
    done = command("run", str(file), "--resume", str(run), "--approve")
    assert (done.code, done.out) == (0, "two\n")
    assert "tools/call" in log.read_text()
    assert "tools/list" not in log.read_text()


def spy(folder: Path, log: Path) -> str:
    """Return a server as `plain` that writes what it is asked into a file."""
    path = folder / "spy.py"
    path.write_text(
        f"""\
import sys
sys.argv = [{PLAIN!r}]
class Heard:
    def __iter__(self):
        for line in sys.__stdin__:
            open({str(log)!r}, "a").write(line)
            yield line
sys.stdin = Heard()
exec(compile(open({PLAIN!r}).read(), {PLAIN!r}, "exec"))
"""
    )
    return str(path)


@pytest.mark.slow  # a process of its own, which loads the SDK
def test_no_server_outlives_ctrl_c(command: Command):  # noqa: F811
    call = {"tool": "sleep", "args": {}}
    file = agent(command.folder, call, words="child")
    process = subprocess.Popen(
        [sys.executable, "-m", "lambdagent", "run", str(file), "x"],
        cwd=command.folder,
        env=environment({"LAMBDAGENT_LOG": "debug"}),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    child = 0
    for line in process.stderr:
        if "stderr: " in line:
            child = int(line.split()[-1])
        if "plain/sleep: called" in line:
            break
    os.kill(process.pid, signal.SIGINT)
    process.stderr.close()
    assert process.wait(20) == 130
    assert gone(child)


# --- `tools` -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A file with tools of every kind, its server running."""
    folder = tmp_path_factory.mktemp("tools")
    more = "tools: [{name: lines, description: Counts lines., command: wc -l}]"
    with pool.kept_open():
        yield str(agent(folder, server="tools: [add, greet, fail]", more=more))


def test_tools_lists_them_with_who_runs_them(command: Command, listed: str):  # noqa: F811
    done = command("tools", listed)
    assert done.code == 0
    assert done.out.splitlines()[:6] == [
        "Tools of caller:",
        "  [Local]  terminate         λx.x  base case",
        "  [Shell]  lines             Counts lines.",
        "  [MCP]    add        plain  Add two numbers.",
        "  [MCP]    greet      plain  Say hello.",
        "  [MCP]    fail       plain",
    ]
    assert done.out.splitlines()[-1].startswith("  plain  a process  ✓ 14 tools (")
    found = json.loads(command("tools", listed, "--format", "json").out)
    assert [tool["kind"] for tool in found["tools"]] == ["local", "shell", "mcp", "mcp", "mcp"]
    assert (found["servers"][0]["name"], found["servers"][0]["reason"]) == ("plain", None)


@pytest.mark.parametrize(
    ("tool", "text", "code", "said"),
    [
        ("add", '{"a": 1, "b": 2}', 0, "3\n"),
        ("greet", "Ann", 0, "Hello, Ann!\n"),
        ("lines", "a\nb\n", 0, "2\n"),
        ("fail", "{}", 1, "[TOOL_ERROR: fail] no luck\n"),
        ("add", "two", 2, ""),
        ("ad", "1", 2, ""),
    ],
)
def test_tools_calls_one(command: Command, listed: str, tool, text, code, said):  # noqa: F811
    done = command("tools", listed, "--test", tool, text)
    assert (done.code, done.out) == (code, said)
    if code == 2:
        assert "write `add`" in done.err or "do not fit" in done.err
    done = command("tools", listed, "--test", tool, text, "--format", "json")
    assert done.code == code
    assert code == 2 or json.loads(done.out)["failed"] is bool(code)


def test_tools_asks_a_server_for_all_it_has(command: Command, listed: str):  # noqa: F811
    done = command("tools", listed, "--discover", "plain")
    assert done.out.startswith(
        "- add: Add two numbers.\n    a (integer)\n    b (integer, optional"
    )
    assert "- picture\n" in done.out  # which the agent may not call
    found = json.loads(command("tools", listed, "--discover", "plain", "--format", "json").out)
    assert len(found) == 14
    done = command("tools", listed, "--discover", "plan")
    assert (done.code, "write `plain`" in done.err) == (2, True)


def test_tools_tells_of_servers_that_cannot_be_used(command: Command):  # noqa: F811
    file = str(agent(command.folder, words="gone"))
    done = command("tools", file)
    assert done.code == 1
    assert done.out.splitlines()[-1] == "  plain  a process  ✗ it ended"
    assert command("tools", file, "--discover", "plain").code == 1
    done = command("tools", file, "--test", "add", "4")
    assert (done.code, "E024" in done.err) == (1, True)
    node = "app: {mcp: {custom: {nodes: {w: {url: 'http://127.0.0.1:9/x?key=hush'}}}}}"
    text = f"type: react\nname: n\nsystemPrompt: p\nmodel: {{provider: openai, name: m}}\n{node}\n"
    command.write("node.yml", f"{text}mcp: {{onlineTool: {{w: [t]}}}}\n")
    done = command("tools", "node.yml")
    assert done.out.splitlines()[-1] == "  w  http://127.0.0.1:9/x  ✗ nothing listens there"
    assert done.code == 1


def test_tools_of_a_program_are_its_sites(command: Command, listed: str):  # noqa: F811
    command.write("p.lam", command("lambda", listed, "--format", "formal").out)
    done = command("tools", "p.lam")
    assert (done.code, "[MCP]    greet  plain" in done.out) == (0, True)
