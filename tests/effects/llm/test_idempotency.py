"""A call that is made again, since its answer got lost, says that it is the same."""

from pathlib import Path

import pytest

from lambdagent import BudgetError, Model, Run
from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint
from lambdagent.ir.surface import Lam
from tests.effects.calls import model_call
from tests.effects.llm import completions, test_anthropic_messages
from tests.effects.local_server import LocalServer

HEADER = "idempotency-key"


@pytest.mark.parametrize(
    ("provider", "handler", "fine"),
    [
        ("custom", OpenAIChat, completions.FINE),
        ("anthropic", AnthropicMessages, test_anthropic_messages.FINE),
    ],
)
def test_the_key_goes_along(local_server: LocalServer, provider: str, handler: type, fine: dict):
    local_server.answer(fine, fine)
    chat = handler(Endpoint(provider=provider, base_url=local_server.url, key="k"))
    call = model_call(Model(provider=provider, name="m"))
    chat.chat(call)
    call.idempotency_key = "run@3"
    chat.chat(call)
    chat.close()
    plain, keyed = [asked.headers.get(HEADER) for asked in local_server.asked]
    assert keyed == "run@3"
    assert plain != keyed


def test_a_call_that_is_made_again_has_the_key_of_the_first(
    local_server: LocalServer, tmp_path: Path
):
    model = Model(provider="custom", name="m", base_url=local_server.url, timeout_s=5)
    agent = Lam("a", "p", model)
    with Run.begin(agent, "x", tmp_path, environment={}) as run, pytest.raises(BudgetError):
        run.resume(timeout_s=2.0)  # nothing is answered: it waits
    local_server.answer(completions.FINE)
    with Run.load(run.path, environment={}) as again:
        assert again.resume().text == "fine"
    keys = [asked.headers.get(HEADER) for asked in local_server.asked]
    assert keys == [f"{run.path.name}@0"] * 2
