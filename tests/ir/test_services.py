"""The tables of providers and models: what they hold, and that they agree with each other."""

import re
from urllib.parse import urlsplit

import pytest

from lambdagent.ir.known_models import MODELS, PRICES_OF, Price
from lambdagent.ir.services import SERVICES, provider_of, wants_reasoning

PRICED = {name: known for name, known in MODELS.items() if known.price is not None}


def test_the_provider_of_a_model_is_known_by_its_name():
    assert provider_of("Claude-x") == "anthropic"
    assert provider_of("kimi-k3") == "moonshot"
    assert provider_of("unheard-of") is None


def test_thoughts_go_to_who_wants_them_or_made_the_model():
    assert wants_reasoning("moonshot", "any")
    assert wants_reasoning("custom", "DeepSeek-V4-Flash")
    assert not wants_reasoning("openai", "gpt-5")
    assert not wants_reasoning("package.module:Class", "m")


def test_no_family_is_claimed_twice_nor_hides_another():
    families = [prefix for service in SERVICES.values() for prefix in service.families]
    assert len(families) == len(set(families))
    for prefix in families:
        assert not [other for other in families if other != prefix and other.startswith(prefix)]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_says_what_a_run_needs(name: str):
    service = SERVICES[name]
    if service.needs_key:
        assert service.key_variable
    if service.base_url is not None:
        assert urlsplit(service.base_url).hostname
    assert service.speaks in {"messages", "chat"} or service.base_url is None


@pytest.mark.parametrize("name", MODELS)
def test_a_known_model_belongs_to_a_provider(name: str):
    assert provider_of(name) is not None
    assert MODELS[name].window >= 4096


@pytest.mark.parametrize("name", PRICED)
def test_prices_are_sensible(name: str):
    known = PRICED[name]
    price: Price | None = known.price
    assert known.host
    while price is not None:
        assert 0 < (price.cached or price.input) <= price.input <= price.output
        price = price.above


def test_the_day_of_the_prices_is_told():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", PRICES_OF)


def test_cached_tokens_cost_what_they_cost():
    price = Price(2, 10, 0.5)
    assert price.of(1_000_000, 0, 0) == 2
    assert price.of(1_000_000, 0, 1_000_000) == 0.5
    assert price.of(0, 1_000_000, 0) == 10
    assert Price(2, 10).of(1_000_000, 0, 1_000_000) == 2


def test_a_long_request_costs_more_as_a_whole():
    price = Price(1, 2, 0.1, 1000, Price(10, 20, 1))
    assert price.of(1000, 1, 0) == pytest.approx(1002e-6)
    assert price.of(1001, 1, 0) == pytest.approx(10030e-6)
