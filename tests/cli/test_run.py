"""``lambdagent run``: where the input comes from, where the answer goes, what the options do."""

import json
import re
from pathlib import Path

import pytest

from lambdagent.messages.english import MESSAGES
from tests.cli.command import SIMPLE, Command, scripted

USAGE = 2


def asked(text: str) -> str:
    """Return the text that the model was asked in the first record of a JSON answer."""
    question = json.loads(text)["trace"][0]["input"]
    assert isinstance(question, str)
    return question


# --- input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        ("simple.yml", "Hello", "--quiet"),
        ("--quiet", "simple.yml", "Hello"),
        ("simple.yml", "--quiet", "Hello"),
        ("--format", "text", "simple.yml", "-q", "Hello"),
    ],
)
def test_options_may_stand_before_between_and_after_positionals(
    command: Command, argv: tuple[str, ...]
):
    done = command("run", *argv)
    assert (done.code, done.out, done.err) == (0, "Hi there\n", "")


def test_an_option_with_a_value_may_stand_between_the_positionals(command: Command):
    done = command("run", "simple.yml", "--temperature", "0.5", "Hello")
    assert (done.code, done.out) == (0, "Hi there\n")


def test_an_input_that_starts_with_a_dash_follows_two_dashes(command: Command):
    done = command("run", "simple.yml", "--format", "json", "--", "--hello")
    assert asked(done.out) == "--hello"


def test_a_dash_reads_standard_input(command: Command):
    done = command("run", "simple.yml", "-", "--format", "json", stdin=b"Hello\nworld\n\n")
    assert asked(done.out) == "Hello\nworld"


def test_a_byte_order_mark_in_standard_input_is_no_part_of_the_input(command: Command):
    done = command("run", "simple.yml", "-", "--format", "json", stdin=b"\xef\xbb\xbfHello")
    assert asked(done.out) == "Hello"


def test_input_reads_a_file(command: Command):
    command.write("task.txt", "Hello from a file\n")
    done = command("run", "simple.yml", "--input", "task.txt", "--format", "json")
    assert asked(done.out) == "Hello from a file"


def test_standard_input_is_left_alone_without_a_dash(command: Command):
    """The fixture makes each read of standard input a fault."""
    assert command("run", "simple.yml", "Hello").code == 0
    assert command("run", "simple.yml").code == USAGE


@pytest.mark.parametrize(
    "argv", [("simple.yml",), ("simple.yml", "Hello", "--input", "task.txt")], ids=["none", "two"]
)
def test_no_input_or_two_inputs_are_refused_with_help(command: Command, argv: tuple[str, ...]):
    command.write("task.txt", "Hello")
    done = command("run", *argv)
    assert (done.code, done.out) == (USAGE, "")
    assert "the run needs one input" in done.err
    assert MESSAGES["U003"].fix in done.err


def test_two_positional_inputs_are_refused_with_the_usage(command: Command):
    done = command("run", "simple.yml", "Hello", "again")
    assert (done.code, done.out) == (USAGE, "")
    assert "usage: lambdagent run" in done.err
    assert "again" in done.err


def test_a_missing_file_has_exit_code_4(command: Command):
    for argv in (("nowhere.yml", "Hello"), ("simple.yml", "--input", "nowhere.txt")):
        done = command("run", *argv)
        assert (done.code, done.out) == (4, "")
        assert "there is no file `nowhere" in done.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "directory"),
        ("binary.yml", "not UTF-8"),
        ("empty.yml", "no agent"),
        ("list.yml", "no agent"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "compile", "lambda"])
def test_a_file_that_holds_no_agent_has_exit_code_2(
    command: Command, verb: str, name: str, said: str
):
    (command.folder / "folder").mkdir()
    command.write("binary.yml", b"\x7fELF\x00\xff\xfe")
    command.write("empty.yml", "")
    command.write("list.yml", "- 1\n")
    done = command(verb, name, *(["Hello"] if verb == "run" else []))
    assert (done.code, done.out) == (USAGE, "")
    assert name in done.err
    assert said in done.err.casefold() or said in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_an_unreadable_file_is_named_with_the_reason(command: Command):
    done = command("compile", "/proc/self/mem")
    assert done.code == USAGE
    assert re.search(r"/proc/self/mem: error\[S011\]: the file cannot be read: \w+", done.err)
    done = command("run", "simple.yml", "--input", "/proc/self/mem")
    assert done.code == USAGE
    assert "`/proc/self/mem` cannot be read" in done.err


def test_an_input_that_is_a_directory_is_refused(command: Command):
    done = command("run", "simple.yml", "--input", ".")
    assert (done.code, done.out) == (USAGE, "")
    assert "`.` cannot be read" in done.err


def test_an_input_that_is_not_utf8_is_refused_with_the_place(command: Command):
    done = command("run", "simple.yml", "-", stdin=b"caf\xe9")
    assert (done.code, done.out) == (USAGE, "")
    assert "standard input is not UTF-8 text: byte 3 is 0xe9" in done.err
    command.write("latin1.txt", b"\xe9")
    done = command("run", "simple.yml", "--input", "latin1.txt")
    assert done.code == USAGE
    assert "latin1.txt is not UTF-8 text: byte 0 is 0xe9" in done.err


# --- output --------------------------------------------------------------------------------------


def test_output_takes_the_answer_instead_of_standard_output(command: Command):
    done = command("run", "simple.yml", "Hello", "--output", "answer.txt")
    assert (done.code, done.out) == (0, "")
    assert (command.folder / "answer.txt").read_text() == "Hi there\n"
    assert sorted(path.name for path in command.folder.iterdir()) == [
        "answer.txt",
        "react.yml",
        "simple.yml",
    ]


@pytest.mark.parametrize("option", ["--output", "--trace-file"])
@pytest.mark.parametrize("place", ["nowhere/answer.txt", "."])
def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    command: Command, option: str, place: str
):
    tool = ("--tool", "wc=touch ran.txt")
    done = command("run", "react.yml", "x", *tool, option, place)
    assert (done.code, done.out) == (USAGE, "")
    assert f"`{place}` cannot be written" in done.err
    assert not (command.folder / "ran.txt").exists()


def test_output_writes_through_links_and_into_devices(command: Command):
    target, link = command.folder / "target.txt", command.folder / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    assert command("run", "simple.yml", "Hello", "--output", "link.txt").code == 0
    assert target.read_text() == "Hi there\n"
    assert link.is_symlink()
    assert command("run", "simple.yml", "Hello", "--output", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_an_answer_is_not_lost_when_the_trace_file_cannot_be_written(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    """The tool takes the folder away that the trace file was to go to."""
    (command.folder / "traces").mkdir()
    argv = ("run", "react.yml", "x", "--tool", "wc=rmdir traces", "--trace-file", "traces/t.json")
    done = command(*argv)
    assert (done.code, done.out) == (USAGE, "done\n")
    assert "`traces/t.json` cannot be written" in done.err


def test_a_failed_run_tells_its_own_error_when_the_trace_file_cannot_be_written(command: Command):
    (command.folder / "traces").mkdir()
    text = (command.folder / "react.yml").read_text()
    command.write("a.yml", f'{text}guard: {{validator: "False"}}\n')
    argv = ("run", "a.yml", "x", "--tool", "wc=rmdir traces", "--trace-file", "traces/t.json")
    done = command(*argv)
    assert (done.code, done.out) == (1, "")
    assert "`traces/t.json` cannot be written" in done.err
    assert "error[R002]" in done.err


# --- overrides -----------------------------------------------------------------------------------


def test_env_puts_entries_into_the_memory(command: Command):
    command.write("a.yml", scripted("yes", more="memory: {enabled: true}\n"))
    done = command("run", "a.yml", "x", "--env", "city=Rome", "--env", "url=a=b", "--format=json")
    assert asked(done.out) == "[Memory Context]\n- city: Rome\n- url: a=b\n\n[Current Input]\nx"


def test_env_gives_an_agent_without_memory_one(command: Command):
    done = command("run", "simple.yml", "x", "--env", "city=Rome", "--format=json")
    assert asked(done.out).startswith("[Memory Context]\n- city: Rome\n")


def test_env_for_a_memory_that_is_switched_off_is_refused(command: Command):
    command.write("a.yml", scripted("yes", more="memory: {enabled: false}\n"))
    done = command("run", "a.yml", "x", "--env", "city=Rome")
    assert (done.code, done.out) == (USAGE, "")
    assert "nothing in the file uses the injected memory" in done.err
    assert "memory: {enabled: true}" in done.err


def test_a_tool_runs_its_command(command: Command):
    command.write("f.txt", "a\nb\nc\n")
    done = command("run", "react.yml", "x", "--tool", "wc=wc -l {}", "--format", "json")
    assert json.loads(done.out)["trace"][2]["output"] == "3 f.txt"


def test_the_command_of_a_tool_may_hold_equals_signs(command: Command):
    done = command("run", "react.yml", "x", "--tool", "wc=A=1; echo $A", "--format", "json")
    assert json.loads(done.out)["trace"][2]["output"] == "1"


@pytest.mark.parametrize(
    ("options", "name"),
    [(("--tool", "wc=true", "--tool", "wc=false"), "wc"), (("--env", "k=1", "--env", "k=2"), "k")],
)
def test_a_name_that_is_given_twice_is_refused(
    command: Command, options: tuple[str, ...], name: str
):
    done = command("run", "react.yml", "x", *options)
    assert (done.code, done.out) == (USAGE, "")
    assert f"the name `{name}` is given to two" in done.err


def test_a_tool_for_an_agent_that_calls_none_is_refused(command: Command):
    done = command("run", "simple.yml", "Hello", "--tool", "wc=true")
    assert (done.code, done.out) == (USAGE, "")
    assert "tool wc" in done.err


def test_a_refused_command_is_told_before_the_model_is_asked(command: Command):
    done = command("run", "react.yml", "x", "--tool", "wc=sudo rm -rf /", "--trace")
    assert (done.code, done.out) == (1, "")
    assert "error[E006]" in done.err
    assert "β[0]" not in done.err


def test_tool_timeout_ends_the_wait_and_the_run_goes_on(command: Command):
    done = command(
        *("run", "react.yml", "x", "--tool", "wc=sleep 1000"),
        *("--tool-timeout", "0.05", "--format", "json"),
    )
    assert done.code == 0
    document = json.loads(done.out)
    assert document["trace"][2]["output"] == "[TIMEOUT after 0.05s]"
    assert document["result"] == "done"


def test_timeout_ends_the_run(command: Command):
    done = command("run", "react.yml", "x", "--tool", "wc=sleep 1000", "--timeout", "0.1")
    assert (done.code, done.out) == (1, "")
    assert "the run took longer than 0.1 s" in done.err
    assert "--timeout" in done.err


def test_max_steps_bounds_the_loop(command: Command):
    tool = ("--tool", "wc=true", "--format", "json")
    document = json.loads(command("run", "react.yml", "x", *tool, "--max-steps", "1").out)
    assert [row["kind"] for row in document["trace"]].count("llm") == 1
    assert document["result"] == '{"tool": "wc", "args": "f.txt"}'


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-steps", "0"), '--max-steps: expected a whole number from 1, got "0"'),
        (("--max-steps", "two"), '--max-steps: expected a whole number from 1, got "two"'),
        (("--max-steps=-1",), '--max-steps: expected a whole number from 1, got "-1"'),
        (("--temperature", "2.1"), '--temperature: expected a number from 0 to 2, got "2.1"'),
        (("--temperature", "warm"), '--temperature: expected a number from 0 to 2, got "warm"'),
        (("--temperature", "nan"), '--temperature: expected a number from 0 to 2, got "nan"'),
        (("--timeout", "0"), '--timeout: expected a number of seconds above 0, got "0"'),
        (("--timeout", "inf"), '--timeout: expected a number of seconds above 0, got "inf"'),
        (("--tool-timeout", "x"), '--tool-timeout: expected a number of seconds above 0, got "x"'),
        (("--tool", "wc"), '--tool: expected NAME=COMMAND, got "wc"'),
        (("--tool", "=wc"), '--tool: expected NAME=COMMAND, got "=wc"'),
        (("--env", "k"), '--env: expected KEY=VALUE, got "k"'),
        (("--format", "xml"), '--format: there is no "xml"'),
        (("--frobnicate",), "unrecognized arguments: --frobnicate"),
        (("--quie",), "unrecognized arguments: --quie"),
        (("--model",), "--model: expected one argument"),
    ],
)
def test_a_wrong_option_has_exit_code_2_and_names_itself(
    command: Command, options: tuple[str, ...], said: str
):
    done = command("run", "simple.yml", "Hello", *options)
    assert (done.code, done.out) == (USAGE, "")
    assert "usage: lambdagent run" in done.err
    assert said in done.err


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "LAMBDAGENT_TEMPERATURE",
            "warm",
            "`LAMBDAGENT_TEMPERATURE` must be a number from 0 to 2, got warm",
        ),
        (
            "LAMBDAGENT_TEMPERATURE",
            "3",
            "error[S103]: `LAMBDAGENT_TEMPERATURE` must be a number from 0 to 2, got 3",
        ),
        (
            "LAMBDAGENT_MAX_TOKENS",
            "1.5",
            "`LAMBDAGENT_MAX_TOKENS` must be a whole number from 1, got 1.5",
        ),
        (
            "LAMBDAGENT_MAX_TOKENS",
            "0",
            "error[S103]: `LAMBDAGENT_MAX_TOKENS` must be a whole number from 1, got 0",
        ),
    ],
)
def test_a_wrong_environment_variable_has_exit_code_2_and_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
):
    monkeypatch.setenv(variable, value)
    done = command("run", "simple.yml", "Hello")
    assert (done.code, done.out) == (USAGE, "")
    assert said in done.err


def test_a_missing_key_names_the_variable_and_a_way_without(command: Command):
    command.write(
        "a.yml", SIMPLE.replace("scripted", "openai").split(", script")[0] + ", name: m}"
    )
    done = command("run", "a.yml", "Hello")
    assert (done.code, done.out) == (1, "")
    assert "OPENAI_API_KEY" in done.err
    assert "provider: scripted" in done.err


# --- faults of ours ------------------------------------------------------------------------------


def test_a_handler_that_raises_what_nobody_expects_is_a_fault_of_ours(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    from lambdagent.effects.llm.scripted import Scripted

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    for name in ("chat", "achat"):
        monkeypatch.setattr(Scripted, name, fail)
    done = command("run", "simple.yml", "Hello")
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("internal error: ZeroDivisionError")
    assert "Traceback" not in done.err


def test_ctrl_c_during_a_run_has_exit_code_130(command: Command, monkeypatch: pytest.MonkeyPatch):
    from lambdagent.effects.llm.scripted import Scripted

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Scripted, "chat", interrupt)
    done = command("run", "simple.yml", "Hello")
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")


def test_the_trace_of_a_scripted_run_tells_no_key(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    done = command("run", "simple.yml", "Hello", "--trace", "--trace-file", "t.json", "--verbose")
    kept = (command.folder / "t.json").read_text()
    assert "sk-secret" not in done.out + done.err + kept
