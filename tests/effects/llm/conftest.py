"""The handler that most tests here ask."""

from collections.abc import Iterator

import pytest

from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint
from tests.effects.llm.completions import KEY
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
