"""What the caller and the environment decide instead of an agent file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from lambdagent.errors import Diagnostic, SchemaError, finding, plain
from lambdagent.frontend.models import Overrides, refused
from lambdagent.ir import registry
from lambdagent.ir.docstrings import summary_of
from lambdagent.ir.signature import doc_of
from lambdagent.ir.surface import Tool
from lambdagent.messages import phrase


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


def _temperature(text: str) -> float:
    temperature = float(text)
    if not 0 <= temperature <= 2:
        raise ValueError(text)
    return temperature


def _count(text: str, least: int = 0) -> int:
    count = int(text)
    if count < least:
        raise ValueError(text)
    return count


_ENVIRONMENT: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    "model": ("LAMBDAGENT_MODEL", str, phrase("a model name")),
    "temperature": ("LAMBDAGENT_TEMPERATURE", _temperature, phrase("a number from 0 to 2")),
    "max_tokens": (
        "LAMBDAGENT_MAX_TOKENS",
        partial(_count, least=1),
        phrase("a whole number from 1"),
    ),
    "mcp_timeout_s": ("LAMBDAGENT_MCP_TIMEOUT", _seconds, phrase("a number above 0")),
    "mcp_retries": ("LAMBDAGENT_MCP_RETRY", _count, phrase("a whole number from 0")),
}


def make_overrides(
    *,
    tools: Mapping[str, Callable[..., object] | Tool] | None = None,
    memory_store: Any = None,
    providers: Mapping[str, object] | None = None,
    tool_timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> Overrides:
    """Return what the caller and the environment decide instead of the file; see `from_config`.

    `environment` is `os.environ` by default.

    Raises:
        SchemaError: An environment variable holds no value of its type, or an object is not what
            it must be.
        TypeError: An override that does not exist.
    """
    problems = [
        *_tool_problems(tools),
        *_provider_problems(providers),
        *_store_problems(memory_store),
    ]
    if problems:
        raise SchemaError(problems)
    environment = os.environ if environment is None else environment
    for name, (variable, kind, expected) in _ENVIRONMENT.items():
        if settings.get(name) is None and (text := environment.get(variable, "").strip()):
            settings[name] = _converted(variable, kind, expected, text)
    is_dict = isinstance(memory_store, Mapping)
    return Overrides(
        tools={name: _tool(name, each) for name, each in (tools or {}).items()},
        memory_initial=memory_store if is_dict else None,
        memory_binding=None
        if is_dict or memory_store is None
        else registry.register(memory_store),
        providers={name: registry.register(each) for name, each in (providers or {}).items()},
        tool_timeout_s=tool_timeout_s,
        **settings,
    )


def _tool_problems(tools: object) -> Iterator[Diagnostic]:
    """Yield what is wrong with `tools`."""
    if tools is None:
        return
    if not isinstance(tools, Mapping):
        yield refused("tools", phrase("a dict of functions by name"), tools)
        return
    for name, each in tools.items():
        if not isinstance(name, str):
            yield refused("tools", phrase("a dict with texts as keys"), name)
        elif not (isinstance(each, Tool) or callable(each)):
            yield refused(f"tools[{plain(name)}]", phrase("a function or a `Tool`"), each)


def _provider_problems(providers: object) -> Iterator[Diagnostic]:
    """Yield what is wrong with `providers`; what they can do is looked at before a run."""
    if providers is None:
        return
    if not isinstance(providers, Mapping):
        yield refused(
            "providers", phrase("a dict of objects by the name of the provider"), providers
        )
        return
    for name in providers:
        if not isinstance(name, str):
            yield refused("providers", phrase("a dict with texts as keys"), name)


def _store_problems(store: object) -> Iterator[Diagnostic]:
    """Yield what is wrong with `memory_store`."""
    if store is None:
        return
    if isinstance(store, Mapping):
        for name in store:
            if not isinstance(name, str):
                yield refused("memory_store", phrase("a dict with texts as keys"), name)
    elif not all(callable(getattr(store, method, None)) for method in ("list_recent", "put")):
        yield refused(
            "memory_store", phrase("a dict, or an object with `list_recent` and `put`"), store
        )


def _converted(variable: str, kind: Callable[[str], Any], expected: str, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise SchemaError(
            finding("S103", field=variable, expected=expected, actual=text)
        ) from None


def _tool(name: str, implementation: Callable[..., object] | Tool) -> Tool:
    if isinstance(implementation, Tool):
        return implementation
    return Tool(name, implementation, description=summary_of(doc_of(implementation)))
