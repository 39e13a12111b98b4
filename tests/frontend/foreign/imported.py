"""What was imported, as tests look at it."""

from typing import Any

import yaml

from lambdagent.api.compiling import build_agent, parse_config
from lambdagent.frontend.foreign.draft import Imported
from lambdagent.source import Source


def compiled(imported: Imported) -> Any:
    """Return the agent file as data, after it was compiled."""
    build_agent(parse_config(Source("imported.yml", imported.text), {}))
    return yaml.safe_load(imported.text)


def told(imported: Imported) -> list[tuple[str, str]]:
    """Return the code and the place of each loss, in order."""
    return [
        (loss.code, f"{source.name}:{loss.where.line if loss.where else '?'}")
        for source, loss in imported.losses
    ]
