"""Models of other frameworks → `model` blocks: whose they are, and how they are set."""

from __future__ import annotations

from typing import Any, Final

from lambdagent.frontend.foreign.blocks import Block
from lambdagent.ir.services import provider_of
from lambdagent.messages import phrase

USUAL: Final = {"provider": "openai", "name": "gpt-4o-mini"}

_NOT_SERVED: Final = "custom"
# Names that other frameworks have for our providers.
_PROVIDERS: Final = {
    "anthropic": "anthropic",
    "dashscope": "dashscope",
    "deepseek": "deepseek",
    "moonshot": "moonshot",
    "ollama": "ollama",
    "ollama_chat": "ollama",
    "openai": "openai",
    "openai_api_compatible": _NOT_SERVED,
    "qwen": "dashscope",
    "tongyi": "dashscope",
    "zai": "zhipu",
    "zhipu": "zhipu",
    "zhipuai": "zhipu",
}


def served_by(provider: str | None, name: str) -> tuple[str, str, bool]:
    """Return our provider of a model, its name there, and whether that provider is known.

    >>> served_by(None, "anthropic/claude-3"), served_by(None, "gpt-4o")
    (('anthropic', 'claude-3', True), ('openai', 'gpt-4o', True))
    >>> served_by("langgenius/tongyi/tongyi", "qwen-max"), served_by("groq", "llama")
    (('dashscope', 'qwen-max', True), ('custom', 'llama', False))
    """
    known: str | None
    if provider is None:
        prefix, slash, rest = name.partition("/")
        known = _PROVIDERS.get(prefix.casefold())
        if slash and rest and known:
            return known, rest, known != _NOT_SERVED
        known = None if slash else provider_of(name)
    else:
        known = _PROVIDERS.get(provider.rpartition("/")[2].casefold())
    return known or _NOT_SERVED, name, known not in {None, _NOT_SERVED}


def model_named(
    block: Block, key: str, provider: str | None, name: str, more: dict[str, Any]
) -> dict[str, Any]:
    """Return the model `name` with the settings `more`; one that nobody serves is told.

    Args:
        block: Where it stands, at `key`.
        key: See there.
        provider: Who serves it, in the words of the framework; None if its name says that.
        name: The model.
        more: Its settings.
    """
    ours, served, known = served_by(provider, name)
    if not known and "baseUrl" not in more:
        block.draft.lose("I004", block.source, block.span(key), name=name)
    return {"provider": ours, "name": served, **more}


def usual_model(block: Block, key: str) -> dict[str, Any]:
    """Return a model where `block` names none at `key`, and tell that."""
    reason = phrase("it names no model, so `{name}` stands there", name=USUAL["name"])
    block.lost(key, reason, block.span(key))
    return dict(USUAL)


def settings(block: Block) -> dict[str, Any]:
    """Return the settings of a model, but for its name."""
    found: dict[str, Any] = {
        "temperature": block.number("temperature", 0, 2),
        "maxTokens": block.whole("max_tokens"),
        "topP": block.number("top_p", 0, 1),
        "stopSequences": [text for text, _ in block.texts("stop") if text] or None,
        "timeout": block.number("timeout", 0.001, 1e6),
        "baseUrl": base_url(block, "base_url"),
    }
    secret(block, "api_key")
    return {key: value for key, value in found.items() if value is not None}


def base_url(block: Block, key: str) -> str | None:
    """Return a URL as a connection field holds it: nothing of it names a variable."""
    url = block.text(key)
    return url.replace("${", "$${") if url else None


def secret(block: Block, key: str) -> None:
    """Leave out the secret that stands at `key`."""
    if block.text(key):
        where, field = block.span(key), block.path(key)
        block.draft.lose("I005", block.source, where, field=field)
