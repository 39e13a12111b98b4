"""The handlers that tests here ask."""

from collections.abc import Callable, Iterator

import pytest

from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Courier, Endpoint
from tests.effects.llm.completions import KEY, KINDS
from tests.effects.local_server import LocalServer


@pytest.fixture
def chat(local_server: LocalServer) -> Iterator[OpenAIChat]:
    provider = OpenAIChat(
        Endpoint(
            provider="custom",
            base_url=local_server.url,
            key=KEY,
            variable="CUSTOM_API_KEY",
            max_retries=0,
        )
    )
    yield provider
    provider.close()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def make(kind: str) -> Iterator[Callable[..., Courier]]:
    """Makes providers of the kind, which are closed at the end."""
    made: list[Courier] = []

    def at(url: str, max_retries: int = 0) -> Courier:
        endpoint = Endpoint(provider="custom", base_url=url, key=KEY, max_retries=max_retries)
        made.append(KINDS[kind](endpoint))
        return made[-1]

    yield at
    for provider in made:
        provider.close()
