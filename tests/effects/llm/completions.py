"""A model, what it answers over Chat Completions, and how a call of it fails."""

import pytest

from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Courier
from lambdagent.errors import EffectError
from lambdagent.ir.model import Model
from tests.effects.calls import model_call

KEY = "sk-demo-secret"
# Who speaks which protocol.
KINDS: dict[str, type[Courier]] = {"openai": OpenAIChat, "anthropic": AnthropicMessages}
MODEL = Model(
    provider="custom",
    name="demo-1",
    temperature=0.7,
    top_p=0.9,
    max_tokens=100,
    stop_sequences=("END", "STOP"),
)
PLAIN = Model(provider="custom", name="demo-1", max_tokens=None)


def completion(message: object, **more: object) -> dict:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def says(text: object) -> dict:
    return completion({"role": "assistant", "content": text})


FINE = says("fine")


def failure(provider: OpenAIChat, **options) -> EffectError:
    with pytest.raises(EffectError) as caught:
        provider.chat(model_call(MODEL, **options))
    assert KEY not in str(caught.value)
    return caught.value
