"""What may stand in an agent file: every field, as data.

The checker reads these tables; docs/yaml.md and the JSON Schema are written from them.
"""

from __future__ import annotations

from lambdagent.frontend.schema.agents import (
    AGENT,
    BODIES,
    NOT_EVERYWHERE,
    NOT_YET,
    PROMPTED,
    TYPES,
)
from lambdagent.frontend.schema.around import MEMORY
from lambdagent.frontend.schema.bodies import STEP
from lambdagent.frontend.schema.models import MODEL, SCRIPT
from lambdagent.frontend.schema.shared import VALIDATOR_NAMES
from lambdagent.frontend.schema.tools import POLICY

__all__ = [
    "AGENT",
    "BODIES",
    "MEMORY",
    "MODEL",
    "NOT_EVERYWHERE",
    "NOT_YET",
    "POLICY",
    "PROMPTED",
    "SCRIPT",
    "STEP",
    "TYPES",
    "VALIDATOR_NAMES",
]
