"""Type, name and model → the text of an agent file to begin with.

The texts stand in `lambdagent/starters`, by language and type: agent files with words in capitals
that are filled in here. Between ``#[model`` and ``#]model`` stands the scripted model, whose place
a real one takes.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Final

import attrs

from lambdagent.frontend.yaml_text import scalar
from lambdagent.ir.services import SCRIPTED, SERVICES

TYPES: Final = ("simple", "react", "chain", "router", "parallel")
LANGUAGES: Final = ("en", "zh")
# A model of each provider that most accounts can use.
USUAL_MODELS: Final = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-4o-mini",
    "dashscope": "qwen-plus",
    "ollama": "llama3.2",
    "deepseek": "deepseek-v4-flash",
    "moonshot": "kimi-k2.6",
    "zhipu": "glm-4-flash",
    "custom": "my-model",
    "claude-code": "sonnet",
}
PROVIDERS: Final = (SCRIPTED, *(name for name in SERVICES if name in USUAL_MODELS))
_SUGGESTED: Final = "openai"
_CUSTOM_URL: Final = "http://localhost:8000/v1"
_STARTERS: Final = Path(__file__).resolve().parents[1] / "starters"
_MODEL: Final = re.compile(r"^#\[model\n(.*?)^#\]model\n", re.DOTALL | re.MULTILINE)
_NO_LETTER: Final = re.compile(r"[^\w.-]+")


@attrs.frozen
class _Words:
    """What is said about the model, in one language; ``{…}`` are filled in."""

    scripted: str
    real: str
    key: str


_WORDS: Final = {
    "en": _Words(
        scripted="# The answers are scripted, so no key is needed. For a real model put this in"
        " place of the\n# `model` block{key}:\n#\n#   model: {model}\n#\n",
        real="# The model that answers{key}. `provider: scripted` needs no key:"
        " see docs/providers.md.\nmodel: {model}\n",
        key=", and set {variable}",
    ),
    "zh": _Words(
        scripted="# 回答来自脚本，不需要密钥。要使用真实模型，用下面这行代替 model 块{key}：\n"
        "#\n#   model: {model}\n#\n",
        real="# 负责回答的模型{key}。provider: scripted 不需要密钥，见 docs/providers.md。\n"
        "model: {model}\n",
        key="，并设置 {variable}",
    ),
}


def starter(
    kind: str, name: str, file: str, *, provider: str, model: str | None, language: str
) -> str:
    """Return an agent file of type `kind`.

    Args:
        kind: One of `TYPES`.
        name: What the agent is called.
        file: Where it will stand, for the commands in its comments.
        provider: One of `PROVIDERS`.
        model: The model; a usual one of the provider by default.
        language: One of `LANGUAGES`, for comments and prompts.
    """
    text = (_STARTERS / language / f"{kind}.yml").read_text(encoding="utf-8")
    words = _WORDS[language]
    served = _SUGGESTED if provider == SCRIPTED else provider
    variable = SERVICES[served].key_variable if SERVICES[served].needs_key else None
    filled = {
        "key": words.key.format(variable=variable) if variable else "",
        "model": _model_line(served, model),
    }
    if provider == SCRIPTED:
        head = words.scripted.format_map(filled)
        text = _MODEL.sub(lambda found: head + found[1], text)
    else:
        line = words.real.format_map(filled)
        text = _MODEL.sub(lambda _: line, text)
    texts = {
        "__NAME__": scalar(name),
        "__FILE__": shlex.quote(file),
        "__QUOTED_FILE__": json.dumps(file, ensure_ascii=False),
    }
    return re.sub("|".join(texts), lambda found: texts[found[0]], text)


def _model_line(provider: str, model: str | None) -> str:
    name = scalar(model or USUAL_MODELS[provider])
    if any(mark in name for mark in ",]}") and name[:1] != '"':
        name = f'"{name}"'  # plain texts end there inside of braces
    url = f", baseUrl: {scalar(_CUSTOM_URL)}" if provider == "custom" else ""
    return f"{{provider: {provider}, name: {name}{url}}}"


def file_name(name: str) -> str:
    """Return the usual name of the file of an agent.

    >>> file_name("My agent/2"), file_name("客服"), file_name("..")
    ('My-agent-2.yml', '客服.yml', 'agent.yml')
    """
    stem = _NO_LETTER.sub("-", name).strip("-.")[:60]
    return f"{stem or 'agent'}.yml"
