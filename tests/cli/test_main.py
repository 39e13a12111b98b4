"""The command itself: which command, help, exit codes, what is told when things go wrong."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lambdagent import __version__
from lambdagent.api import compiling
from lambdagent.cli.main import COMMANDS
from lambdagent.errors import StuckError, finding
from tests.cases import load_cases
from tests.cli.command import PATIENCE_S, Command, environment

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cli"
BROKEN = """\
type: react
systemPrompt: Work.
model: {provider: scripted, script: {replies: [ok]}}
react:
  maxStep: 5
  toolTimeout: soon
"""


def test_no_arguments_and_help_list_the_commands(command: Command):
    for argv in ((), ("--help",), ("-h",), ("help",)):
        done = command(*argv)
        assert (done.code, done.err) == (0, "")
        for name, (_, text) in COMMANDS.items():
            assert re.search(rf"^  {name} +{re.escape(text)}$", done.out, re.MULTILINE)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_is_as_written_down(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[Path, str], None],
    name: str,
):
    monkeypatch.setenv("COLUMNS", "80")
    done = command(*([name] if name else []), "--help")
    assert (done.code, done.err) == (0, "")
    golden(GOLDEN / f"help-{name or 'lambdagent'}.txt", done.out)


@pytest.mark.parametrize(
    "argv", [("version",), ("--version",), ("-V",), ("--traceback", "version")]
)
def test_the_version_is_told(command: Command, argv: tuple[str, ...]):
    done = command(*argv)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"lambdagent {__version__} (Python ")


@pytest.mark.parametrize("word", ["runn", "-x", "agent.yml"])
def test_an_unknown_command_lists_the_known_ones(command: Command, word: str):
    done = command(word, "x")
    assert (done.code, done.out) == (2, "")
    assert f"there is no command `{word}`" in done.err
    assert ", ".join(COMMANDS) in done.err


def test_a_run_without_a_file_says_what_it_can_do(command: Command):
    done = command("run")
    assert (done.code, done.out) == (2, "")
    assert "lambdagent run agent.yml INPUT" in done.err
    assert "--resume RUN" in done.err


@pytest.mark.parametrize("name", ["compile", "lambda"])
def test_a_command_without_its_file_tells_its_usage(command: Command, name: str):
    done = command(name)
    assert (done.code, done.out) == (2, "")
    assert f"usage: lambdagent {name}" in done.err
    assert "FILE" in done.err.splitlines()[-1]


# --- errors --------------------------------------------------------------------------------------


def test_all_findings_are_told_with_excerpt_and_fix(
    command: Command, golden: Callable[[Path, str], None]
):
    command.write("agent.yml", BROKEN)
    done = command("compile", "agent.yml")
    assert (done.code, done.out) == (2, "")
    golden(GOLDEN / "findings.txt", done.err)


def test_a_failing_run_is_told_as_written_down(
    command: Command, golden: Callable[[Path, str], None]
):
    command.write("agent.yml", BROKEN.split("react:", maxsplit=1)[0].replace("react", "simple"))
    text = (command.folder / "agent.yml").read_text()
    command.write("agent.yml", f'{text}guard: {{validator: "len(x) > 9", retry: 0}}\n')
    done = command("run", "agent.yml", "Hello", "--trace")
    assert (done.code, done.out) == (1, "")
    golden(GOLDEN / "failing-run.txt", re.sub(r"\d+\.\d+s", "0.0s", done.err))


def test_a_trace_is_as_written_down(command: Command, golden: Callable[[Path, str], None]):
    argv = ("run", "react.yml", "count the lines", "--tool", "wc=printf '3 \\tf.txt\\033[31m'")
    done = command(*argv, "--trace")
    assert (done.code, done.out) == (0, "done\n")
    golden(GOLDEN / "trace.txt", re.sub(r"\d+\.\d+s", "0.0s", done.err))


def broken(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_an_exception_that_nobody_expected_is_a_fault_of_ours(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(compiling, "compile_file", broken(ZeroDivisionError("by zero")))
    done = command("compile", "simple.yml")
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("internal error: ZeroDivisionError: by zero\n")
    assert "report this" in done.err
    assert "Traceback" not in done.err


def test_a_stuck_machine_is_a_fault_of_ours(command: Command, monkeypatch: pytest.MonkeyPatch):
    stuck = StuckError(finding("M001", message="(1 2)"))
    monkeypatch.setattr(compiling, "compile_file", broken(stuck))
    done = command("compile", "simple.yml")
    assert done.code == 70
    assert "a fault of lambdagent" in done.err


def test_ctrl_c_has_exit_code_130(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiling, "compile_file", broken(KeyboardInterrupt()))
    done = command("compile", "simple.yml")
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), None])
def test_traceback_shows_where_an_error_arose(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: Exception | None
):
    command.write("agent.yml", BROKEN)
    if error is not None:
        monkeypatch.setattr(compiling, "compile_file", broken(error))
    for argv in (("compile", "agent.yml", "--traceback"), ("--traceback", "compile", "agent.yml")):
        done = command(*argv)
        assert done.code == (2 if error is None else 70)
        assert "Traceback (most recent call last)" in done.err
    assert "Traceback" not in command("compile", "agent.yml").err


def test_two_dashes_make_traceback_an_input(command: Command):
    done = command("run", "simple.yml", "--format", "json", "--", "--traceback")
    assert json.loads(done.out)["trace"][0]["input"] == "--traceback"


# --- real processes ------------------------------------------------------------------------------


@pytest.mark.parametrize("case", load_cases("cli"), ids=lambda case: case["id"])
def test_shared_case(command: Command, case: dict[str, Any]):
    import base64

    for name, text in case["files"].items():
        replies = json.dumps({"replies": case.get("fake_llm", ["ok"])})
        script = f"{{provider: scripted, script: {replies}}}"
        command.write(name, text.replace("{provider: openai, name: gpt-4o-mini}", script))
    argv = [sys.executable, "-m", "lambdagent", *case["argv"]]
    shell = ["sh", "-c", f'"$@" | {case["pipe_to"]}; exit 0', "sh"] if "pipe_to" in case else []
    done = subprocess.run(
        [*shell, *argv],
        cwd=command.folder,
        env=environment(),
        input=base64.b64decode(case.get("stdin_b64", "")),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    errors = done.stderr.decode()
    assert done.returncode in case["expect"]["exit_in"]
    for text in case["expect"].get("stderr_has", ()):
        assert text in errors
    for text in case["expect"].get("stderr_lacks", ()):
        assert text not in errors
    for text in case["expect"].get("stdout_has", ()):
        assert text in done.stdout.decode()


@pytest.mark.parametrize(
    "argv", [("compile", "simple.yml", "--format", "json"), ("run", "--help")]
)
def test_a_reader_that_has_left_is_no_error(command: Command, argv: tuple[str, ...]):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "lambdagent", *argv],
            cwd=command.folder,
            env=environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE_S,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_open_standard_input_is_not_waited_for(command: Command):
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "lambdagent", "run", "simple.yml", "Hello", "-q"],
            cwd=command.folder,
            env=environment(),
            stdin=reader,
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
    finally:
        os.close(reader)
        os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hi there\n", b"")


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (">&-", 0, ""),
        (">/dev/full", 2, "`standard output` cannot be written"),
        ("<&-", 2, "`standard input` cannot be read"),
        ("2>&-", 2, ""),
    ],
)
def test_missing_streams_are_no_fault_of_ours(
    command: Command, redirection: str, code: int, said: str
):
    argument = {"<&-": "-", "2>&-": ""}.get(redirection, "Hello")
    line = f'"{sys.executable}" -m lambdagent run simple.yml {argument} {redirection}'
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=command.folder,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"internal" not in done.stderr
