"""``lambdagent new``: what it writes compiles, runs without a key, and replaces nothing."""

import io
import re
import sys
from typing import Any

import pytest

from lambdagent.api.compiling import parse_config
from lambdagent.api.starting import LANGUAGES, PROVIDERS, TYPES, USUAL_MODELS
from lambdagent.source import Source
from tests.cli.command import Command

# A question of the comments, and what the script answers.
ASKED = {
    "en": {
        "simple": ("Hello!", "Hello! What can I do for you?"),
        "react": ("Are you there?", "I am a script; a real model would think about this."),
        "chain": ("Notes", "Built in 1890, the bridge is 2.5 km long."),
        "router": ("My invoice is wrong", "I will look at your invoice."),
        "parallel": ("Move?", "More light, but more rent: ask for a month on trial."),
    },
    "zh": {
        "simple": ("你好", "你好！有什么可以帮你的吗？"),
        "react": ("在吗？", "我只是脚本；换成真实模型就会思考了。"),
        "chain": ("笔记", "这座桥建于 1890 年，长 2.5 公里。"),
        "router": ("我的发票有误", "我来看看你的发票。"),
        "parallel": ("搬吗？", "采光更好但租金更高：先争取试租一个月。"),
    },
}
CHINESE = re.compile("[一-鿿]")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_written_runs_without_a_key(command: Command, kind: str, language: str):
    made = command("new", kind, "--name", f"my {kind}", "--lang", language)
    assert (made.code, made.out, made.err) == (0, f"my-{kind}.yml\n", "")
    text = (command.folder / f"my-{kind}.yml").read_text(encoding="utf-8")
    assert bool(CHINESE.search(text)) == (language == "zh")
    assert not re.search(r"__[A-Z]|\[model|\]model", text)
    question, answer = ASKED[language][kind]
    ran = command("run", f"my-{kind}.yml", question, "--quiet")
    assert (ran.code, ran.out) == (0, f"{answer}\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tool_of_the_react_starter_is_called(command: Command, language: str):
    command("new", "react", "--name", "counter", "--lang", language)
    question = "How many lines? 多少"
    ran = command("run", "counter.yml", question, "--tool", "count=wc -l", "--trace")
    assert ran.code == 0
    assert "count" in ran.err


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", TYPES)
def test_the_commented_model_can_take_the_place_of_the_script(
    command: Command, kind: str, language: str
):
    text = command("new", kind, "--lang", language, "--output", "-").out
    line = re.search(r"^#   (model: \{.*\})$", text, re.MULTILINE)
    assert line is not None
    changed = re.sub(r"^model:\n(  .*\n)+", f"{line[1]}\n", text, flags=re.MULTILINE)
    data = parse_config(Source("agent.yml", changed), {}).data
    assert data["model"]["provider"] == "openai"
    assert "script" not in data["model"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("provider", PROVIDERS[1:])
@pytest.mark.parametrize("kind", TYPES)
def test_each_provider_has_a_model_of_its_own(
    command: Command, kind: str, provider: str, language: str
):
    done = command("new", kind, "--provider", provider, "--lang", language, "--output", "-")
    model = parse_config(Source("agent.yml", done.out), {}).data["model"]
    assert (model["provider"], model["name"]) == (provider, USUAL_MODELS[provider])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_is_wrong_with_what_is_written(command: Command, provider: str):
    """Such as a conversation that is larger than what the model reads."""
    command("new", "simple", "--provider", provider)
    linted = command("lint", "simple.yml", "--level", "warn")
    assert "0 error(s), 0 warning(s)" in linted.out


def test_a_model_tells_its_provider(command: Command):
    text = command("new", "simple", "--model", "claude-3", "--output", "-").out
    assert "model: {provider: anthropic, name: claude-3}" in text
    assert "ANTHROPIC_API_KEY" in text


@pytest.mark.parametrize("model", ["a, b", "x}", "m: n", "模型", "#1", 'say "x"', "it's", "yes"])
def test_any_model_and_name_are_read_as_they_are(command: Command, model: str):
    done = command(
        "new", "simple", "--name", model, "--model", model, "--provider", "custom", "--output", "-"
    )
    data = parse_config(Source("agent.yml", done.out), {}).data
    assert (data["name"], data["model"]["name"]) == (model, model)


def test_a_file_that_is_there_stays_unless_forced(command: Command):
    before = (command.folder / "simple.yml").read_text()
    done = command("new", "simple")
    assert (done.code, done.out) == (2, "")
    assert "error[U033]: `simple.yml` is there already" in done.err
    assert (command.folder / "simple.yml").read_text() == before
    assert command("new", "simple", "--force").code == 0
    assert (command.folder / "simple.yml").read_text() != before


def test_a_link_that_leads_nowhere_is_not_written_through(command: Command):
    (command.folder / "link.yml").symlink_to("elsewhere.yml")
    assert command("new", "simple", "--output", "link.yml").code == 2
    assert not (command.folder / "elsewhere.yml").exists()


def test_comments_name_the_file(command: Command):
    done = command("new", "react", "--name", "My agent", "--lang", "en")
    assert done.out == "My-agent.yml\n"
    command("new", "react", "--output", "two words.yml", "--lang", "en")
    text = (command.folder / "two words.yml").read_text()
    assert "#   lambdagent run 'two words.yml' \"Are you there?\"" in text
    assert 'from_config("two words.yml", tools=' in text


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ((), "U030"),
        (("simple", "--model", "nobody-knows"), "U031"),
        (("simple", "--name", "a\nb"), "U032"),
        (("simple", "--name", " "), "U032"),
        (("simple", "--model", "gpt-4o", "--provider", "scripted"), "U001"),
        (("simple", "--output", "no/such/folder.yml"), "U002"),
    ],
)
def test_what_makes_no_file_is_refused(command: Command, argv: tuple[str, ...], code: str):
    done = command("new", *argv)
    assert (done.code, done.out) == (2, "")
    assert f"error[{code}]" in done.err


@pytest.mark.parametrize(
    ("names", "chinese"),
    [
        ({"LAMBDAGENT_LANG": "zh"}, True),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, True),
        ({"LAMBDAGENT_LANG": "en", "LANG": "zh_CN.UTF-8"}, False),
    ],
)
def test_the_environment_chooses_the_language(
    command: Command, monkeypatch: pytest.MonkeyPatch, names: dict[str, str], chinese: bool
):
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    text = command("new", "chain", "--output", "-").out
    assert bool(CHINESE.search(text)) == chinese


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, said: str, *argv: str
) -> tuple[int, str]:
    """Run `new` for somebody who types `said`; return the exit code and what was asked."""
    from lambdagent.cli.main import main
    from lambdagent.cli.output import Output

    shown: Any = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    monkeypatch.setattr(sys, "stderr", shown)
    code = main(["new", *argv], Output(io.StringIO(), shown))
    return code, shown.getvalue()


def test_in_a_terminal_it_asks(command: Command, monkeypatch: pytest.MonkeyPatch):
    said = "tree\nrouter\nfront desk\nanthropic\n\n\n"
    code, asked = at_a_terminal(command, monkeypatch, said)
    assert code == 0
    assert "there is no `tree`" in asked
    text = (command.folder / "front-desk.yml").read_text()
    assert "name: front desk\n" in text
    assert f"model: {{provider: anthropic, name: {USUAL_MODELS['anthropic']}}}" in text


def test_enter_takes_what_is_usual(command: Command, monkeypatch: pytest.MonkeyPatch):
    code, asked = at_a_terminal(command, monkeypatch, "\n\n\nmine.yml\n")
    assert code == 0
    assert "Type: simple, react, chain, router, parallel [simple]" in asked
    assert "provider: scripted" in (command.folder / "mine.yml").read_text()


def test_options_are_not_asked_for(command: Command, monkeypatch: pytest.MonkeyPatch):
    argv = ("--name", "a", "--model", "gpt-4o", "--output", "b.yml")
    code, asked = at_a_terminal(command, monkeypatch, "chain\n", *argv)
    assert (code, asked.count("[")) == (0, 1)


def test_the_end_of_the_input_writes_nothing(command: Command, monkeypatch: pytest.MonkeyPatch):
    code, asked = at_a_terminal(command, monkeypatch, "chain\n")
    assert code == 2
    assert "error[U034]" in asked
    assert not (command.folder / "chain.yml").exists()
