"""What may stand in agent files, for editors. Performs no effect."""

from __future__ import annotations

from typing import Any

from lambdagent.frontend.json_schema import json_schema


def agent_schema(language: str) -> dict[str, Any]:
    """Return the JSON Schema of agent files, its descriptions in `language`: ``en`` or ``zh``."""
    return json_schema(language)
