"""Who counts tokens: a vocabulary that is at hand, or the estimate; nothing is downloaded."""

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lambdagent.effects.protocol import Message
from lambdagent.effects.tokenizers import counter_of, request_tokens
from lambdagent.ir.tokens import OF_A_MESSAGE, estimate_tokens
from tests.effects.calls import model_call


class Tiktoken:
    """Stands for the package: vocabularies in a cache, and a way to download the others."""

    def __init__(self, *cached: str) -> None:
        self.cached = cached
        self.downloads: list[str] = []
        self.load = ModuleType("tiktoken.load")
        self.load.read_file = self.read_file  # type: ignore[attr-defined]

    def read_file(self, path: str) -> bytes:
        self.downloads.append(path)
        return b""

    def encoding_name_for_model(self, model: str) -> str:
        return {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}[model]

    def get_encoding(self, name: str) -> Any:
        if name not in self.cached:
            self.load.read_file(f"https://vocabularies/{name}")
        return SimpleNamespace(encode_ordinary=lambda text: [name, *text])


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    counter_of.cache_clear()
    yield
    counter_of.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *cached: str) -> Tiktoken:
    package = Tiktoken(*cached)
    monkeypatch.setitem(sys.modules, "tiktoken", package)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "tiktoken.load", package.load)
    return package


def test_a_vocabulary_in_the_cache_counts(monkeypatch: pytest.MonkeyPatch):
    installed(monkeypatch, "o200k_base", "cl100k_base")
    assert counter_of("openai", "gpt-4o")("four") == 5
    assert counter_of("openai", "gpt-4")("four") == 5


def test_a_model_that_the_package_does_not_know_has_the_newest_vocabulary(
    monkeypatch: pytest.MonkeyPatch,
):
    installed(monkeypatch, "o200k_base")
    assert counter_of("openai", "gpt-9")("four") == 5


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch):
    package = installed(monkeypatch, "o200k_base")
    assert counter_of("openai", "gpt-4")("four words are here") == 4
    assert package.downloads == []
    package.load.read_file("mine")
    assert package.downloads == ["mine"]  # the package can still be used by others


def test_without_the_package_there_is_the_estimate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)  # type: ignore[arg-type]
    assert counter_of("openai", "gpt-4o")("four words are here") == 4


@pytest.mark.parametrize("provider", ["anthropic", "dashscope", "custom", ""])
def test_others_are_estimated_by_provider(provider: str, monkeypatch: pytest.MonkeyPatch):
    installed(monkeypatch, "o200k_base")
    text = "字字字字字字 20241130"
    assert counter_of(provider, "gpt-4o")(text) == estimate_tokens(text, provider)


def test_thoughts_that_are_sent_are_counted():
    said = Message("assistant", "Left."), Message("assistant", "Left.", reasoning="East is wet.")
    without, with_thoughts = (request_tokens(model_call(), [each]) for each in said)
    assert with_thoughts == without + estimate_tokens("East is wet.") + OF_A_MESSAGE
