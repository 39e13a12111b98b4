"""Calls as the driver would make them."""

from typing import Any

from lambdagent.effects.protocol import Cancellation, Message, ModelCall, ToolInvocation
from lambdagent.ir.data import Data
from lambdagent.ir.model import Model

HELLO = (Message("system", "Be brief."), Message("user", "Hello"))


def model_call(
    model: Model | None = None,
    messages: tuple[Message, ...] = HELLO,
    agent: str = "writer",
    timeout_s: float = 20.0,
    cancel: Cancellation | None = None,
) -> ModelCall:
    return ModelCall(
        site=f"llm:{agent}",
        agent=agent,
        model=model or Model(provider="scripted"),
        render=lambda: messages,
        render_last=lambda: messages[-1].text,
        timeout_s=timeout_s,
        cancel=cancel or Cancellation(),
    )


def invocation(
    argument: Data = "", text: str | None = None, timeout_s: float = 20.0, **more: Any
) -> ToolInvocation:
    return ToolInvocation(
        name="tool",
        argument=argument,
        text=str(argument) if text is None else text,
        timeout_s=timeout_s,
        **more,
    )
