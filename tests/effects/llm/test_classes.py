"""Providers that are classes of others: by their paths, and by names that packages gave them."""

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from lambdagent.effects.llm import Providers, has_price, make_provider
from lambdagent.errors import EffectError
from lambdagent.ir.classes import GROUP, class_path
from lambdagent.ir.model import Model
from tests.cli.command import Command
from tests.effects.calls import model_call

SOURCE = '''
"""Models beside the agent file."""

import os


class Echo:
    closed = 0

    def __init__(self, name, temperature, *, base_url=None, stop_sequences=()):
        self.settings = name, temperature, base_url, stop_sequences

    def chat(self, messages):
        text = f"{self.settings} {[each['content'] for each in messages]}"
        return {"text": text, "usage": {"input": 3, "output": 1}}

    def close(self):
        Echo.closed += 1


class Late:
    async def chat(self, messages):
        return "late"


class Native:
    instant = True

    def chat(self, call):
        return None

    async def achat(self, call):
        return None

    def close(self):
        pass


class Mute:
    pass


class Locked:
    def __init__(self):
        raise RuntimeError(f"no: {os.environ['PLANTED_KEY']}")


class Needy:
    def __init__(self, the_region_where_it_is):
        pass
'''
AGENT = "type: simple\nname: a\nsystemPrompt: Be.\nmodel: {provider: PROVIDER, name: m}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PLANTED_KEY", "planted-secret")
    (tmp_path / "my_models.py").write_text(SOURCE)
    yield tmp_path
    sys.modules.pop("my_models", None)


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that brings a provider, installed for the time of a test."""
    about = folder / "site" / "mine-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nmine = my_models:Echo\n")
    monkeypatch.syspath_prepend(str(folder / "site"))
    assert entry_points(group=GROUP, name="mine")
    return folder


def test_a_class_gets_the_settings_that_its_constructor_names(folder: Path):
    model = Model(
        provider="my_models:Echo", name="m", temperature=0.5, stop_sequences=("END",), top_p=0.5
    )
    provider = make_provider(model, {}, folder)
    reply = provider.chat(model_call(model))
    assert reply.text == "('m', 0.5, None, ('END',)) ['Be brief.', 'Hello']"
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (3, 1)
    assert has_price(model, {})


async def test_a_class_may_be_asynchronous_or_know_whole_calls(folder: Path):
    late = make_provider(Model(provider="my_models:Late"), {}, folder)
    assert (await late.achat(model_call())).text == "late"
    assert make_provider(Model(provider="my_models:Native"), {}, folder).instant


def test_each_model_has_its_object_and_all_are_closed(folder: Path):
    providers = Providers({}, folder)
    first = providers.of(Model(provider="my_models:Echo", name="a"))
    assert providers.of(Model(provider="my_models:Echo", name="a")) is first
    assert providers.of(Model(provider="my_models:Echo", name="b")) is not first
    providers.close()
    assert sys.modules["my_models"].Echo.closed == 2


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("no_such:A", "cannot be imported: ModuleNotFoundError"),
        ("my_models:Nobody", "`my_models` has no class `Nobody`"),
        ("my_models:Mute", "a Mute has no method `chat`"),
        ("my_models:Locked", "cannot be made: RuntimeError: no: [PLANTED_KEY]"),
        ("my_models:Needy", "missing 1 required positional argument: 'the_region_where_it_is'"),
    ],
)
def test_what_is_no_provider_is_told_before_any_call(folder: Path, path: str, what: str):
    with pytest.raises(EffectError) as caught:
        make_provider(Model(provider=path), {"PLANTED_KEY": "planted-secret"}, folder)
    found = caught.value.diagnostic
    assert (found.code, what in found.what, path in found.fix) == ("E005", True, True)


@pytest.mark.parametrize("name", ["Echo", "Late"])
def test_what_is_too_long_for_a_model_is_no_fault_of_its_class(
    command: Command, folder: Path, name: str
):
    """And is told whole, though it was data of the run in between."""
    model = f"{{provider: my_models:{name}, name: m, contextWindow: 9, maxTokens: 8}}"
    command.write("a.yml", f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\n")
    command.write("my_models.py", SOURCE)
    done = command("run", "a.yml", "one two three")
    assert "error[E015]: what `llm.a` is to be asked is about " in done.err
    assert "neither the prompt nor what is new is ever cut\n" in done.err


def test_a_name_of_an_installed_package_is_its_class(package: Path):
    assert class_path("mine") == "my_models:Echo"
    reply = make_provider(Model(provider="mine", name="m"), {}, package).chat(model_call())
    assert reply.text.startswith("('m', 0.3,")


def test_the_names_of_services_are_theirs_alone():
    assert class_path("openai") is class_path("custom") is None


@pytest.mark.parametrize("provider", ["my_models:Echo", "mine"])
def test_the_command_runs_checks_and_prints_such_agents(
    command: Command, package: Path, provider: str
):
    command.write("a.yml", AGENT.replace("PROVIDER", provider))
    assert command("compile", "a.yml", "--validate").code == 0
    done = command("run", "a.yml", "hello")
    assert (done.code, done.out) == (0, "('m', 0.3, None, ()) ['Be.', 'hello']\n")
    for form in ("human", "formal", "json"):
        name = "b.json" if form == "json" else "b.lam"
        command.write(name, command("lambda", "a.yml", "--format", form).out)
        assert command("run", name, "hello").out == done.out
    assert command("compile", "a.yml", "--dry-run").code == 0


def test_a_name_that_nobody_brings_is_no_provider(command: Command):
    command.write("a.yml", AGENT.replace("PROVIDER", "mine"))
    done = command("run", "a.yml", "hello")
    assert (done.code, done.out) == (2, "")
    assert "`model.provider` must be a known provider, got mine" in done.err
    assert "write `package.module:Class`" in done.err
