import os
import subprocess
import sys
from pathlib import Path

import pytest

from lambdagent import Session, build_agent
from lambdagent.effects.llm import Providers, make_provider
from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.llm.scripted import Scripted
from lambdagent.errors import EffectError
from lambdagent.ir.data import freeze
from lambdagent.ir.limits import Limits
from lambdagent.ir.model import Model
from lambdagent.ir.services import SERVICES
from tests.effects.calls import model_call
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM

CHATTING = [name for name, each in SERVICES.items() if each.speaks in {"messages", "chat"}]
KEYS = {service.key_variable: "k" for service in SERVICES.values() if service.key_variable}


def diagnostic(model: Model, environment: dict[str, str]):
    with pytest.raises(EffectError) as caught:
        make_provider(model, environment)
    return caught.value.diagnostic


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service.needs_key])
def test_a_missing_key_is_told_before_anything_is_sent(name: str):
    for environment in ({}, {str(SERVICES[name].key_variable): " "}):
        found = diagnostic(Model(provider=name), environment)
        assert found.code == "E001"
        assert str(SERVICES[name].key_variable) in found.fix


@pytest.mark.parametrize("name", sorted(CHATTING))
def test_every_service_has_its_handler_url_and_key(name: str):
    url = "https://example.test/v1" if name == "custom" else None
    provider = make_provider(Model(provider=name, base_url=url), KEYS)
    assert isinstance(provider, AnthropicMessages if name == "anthropic" else OpenAIChat)
    assert provider.endpoint.base_url == (url or SERVICES[name].base_url)
    assert provider.endpoint.key == (None if name == "ollama" else "k")
    assert not provider.instant


def test_a_url_in_the_file_counts_more_than_one_in_the_environment():
    environment = {**KEYS, "OPENAI_BASE_URL": "http://proxy.test/v1"}
    for base_url, expected in ((None, "http://proxy.test/v1"), ("http://a.test", "http://a.test")):
        provider = make_provider(Model(provider="openai", base_url=base_url), environment)
        assert isinstance(provider, OpenAIChat)
        assert provider.endpoint.base_url == expected
        assert provider.endpoint.named_by == ("model.baseUrl" if base_url else "OPENAI_BASE_URL")
    provider = make_provider(Model(provider="openai"), KEYS)
    assert isinstance(provider, OpenAIChat)
    assert provider.endpoint.named_by is None


def test_a_key_of_custom_may_be_missing():
    provider = make_provider(Model(provider="custom", base_url="http://a.test/v1"), {})
    assert isinstance(provider, OpenAIChat)
    assert provider.endpoint.key is None


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (Model(provider="claude-code"), "not on the PATH"),
        (Model(provider="opneai"), "no such provider"),
        (Model(provider="custom"), "no URL"),
        (Model(provider="openai", base_url="localhost:80"), "no URL"),
    ],
)
def test_a_provider_that_cannot_be_used_is_an_error_with_a_fix(model: Model, what: str):
    found = diagnostic(model, KEYS)
    assert (found.code, what in found.what, bool(found.fix)) == ("E005", True, True)


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1/v1",
        "http://[::g]/v1",
        "http://h:99999999/v1",
        "http://h:0/v1",
        "http://h:x/v1",
        "http://a..bé/v1",
        "http://a..b/v1",
        "http://a b/v1",
        "http://a\n/v1",
        "http://",
        "http:///v1",
        "ftp://h/v1",
        "h/v1",
        f"http://{'a' * 64}.test",
        "http://\ud800/v1",
    ],
)
@pytest.mark.parametrize("name", ["anthropic", "openai", "custom"])
def test_what_is_no_url_is_refused_before_anything_is_sent(name: str, url: str):
    for base_url, environment in ((url, KEYS), (None, {**KEYS, f"{name.upper()}_BASE_URL": url})):
        if base_url or name != "custom":
            found = diagnostic(Model(provider=name, base_url=base_url), environment)
            assert (found.code, "no URL" in found.what) == ("E005", True)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://bob:hunter2@h/v1",
        "bob:hunter2@h/v1?key=hunter3",
        "http://bob:hunter2@h:x/v1?a=hunter3",
        "http://bob:hunter2/hunter3@h/v1",
        "http://bob:hunter2?hunter3@h/v1",
        "http://bob:hunter2#hunter3@h/v1",
        "http:/bob:hunter2@h",
    ],
)
def test_a_url_is_refused_without_its_credentials(url: str):
    found = diagnostic(Model(provider="custom", base_url=url), KEYS)
    assert (found.code, "hunter" in str(found)) == ("E005", False)


@pytest.mark.parametrize(
    ("url", "usable"),
    [
        ("http://[::1]:8000/v1", None),
        ("https://bob:pw@h.test:1/v1?a=b", None),
        ("http://my_host/v1", None),
        ("https://пример.рф:8/v1", "https://xn--e1afmkfd.xn--p1ai:8/v1"),
        ("https://a:b@😀.test/v1", "https://a:b@xn--e28h.test/v1"),
    ],
)
def test_a_url_of_any_host_can_be_used(url: str, usable: str | None):
    for name in ("openai", "anthropic"):
        provider = make_provider(Model(provider=name, base_url=url), KEYS)
        assert isinstance(provider, OpenAIChat | AnthropicMessages)
        assert provider.endpoint.base_url == (usable or url)


@pytest.mark.parametrize("name", [name for name, s in SERVICES.items() if s.key_variable])
@pytest.mark.parametrize("key", ["schlüssel", "sk-“quoted”", "sk\n-1", "sk-\x00"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(name: str, key: str):
    variable = str(SERVICES[name].key_variable)
    found = diagnostic(Model(provider=name, base_url="http://h.test"), {variable: key})
    assert (found.code, variable in found.fix, key in str(found)) == ("E005", True, False)


def test_scripted_needs_nothing_and_finds_its_recording(tmp_path: Path):
    (tmp_path / "run.jsonl").write_text(
        '{"lambdagent-recording":1}\n{"agent":"writer","reply":"a"}\n'
    )
    script = freeze({"recording": "run.jsonl"})
    provider = make_provider(Model(provider="scripted", script=script), {}, tmp_path)
    assert provider.instant
    assert provider.chat(model_call()).text == "a"


def test_models_served_at_one_place_share_a_provider():
    providers = Providers(KEYS)
    first = providers.of(Model(provider="openai", name="a"))
    assert providers.of(Model(provider="openai", name="b", temperature=1.0)) is first
    other = Model(provider="openai", name="a", base_url="http://a.test/v1")
    assert providers.of(other) is not first
    providers.close()


def test_those_who_ask_a_service_alike_share_its_handler_until_the_last_one_is_closed(
    mock_llm: MockLLM,
):
    model = Model(provider="custom", name="m", base_url=mock_llm.openai)
    tables = [Providers(KEYS) for _ in range(2)]
    first, second = (table.of(model) for table in tables)
    assert isinstance(first, OpenAIChat)
    assert first is second
    mock_llm.reply("a")
    first.chat(model_call(model))
    thread = first._line().thread
    assert thread is not None
    tables[0].close()
    tables[0].close()
    assert thread.is_alive()
    tables[1].close()
    assert not thread.is_alive()
    third = Providers(KEYS)
    assert third.of(model) is not first
    third.close()


def test_a_session_that_is_refused_for_its_prices_holds_no_handler():
    model = Model(provider="custom", name="unheard-of", base_url="http://a.test/v1")
    config = {
        "type": "simple",
        "systemPrompt": "p",
        "model": {"provider": "custom", "name": model.name, "baseUrl": model.base_url},
        "budget": {"usd": 1},
    }
    with pytest.raises(EffectError, match="R015"):
        Session(build_agent(config))
    first, second = Providers(os.environ), Providers(os.environ)
    handler = first.of(model)
    first.close()
    assert second.of(model) is not handler
    second.close()


def test_those_who_ask_a_service_differently_share_nothing(monkeypatch: pytest.MonkeyPatch):
    model = Model(provider="openai", name="m")
    tables = [
        Providers(KEYS),
        Providers({**KEYS, "OPENAI_API_KEY": "another"}),
        Providers(KEYS, rates={"openai": Limits(requests=1)}),
    ]
    handlers = [table.of(model) for table in tables]
    monkeypatch.setenv("OPENAI_PROJECT_ID", "another")  # which the SDK reads
    tables.append(Providers(KEYS))
    handlers.append(tables[-1].of(model))
    assert len({id(each) for each in handlers}) == len(tables)
    for table in tables:
        table.close()


def test_models_with_equal_scripts_share_its_replies():
    providers = Providers({})
    models = [Model(provider="scripted", script=freeze({"replies": [n, "two"]})) for n in "aab"]
    first, second, third = (providers.of(model) for model in models)
    assert isinstance(first, Scripted)
    assert first is second
    assert first is not third
    providers.close()


def test_a_closed_table_has_no_thread_left(mock_llm: MockLLM):
    providers = Providers(KEYS)
    mock_llm.reply("a")
    model = Model(provider="custom", name="m", base_url=mock_llm.openai)
    provider = providers.of(model)
    assert isinstance(provider, OpenAIChat)
    provider.chat(model_call(model))
    thread = provider._line().thread
    providers.close()
    assert thread is not None
    assert not thread.is_alive()
    provider.close()


def test_no_sdk_is_loaded_before_a_handler_is_built():
    program = (
        "import sys, lambdagent.effects.llm, lambdagent.effects.tools.shell;"
        "sys.exit(any(m in sys.modules for m in ('openai', 'anthropic', 'httpx', 'httpx2')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("name", ["openai", "anthropic", "custom"])
def test_the_query_of_a_url_goes_with_every_request(name: str, local_server: LocalServer):
    url = f"{local_server.url}/v1?api-version=2026-10-01&flag="
    provider = make_provider(Model(provider=name, name="m", base_url=url), KEYS)
    assert isinstance(provider, OpenAIChat | AnthropicMessages)
    local_server.answer(Answer({}, 400))
    with pytest.raises(EffectError):
        provider.chat(model_call(Model(provider=name, name="m")))
    provider.close()
    path = "/v1/messages" if name == "anthropic" else "/v1/chat/completions"
    assert local_server.asked[0].path == f"{path}?api-version=2026-10-01&flag="
