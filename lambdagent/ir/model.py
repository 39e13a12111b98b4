"""Which model answers, and how it is asked.

Source: specification 2.1 (`model`).
"""

from __future__ import annotations

from typing import Any

import attrs

from lambdagent.ir import fields
from lambdagent.ir.data import Data, Record
from lambdagent.ir.services import provider_of
from lambdagent.ir.url import shown_url

# How tools are called.
TOOL_CALLING = ("auto", "native", "text")
# How many tokens a model reads where nothing else is said.
USUAL_WINDOW = 200_000


def _shown(url: str | None) -> str:
    return repr(url and shown_url(url))


@attrs.frozen(kw_only=True)
class Model:
    """Which model answers, and how it is asked. None leaves a setting to the provider.

    Attributes:
        timeout_s: Longest wait for one call, in seconds.
        script: Replies of the ``scripted`` provider.
        tool_calling: How tools are called: ``native`` as the provider has it, ``text`` as the
            prompt says, ``auto`` natively where the provider is known for it.
        binding: Key of a provider object in the registry.
    """

    provider: str
    name: str = ""
    temperature: float | None = attrs.field(
        default=0.3, converter=fields.plain_float, validator=fields.number_or_none
    )
    max_tokens: int | None = attrs.field(default=4096, validator=fields.whole_or_none)
    top_p: float | None = attrs.field(
        default=None, converter=fields.plain_float, validator=fields.number_or_none
    )
    stop_sequences: tuple[str, ...] = ()
    base_url: str | None = attrs.field(default=None, repr=_shown)
    timeout_s: float = attrs.field(
        default=600.0, converter=fields.plain_float, validator=fields.seconds
    )
    context_window: int = attrs.field(default=USUAL_WINDOW, validator=fields.whole)
    script: Record | None = None
    tool_calling: str = attrs.field(default="auto", validator=attrs.validators.in_(TOOL_CALLING))
    binding: str | None = attrs.field(default=None, eq=False)


def model_row(model: Model) -> Data:
    """Return the settings of `model` as data; what is usual of window and tools is left out."""
    row = Record(
        provider=model.provider,
        name=model.name,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        top_p=model.top_p,
        stop_sequences=model.stop_sequences,
        base_url=model.base_url,
        timeout_s=model.timeout_s,
        script=model.script,
    )
    more: dict[str, Data] = {}
    if model.context_window != USUAL_WINDOW:
        more["context_window"] = model.context_window
    if model.tool_calling != "auto":
        more["tool_calling"] = model.tool_calling
    return Record(row, **more) if more else row


def model_from(row: Record) -> Model:
    """Return the settings that `model_row` wrote.

    Raises:
        TypeError: They are not those of a model.
        ValueError: One of them is not what it may be.
    """
    settings: dict[str, Any] = dict(row)
    return Model(**settings)


def model_of(value: Model | str | None) -> Model | None:
    """Return `value`, or of a name alone the model of the provider that is known for it.

    Raises:
        ValueError: No provider is known for that name.
    """
    if isinstance(value, str):
        provider = provider_of(value)
        if provider is None:
            what = f"no provider is known for the model `{value}`; write Model(provider=…, name=…)"
            raise ValueError(what)
        return Model(provider=provider, name=value)
    return value
