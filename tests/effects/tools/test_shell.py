import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.effects.protocol import Cancellation, ToolFailure
from lambdagent.effects.tools.shell import ShellTool
from lambdagent.errors import EffectError
from tests.effects.calls import invocation

ARGV = f"#!{sys.executable} -IS\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"
INPUT = """a; echo $(id) `id` "q" 's'"""


@pytest.fixture(autouse=True, scope="module")
def argv_on_path(tmp_path_factory: pytest.TempPathFactory):
    """Put the program `argv` on PATH; it prints its arguments as one JSON list."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "argv"
    program.write_text(ARGV)
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


def run(command: str, text: str = "", **more) -> str:
    return ShellTool("tool", command).call(invocation(text, **more))


def failure(command: str, text: str = "", **more) -> str:
    with pytest.raises(ToolFailure) as caught:
        run(command, text, **more)
    return caught.value.text


def refused(command: str) -> str:
    with pytest.raises(EffectError) as caught:
        ShellTool("tool", command)
    assert caught.value.diagnostic.code == "E006"
    assert caught.value.diagnostic.fix
    return caught.value.diagnostic.what


# --- the shared cases ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["rm   -rf   build", "rm -r -f build", "echo cm0gLXJmIGJ1aWxk | base64 -d | sh"],
)
def test_dangerous_commands_are_refused(command: str):
    assert "`tool` is refused" in refused(command)


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("argv --format json", "", ["--format", "json"]),
        ("argv {} src", INPUT, [INPUT, "src"]),
        ('argv "{}" tail', "it's $HOME", ["it's $HOME", "tail"]),
        ("argv ok 2> /dev/null", "", ["ok"]),
    ],
)
def test_harmless_commands_run(command: str, text: str, expected: list[str]):
    assert json.loads(run(command, text)) == expected


def test_git_add_is_not_dd():
    assert ShellTool("tool", "git add notes.txt").command == "git add notes.txt"


# --- the input is one argument -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("argv {}", ["{}"]),
        ("argv '{}'", ["{}"]),
        ('argv "{}"', ["{}"]),
        ("argv a{}b", ["a{}b"]),
        ("argv 'a {} b'", ["a {} b"]),
        ('argv "a {} b"', ["a {} b"]),
        ("argv --q={} {} '{}{}'", ["--q={}", "{}", "{}{}"]),
        ('argv "$(argv {})"', ['["{}"]']),
        ('argv "$(argv "{}")" end', ['["{}"]', "end"]),
        ('x={}; argv "$x"', ["{}"]),
        ("set -- a b; argv {}", ["{}"]),
        ("f() { argv {}; }; f a b", ["{}"]),
        ("(argv {})", ["{}"]),
        ("sh -c 'argv \"$1\"' sh {}", ["{}"]),
        ("if true; then argv {}; fi", ["{}"]),
        ("argv \\{\\} {}", ["\0{}", "{}"]),
        ("argv {} # don't", ["{}"]),
        ('argv "$\'" {}', ["$'", "{}"]),
        ('argv "a\\$b\\"c\\d" {}', ['a$b"c\\d', "{}"]),
        ("case {} in *) argv {};; esac", ["{}"]),
        ("argv \\\n {}", ["{}"]),
        ("argv {} <<END\nit's a document\nEND", ["{}"]),
        ("argv ${HOME:+set} $((1 + 2)) {}", ["set", "3", "{}"]),
    ],
)
@pytest.mark.parametrize("text", [INPUT, "", "-n", "* ? ~ \\ \n two  blanks ", "${HOME} 日本"])
def test_the_input_is_one_argument_wherever_it_stands(
    command: str, expected: list[str], text: str
):
    printed = json.loads(run(command, text))
    wanted = [each.replace("\0", "\1").replace("{}", text) for each in expected]
    if "$(argv" in command:
        wanted[0] = json.dumps([text])
    assert printed == [each.replace("\1" + text, "{}") for each in wanted]


@settings(max_examples=20)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_no_text_gets_out_of_its_argument(text: str):
    tool = ShellTool("tool", "printf '%s|' {} \"{}\" 'x{}'")
    printed = tool.call(invocation(text))
    assert printed == f"{text}|{text}|x{text}|".strip()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("argv $1 {}", ["{}"]),
        ('argv "$1" {}', ["", "{}"]),
        ('argv "$@" $* $# {}', ["0", "{}"]),
        ('sh -c "argv $1 end" sh {}', ["end"]),
        ('sh -c "argv $*" {}', []),
    ],
)
def test_the_input_is_no_positional_parameter_of_the_command(command: str, expected: list[str]):
    text = "; touch made"
    assert json.loads(run(command, text)) == [each.replace("{}", text) for each in expected]


def test_a_null_character_in_the_input_is_a_failure():
    assert failure("argv {}", "a\0b") == "[ERROR] the input holds a null character"


def test_an_input_that_is_too_long_for_an_argument_is_a_failure():
    assert failure("argv {}", "x" * 3_000_000) == "[ERROR] Argument list too long"


def test_half_a_character_pair_does_no_harm():
    assert json.loads(run("argv {}", "a\ud83d")) == ["a?"]


def test_without_a_placeholder_the_input_is_on_stdin():
    assert run("cat", "one\ntwo") == "one\ntwo"
    assert run("wc -c", "x" * 1_000_000) == "1000000"
    assert run("true", "x" * 1_000_000) == ""
    assert run("cat <&0; argv {}", "text") == '["text"]'


# --- how it ends ---------------------------------------------------------------------------------


def test_output_is_text_without_blanks_around():
    assert run("printf ' a\\n b \\n\\n'") == "a\n b"
    assert run("printf '\\377ok'") == "�ok"
    assert run("echo seen; echo hidden >&2") == "seen"


def test_a_failing_command_is_an_error_text():
    assert failure("echo out; echo why >&2; exit 3") == "[ERROR] why"
    assert failure("echo out; exit 3") == "[ERROR] exit code 3\nout"
    assert failure("exit 3") == "[ERROR] exit code 3"
    assert failure("kill -9 $$") == "[ERROR] killed by signal 9"
    assert "not found" in failure("there-is-no-such-program")


def test_a_program_that_cannot_be_started_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir("/")
    assert failure("true").startswith("[ERROR] ")


def test_long_output_is_cut_and_says_so():
    printed = run("head -c 1500000 /dev/zero | tr '\\0' x")
    assert printed == "x" * 1_000_000 + "\n[500000 bytes cut]"


def test_a_timeout_kills_the_whole_group(tmp_path: Path):
    pids = tmp_path / "pids"
    pids.touch()
    command = f"sleep 600 & echo $! >> {pids}; echo $$ >> {pids}; wait"
    assert failure(command, timeout_s=0.1) == "[TIMEOUT after 0.1s]"
    deadline = time.monotonic() + 5  # a signal is sent at once, and takes effect soon
    while any(is_running(int(pid)) for pid in pids.read_text().split()):
        assert time.monotonic() < deadline


@pytest.mark.slow
def test_a_group_that_ignores_sigterm_is_killed_all_the_same(tmp_path: Path):
    pid = tmp_path / "pid"
    command = f"trap '' TERM; echo $$ > {pid}; while true; do sleep 0.01; done"
    assert failure(command, timeout_s=0.1) == "[TIMEOUT after 0.1s]"
    assert not is_running(int(pid.read_text()))


def is_running(pid: int) -> bool:
    """Whether a process runs; one that is dead and unburied does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_the_shorter_of_two_limits_counts():
    tool = ShellTool("tool", "sleep 600", timeout_s=0.05)
    with pytest.raises(ToolFailure, match=r"TIMEOUT after 0\.05s"):
        tool.call(invocation())


def test_a_background_child_that_holds_the_pipe_is_not_waited_for():
    assert run("echo first; sleep 5 &") == "first"


def test_cancelling_kills_it(tmp_path: Path):
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    cancel = Cancellation()

    def cancel_when_it_runs() -> None:
        ready.read_text()
        cancel.cancel()

    threading.Thread(target=cancel_when_it_runs).start()
    assert failure(f"echo > {ready}; sleep 600", cancel=cancel) == "[ERROR] cancelled"
    assert failure("sleep 600", cancel=cancel) == "[ERROR] cancelled"


async def test_the_asynchronous_face_does_the_same(tmp_path: Path):
    tool = ShellTool("tool", "argv {}")
    assert await tool.acall(invocation("a")) == '["a"]'
    with pytest.raises(ToolFailure, match="exit code 3"):
        await ShellTool("tool", "exit 3").acall(invocation())

    ready, pid = tmp_path / "ready", tmp_path / "pid"
    os.mkfifo(ready)
    tool = ShellTool("tool", f"echo $$ > {pid}; echo > {ready}; sleep 600")
    task = asyncio.create_task(tool.acall(invocation()))
    await asyncio.to_thread(ready.read_text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while is_running(int(pid.read_text())):  # noqa: ASYNC110 - a process tells nobody it ended
        await asyncio.sleep(0)
