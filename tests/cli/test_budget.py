"""Budgets of runs: in the file, on the command line, in runs that are kept."""

import json

import pytest

from tests.cli.command import Command

LOOP = """\
type: react
name: a
systemPrompt: p
model: {provider: scripted, script: {rules: [{reply: '{"tool": "echo", "args": "x"}'}]}}
react: {maxSteps: 9}
"""
TOOL = ("--tool", "echo=echo {}")


@pytest.fixture
def loop(command: Command) -> Command:
    command.write("a.yml", LOOP)
    return command


@pytest.mark.parametrize("engine", ["recursive", "cek"])
def test_a_run_ends_with_its_budget(loop: Command, engine: str):
    done = loop("run", "a.yml", "go", *TOOL, "--budget", "calls=3", "--engine", engine, "--trace")
    assert done.code == 1
    assert "error[R013]" in done.err
    assert "`budget.calls` is 3" in done.err
    assert "spent so far: 3 model calls" in done.err
    assert "kept (`--checkpoint-dir DIR`, in Python `Run`) goes on from here" in done.err
    assert done.err.count("think") == 3


def test_the_file_may_say_it(loop: Command):
    loop.write("a.yml", LOOP + "budget: {calls: 2}\n")
    assert "`budget.calls` is 2" in loop("run", "a.yml", "go", *TOOL).err
    assert "`budget.calls` is 4" in loop("run", "a.yml", "go", *TOOL, "--budget", "calls=4").err


def test_a_budget_that_may_not_do_is_told_before_the_start(loop: Command):
    done = loop("run", "a.yml", "go", *TOOL, "--budget", "calls=3", "--budget", "tokens=100")
    first, second = (line for line in done.err.splitlines() if "warning[R014]" in line)
    assert "up to 9 model calls, and `budget.calls` is 3" in first
    assert "up to 36864 tokens in answers alone, and `budget.tokens` is 100" in second
    enough = loop("run", "a.yml", "go", *TOOL, "--budget", "calls=9")
    assert "R014" not in enough.err


def test_a_run_with_enough_comes_to_its_end(loop: Command):
    assert loop("run", "a.yml", "go", *TOOL, "--budget", "calls=9").code == 0


def test_seconds_are_told_as_the_budget(command: Command):
    command.write("a.yml", LOOP + "budget: {seconds: 0.4}\n")
    done = command("run", "a.yml", "go", "--tool", "echo=sleep 30")
    assert done.code == 1
    assert "`budget.seconds` is 0.4" in done.err
    sooner = command("run", "a.yml", "go", "--tool", "echo=sleep 30", "--timeout", "0.2")
    assert "error[R006]" in sooner.err


def test_a_kept_run_goes_on_with_more(loop: Command):
    loop.write("a.yml", LOOP + "budget: {calls: 3}\n")
    assert loop("run", "a.yml", "go", *TOOL, "--checkpoint-dir", "runs").code == 1
    (run,) = (loop.folder / "runs").iterdir()
    kept = json.loads((run / "run.json").read_text())
    assert kept["limits"] == {"budget": {"calls": 3}, "rates": {}}
    again = loop("run", "--resume", f"runs/{run.name}")
    assert (again.code, "`budget.calls` is 3" in again.err) == (1, True)
    more = loop("run", "--resume", f"runs/{run.name}", "--budget", "calls=5")
    assert "spent so far: 5 model calls" in more.err
    last = loop("run", "--resume", f"runs/{run.name}", "--budget", "calls=50")
    assert last.code == 0
    journal = loop("trace", f"runs/{run.name}").out
    assert journal.count("think") == 9


def test_dollars_that_cannot_be_counted_are_refused_before_the_start(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    command.write("a.yml", "type: simple\nsystemPrompt: p\nmodel: {name: gpt-unheard-of}\n")
    done = command("run", "a.yml", "x", "--budget", "usd=1")
    assert done.code == 1
    assert "error[R015]" in done.err
    assert "`gpt-unheard-of`" in done.err


def test_dollars_are_counted(command: Command):
    usage = {"input": 1, "output": 1, "usd": 0.4}
    lines = [{"lambdagent-recording": 1}]
    lines += [{"agent": "a", "reply": {"text": LOOP.split("'")[1], "usage": usage}}] * 9
    command.write("a.rec", "\n".join(map(json.dumps, lines)) + "\n")
    model = "{provider: scripted, script: {recording: a.rec}}"
    file = LOOP.replace(LOOP.split("model: ")[1].split("\n", maxsplit=1)[0], model)
    command.write("a.yml", file)
    done = command("run", "a.yml", "go", *TOOL, "--budget", "usd=1")
    assert "`budget.usd` is 1" in done.err
    assert "3 model calls, 6 tokens, $1.20" in done.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("calls", "a whole number from 1"),
        ("calls=0", "a whole number from 1"),
        ("calls=1.5", "a whole number from 1"),
        ("usd=x", "a number above 0"),
        ("usd=0", "a number above 0"),
        ("usd=inf", "a number above 0"),
        ("euro=1", "NAME=N, NAME being one of tokens, usd, calls, seconds"),
    ],
)
def test_a_limit_that_is_none_is_refused(loop: Command, text: str, told: str):
    done = loop("run", "a.yml", "go", "--budget", text)
    assert done.code == 2
    assert f"expected {told}, got" in done.err


@pytest.mark.parametrize("block", ["budget: {calls: 0}", "budget: {euro: 1}", "budget: {usd: 0}"])
def test_a_budget_that_is_none_does_not_compile(loop: Command, block: str):
    loop.write("a.yml", f"{LOOP}{block}\n")
    assert loop("run", "a.yml", "go", *TOOL).code == 2


@pytest.mark.parametrize(
    ("model", "provider", "told"),
    [
        ("{name: gpt-4o}", "opena", "write `openai`"),
        ("{name: gpt-4o}", "anthropic", "a provider of this file: openai"),
        ("{provider: claude-code}", "claude-code", "and it asks none"),
    ],
)
def test_a_rate_limit_that_nothing_would_heed_does_not_compile(
    command: Command, model: str, provider: str, told: str
):
    limits = f"runtime: {{rateLimits: {{{provider}: {{requestsPerMinute: 1}}}}}}"
    command.write("a.yml", f"type: simple\nsystemPrompt: p\nmodel: {model}\n{limits}\n")
    done = command("compile", "a.yml")
    assert done.code == 2
    assert told in done.err


def test_a_price_in_the_file_counts(command: Command):
    reply = {"text": "hi", "usage": {"input": 1_000_000, "output": 500_000, "cached": 500_000}}
    lines = [{"lambdagent-recording": 1}, {"agent": "a", "reply": reply}]
    command.write("a.rec", "\n".join(map(json.dumps, lines)) + "\n")
    command.write(
        "a.yml",
        "type: simple\nname: a\nsystemPrompt: p\n"
        "model: {provider: scripted, name: m, script: {recording: a.rec}}\n"
        "runtime: {prices: {m: {input: 2, output: 8, cached: 1}}}\n",
    )
    done = command("run", "a.yml", "x", "--format", "json", "--checkpoint-dir", "runs")
    assert json.loads(done.out)["stats"]["total_cost_usd"] == 1 + 0.5 + 4
    (run,) = (command.folder / "runs").iterdir()
    kept = json.loads((run / "run.json").read_text())
    assert kept["limits"]["prices"] == {"m": {"input": 2.0, "output": 8.0, "cached": 1.0}}


def test_a_price_makes_dollars_countable(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    command.write(
        "a.yml",
        "type: simple\nsystemPrompt: p\nmodel: {name: gpt-new, baseUrl: 'http://127.0.0.1:1'}\n"
        "budget: {usd: 1}\nruntime: {prices: {gpt-new: {input: 2, output: 8}}}\n",
    )
    done = command("run", "a.yml", "x", "--timeout", "5")
    assert "R015" not in done.err


def test_a_price_of_no_model_does_not_compile(loop: Command):
    loop.write("a.yml", LOOP + "runtime: {prices: {gpt-4: {input: 2, output: 8}}}\n")
    done = loop("compile", "a.yml")
    assert done.code == 2
    assert "a model that the file names, and it names none" in done.err
