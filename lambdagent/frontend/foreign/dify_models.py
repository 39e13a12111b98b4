"""The `model` of a Dify app or node → a `model` block."""

from __future__ import annotations

from typing import Any

from lambdagent.frontend.foreign.blocks import Block
from lambdagent.frontend.foreign.models import model_named, settings, usual_model


def model_of(block: Block, key: str) -> dict[str, Any]:
    """Return the model that `block` names at `key`."""
    model = block.block(key)
    name = None if model is None else model.text("name")
    if model is None or not name:
        return usual_model(block, key)
    provider = model.text("provider") or ""
    params = model.block("completion_params")
    more = {} if params is None else settings(params)
    if params is not None:
        params.finish()
    model.ignore(["mode"])
    model.finish()
    return model_named(model, "name", provider, name, more)
