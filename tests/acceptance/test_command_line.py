"""Specification 18: C00, C01, C04 to C09, C12 and C13, in this process and as real ones."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable

import pytest

from lambdagent import __version__
from tests.acceptance import agents
from tests.cli.command import PATIENCE_S, Command, Done, environment

AGENT = "agent-cofig.yml"  # the specification's spelling

Run = Callable[..., Done]


@pytest.fixture(params=["here", "process"])
def run(request: pytest.FixtureRequest, command: Command) -> Run:
    """The command, in this process or as one of its own, beside the agents of the table."""
    command.write(AGENT, agents.scripted("react").replace("add, ", ""))
    command.write("a.yml", agents.scripted("react").replace("add", "wc"))
    return command if request.param == "here" else command.process


def test_c00_version_prints_the_version(run: Run):
    done = run("version")
    assert (done.code, done.err) == (0, "")
    assert __version__ in done.out


def test_c01_compile_prints_the_structure(run: Run):
    done = run("compile", AGENT)
    assert (done.code, done.err) == (0, "")
    for part in ("λ", "Y", "20", "terminate"):
        assert part in done.out


def test_c04_run_prints_an_answer(run: Run):
    done = run("run", "simple.yml", "Hello")
    assert (done.code, done.out) == (0, "Hi there\n")


def test_c05_trace_shows_the_first_reduction(run: Run):
    done = run("run", "simple.yml", "Hello", "--trace")
    assert done.code == 0
    assert "β[0]" in done.err
    assert done.out == "Hi there\n"


def test_c06_format_json_is_json(run: Run):
    done = run("run", "simple.yml", "Hello", "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["result"] == "Hi there"


def test_c07_standard_input_is_the_input(run: Run):
    done = run("run", "simple.yml", "-", stdin=b"Hello\n")
    assert (done.code, done.out) == (0, "Hi there\n")


def test_c08_a_tool_is_injected(run: Run, command: Command):
    command.write("f.txt", "one\ntwo\n")
    script = agents.scripted("react").replace('"add"', '"wc"').replace("add, ", "")
    command.write("a.yml", script)
    done = run("run", "a.yml", "x", "--tool", "wc=wc -l f.txt", "--trace")
    assert (done.code, done.out) == (0, "1+1=2\n")
    assert '→ "2 f.txt"' in done.err


def test_c09_lambda_prints_a_lambda_expression(run: Run):
    done = run("lambda", AGENT)
    assert (done.code, done.err) == (0, "")
    for part in ("λself", "You calculate.", "λx. x"):
        assert part in done.out


def test_c12_a_dangerous_tool_is_refused(run: Run):
    done = run("run", "a.yml", "x", "--tool", "rm=rm -rf /")
    assert (done.code, done.out) == (1, "")
    assert "the command of tool `rm` is refused" in done.err


def test_c13_a_shell_pipe_composes_agents(command: Command):
    first = {"provider": "scripted", "script": {"rules": [{"match": "^Hello$", "reply": "Salve"}]}}
    second = {"provider": "scripted", "script": {"rules": [{"match": "^Salve$", "reply": "Ciao"}]}}
    command.write("a.yml", agents.with_model(agents.SIMPLE, first))
    command.write("b.yml", agents.with_model(agents.SIMPLE, second))
    program = f"{shlex.quote(sys.executable)} -m lambdagent run"
    done = subprocess.run(
        ["sh", "-c", f"echo Hello | {program} a.yml --quiet - | {program} b.yml -"],
        cwd=command.folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout.decode()) == (0, "Ciao\n")
    assert done.stderr.decode().count("Total:") == 1
