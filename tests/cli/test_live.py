"""``run --verbose`` on a terminal: a line at the bottom that says what the run is at."""

import re
import subprocess
import sys
from typing import Any

import attrs
import pytest

from lambdagent.api.compiling import compile_term
from lambdagent.cli.live import LiveLine
from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from lambdagent.effects.run_events import LlmCalled, ToolCompleted, ToolDispatched, TurnStarted
from tests.cli.command import PATIENCE_S, Command, environment, scripted
from tests.cli.test_output import Terminal
from tests.effects.agents import react, speaker

BETWEEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
RUN = ("run", "react.yml", "go", "--tool", "wc=wc -c")


@pytest.fixture(autouse=True)
def a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.delenv("NO_COLOR", raising=False)


def run_in_terminal(*argv: str) -> tuple[str, str]:
    out, err = Terminal(), Terminal()
    assert main(argv, Output(out, err)) == 0
    return out.getvalue(), err.getvalue()


def test_steps_stand_above_a_line_that_goes_away(command: Command):
    out, err = run_in_terminal(*RUN, "--verbose")
    assert out == "done\n"
    plain = BETWEEN.sub("\n", err)
    assert "model call 0 of at most 4" in plain
    steps = [line for line in plain.splitlines() if line.lstrip().startswith("β[")]
    assert [line.split()[1] for line in steps] == [
        *("think", "route", "Tool:wc", "think", "route", "terminate")
    ]
    assert "\x1b[2K" in err, "the line is erased"
    assert re.search(r"Total: 6 β-reductions, \d+\.\ds\n\Z", err)
    assert "\x1b[?25h" in err, "the cursor is back"


@pytest.mark.parametrize("option", ["--quiet", "--trace"])
def test_there_is_no_line_where_nobody_wants_one(command: Command, option: str):
    more = ("--verbose",) if option == "--quiet" else ()
    _, err = run_in_terminal(*RUN, option, *more)
    assert "\x1b" not in err
    assert "model call" not in err


def test_a_dumb_terminal_gets_plain_lines(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    _, err = run_in_terminal(*RUN, "--verbose")
    assert "\x1b" not in err
    assert err.count("β[") == 6


def test_a_pipe_gets_plain_lines_and_loads_nothing_for_it(command: Command):
    code = (
        "import sys; from lambdagent.cli.main import main; main(sys.argv[1:]);"
        "sys.exit('rich' in sys.modules or 'lambdagent.effects.listeners' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *RUN, "--verbose"],
        cwd=command.folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0
    assert done.stderr.decode().count("β[") == 6
    assert b"\x1b" not in done.stderr


def test_what_a_person_is_asked_stands_alone():
    line = LiveLine(Output(Terminal(), screen := Terminal()), screen, program())
    with line:
        answer = line.aside(lambda what: f"{what}, and the line is {line._live.is_started}")
        assert answer("asked") == "asked, and the line is False"
        assert line._live.is_started


def program() -> Any:
    return compile_term(react(speaker(), {"look": str}, maxSteps=7))


def event(kind: type[Any], **fields: Any) -> Any:
    blank = {each.name: None for each in attrs.fields(kind)}
    return kind(**{**blank, "run": "r", "agent": "thinker", "branch": (), **fields})


def test_the_line_says_the_step_the_calls_and_the_tokens():
    out = Output(Terminal(), screen := Terminal())
    line = LiveLine(out, screen, program())

    def shown() -> str:
        return re.sub(r"[\d.]+s", "0s", line._line().plain)

    assert shown() == "- | 0s | model call 0 of at most 7"
    line(event(TurnStarted, turn_number=1))
    assert shown() == "thinker | 0s | model call 1 of at most 7"
    line(event(LlmCalled, prompt_tokens=1200, completion_tokens=34))
    line(event(ToolDispatched, tool_name="look\x1b[31m"))
    assert shown() == "Tool:look�[31m | 0s | model call 1 of at most 7 | 1,234 tokens"
    line(event(ToolDispatched, tool_name="look", branch=(1, 0)))
    assert shown().startswith("Tool:look�[31m and 1 more | ")
    line(event(ToolCompleted))
    line(event(ToolCompleted, branch=(1, 0)))
    line(event(TurnStarted, turn_number=2))
    assert shown().startswith("thinker, turn 2 | ")


def test_control_characters_of_a_model_do_not_reach_the_terminal(command: Command):
    command.write("a.yml", scripted("red \x1b]0;title\x07 [bold]x[/bold] :smile:"))
    _, err = run_in_terminal("run", "a.yml", "go", "--verbose")
    assert "\x1b]" not in err
    assert "\x07" not in err
    assert "[bold]x[/bold] :smile:" in err
