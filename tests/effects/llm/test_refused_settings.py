"""A server refuses a setting: what is left out or renamed then, and what is not."""

import pytest

from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.errors import EffectError
from lambdagent.ir.model import Model
from tests.effects.calls import model_call
from tests.effects.llm.completions import FINE, failure
from tests.effects.local_server import Answer, LocalServer


def refusal(message: str, param: str | None = None) -> Answer:
    return Answer({"error": {"message": message, "param": param}}, status=400)


def test_a_model_that_refuses_our_defaults_is_asked_without_them(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(
        refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0.3 with this model."),
        FINE,
        FINE,
    )
    model = Model(provider="custom", name="o9", max_tokens=50)
    for _ in range(2):
        assert chat.chat(model_call(model)).text == "fine"
    bodies = [asked.body for asked in local_server.asked]
    assert len(bodies) == 4
    for body in bodies[2:]:
        assert set(body) == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens is too large: 100000. This model supports at most 4096 completion tokens.",
        "max_tokens must be at least 1",
        "Values of max_tokens greater than 4096 are not supported. Use 4096 instead.",
        "invalid max_tokens",
        "temperature must be between 0 and 0.2; larger values are not supported",
    ],
)
def test_a_value_that_is_refused_is_neither_dropped_nor_renamed(
    chat: OpenAIChat, local_server: LocalServer, said: str
):
    local_server.answer(refusal(said))
    model = Model(provider="custom", name="m", max_tokens=100_000)
    with pytest.raises(EffectError) as caught:
        chat.chat(model_call(model))
    assert said[:40] in caught.value.diagnostic.what
    assert len(local_server.asked) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Unrecognized request argument supplied: max_tokens",
        "unknown field `max_tokens`",
        "unexpected keyword argument 'max_tokens'",
        "max_tokens is deprecated",
        "'max_tokens' is not supported: it was the maximum; use 'max_completion_tokens' instead",
    ],
)
def test_a_name_that_is_not_known_is_replaced(
    chat: OpenAIChat, local_server: LocalServer, said: str
):
    local_server.answer(refusal(said), FINE)
    assert chat.chat(model_call(Model(provider="custom", name="m", max_tokens=7))).text == "fine"
    assert local_server.asked[1].body["max_completion_tokens"] == 7


def test_what_one_agent_never_asked_for_is_not_dropped_for_another(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(refusal("Unsupported value: 'temperature'."), FINE, FINE)
    for temperature in (0.3, 0.7):
        model = Model(provider="custom", name="m", temperature=temperature, max_tokens=None)
        chat.chat(model_call(model))
    assert [asked.body.get("temperature") for asked in local_server.asked] == [0.3, None, 0.7]


def test_a_name_is_remembered_only_if_the_other_one_helped(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(refusal("unknown: max_tokens"), Answer(b"", status=404), FINE)
    model = Model(provider="custom", name="m", max_tokens=7)
    with pytest.raises(EffectError):
        chat.chat(model_call(model))
    chat.chat(model_call(model))
    assert local_server.asked[2].body["max_tokens"] == 7


def test_a_temperature_that_somebody_asked_for_is_not_dropped(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(refusal("Unsupported value: 'temperature'."))
    error = failure(chat)
    assert "HTTP 400: Unsupported value: 'temperature'." in error.diagnostic.what
    assert error.diagnostic.fix == "check the settings under `model:`"
    assert len(local_server.asked) == 1
