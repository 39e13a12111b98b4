"""Who serves models, and how: the one table of providers.

From it come the names that an agent file may use, the keys and addresses of a run, and what each
service can do. A service is no promise about every model that it serves; what a server refuses by
name is left out of the next request.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

Speech = Literal["messages", "chat", "command", "script"]


@attrs.frozen(kw_only=True)
class Service:
    """Who serves models, and how.

    Attributes:
        speaks: ``messages`` is Anthropic's interface, ``chat`` OpenAI's Chat Completions,
            ``command`` a program on this machine, ``script`` answers written in the agent file.
        base_url: None if the agent file must say it, or there is none.
        key_variable: Environment variable of the key; None if the service wants none.
        needs_key: Whether a missing key is an error.
        url_variable: Environment variable that replaces `base_url`.
        families: How the names of its models begin.
        needs_name: Whether a model must be named.
        own_models_only: Whether all its models are of its families.
        has_tools: Whether its models are told of tools in the request; what is False may still
            know them, and is asked so where the agent file says so.
        structured: The strictest form of answers that it keeps to, if any.
        structured_beside_tools: Whether it does so also where the request offers tools, and its
            models go on calling these.
        reasoning: Whether what its models thought goes back with what they said, where they have
            tools: some refuse calls that come back without it, others refuse it.
    """

    speaks: Speech
    base_url: str | None = None
    key_variable: str | None = None
    needs_key: bool = False
    url_variable: str | None = None
    families: tuple[str, ...] = ()
    needs_name: bool = True
    own_models_only: bool = False
    has_tools: bool = False
    structured: Literal["json_schema", "json_object"] | None = None
    structured_beside_tools: bool = False
    reasoning: bool = False


SCRIPTED: Final = "scripted"
CLAUDE_CODE: Final = "claude-code"
OPENAI: Final = "openai"

SERVICES: Final[dict[str, Service]] = {
    "anthropic": Service(
        speaks="messages",
        base_url="https://api.anthropic.com",
        key_variable="ANTHROPIC_API_KEY",
        needs_key=True,
        url_variable="ANTHROPIC_BASE_URL",
        families=("claude",),
        own_models_only=True,
        has_tools=True,
        structured="json_schema",
        structured_beside_tools=True,
    ),
    CLAUDE_CODE: Service(speaks="command", needs_name=False),
    "custom": Service(speaks="chat", key_variable="CUSTOM_API_KEY", needs_name=False),
    "dashscope": Service(
        speaks="chat",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_variable="DASHSCOPE_API_KEY",
        needs_key=True,
        families=("qwen",),
        has_tools=True,
        structured="json_object",
        reasoning=True,
    ),
    "deepseek": Service(
        speaks="chat",
        base_url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
        needs_key=True,
        families=("deepseek",),
        own_models_only=True,
        has_tools=True,
        structured="json_object",
        reasoning=True,
    ),
    "moonshot": Service(
        speaks="chat",
        base_url="https://api.moonshot.cn/v1",
        key_variable="MOONSHOT_API_KEY",
        needs_key=True,
        families=("moonshot", "kimi"),
        own_models_only=True,
        has_tools=True,
        structured="json_object",
        reasoning=True,
    ),
    # Many of its models know no tools and say so only when they are asked.
    "ollama": Service(
        speaks="chat", base_url="http://localhost:11434/v1", structured="json_schema"
    ),
    OPENAI: Service(
        speaks="chat",
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        needs_key=True,
        url_variable="OPENAI_BASE_URL",
        families=("gpt", "o1", "o3", "o4"),
        own_models_only=True,
        has_tools=True,
        structured="json_schema",
        structured_beside_tools=True,
    ),
    SCRIPTED: Service(speaks="script", families=("scripted",), needs_name=False),
    "zhipu": Service(
        speaks="chat",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        key_variable="ZHIPU_API_KEY",
        needs_key=True,
        families=("glm",),
        own_models_only=True,
        has_tools=True,
        structured="json_object",
        reasoning=True,
    ),
}

_FAMILIES: Final = {
    prefix: name for name, service in SERVICES.items() for prefix in service.families
}


def is_remote(provider: str) -> bool:
    """Whether `provider` is asked over the network, at a server that may want it seldom."""
    return provider in SERVICES and SERVICES[provider].speaks in {"messages", "chat"}


def provider_of(model_name: str) -> str | None:
    """Return the provider whose models are named like `model_name`, if that is known."""
    lowered = model_name.lower()
    return next((p for prefix, p in _FAMILIES.items() if lowered.startswith(prefix)), None)


def wants_reasoning(provider: str, model_name: str) -> bool:
    """Whether what a model thought is sent back to `provider`: it wants that, or its maker does.

    A server that only passes requests on has the models of such makers, too.
    """
    names = (provider, provider_of(model_name))
    return any(SERVICES[name].reasoning for name in names if name in SERVICES)
