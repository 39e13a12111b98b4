"""What who goes on with a kept run decides, or is told: requests in doubt, and harmless faults."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeAlias

from lambdagent.effects.handlers import Request
from lambdagent.errors import CheckpointError, Diagnostic, finding
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure, key_text

Remark: TypeAlias = Callable[[Diagnostic], None]
"""Told of something that is wrong and does no harm."""
Doubt: TypeAlias = "Callable[[Request], Data | Failure | None]"
"""Told of a request of which nobody knows whether it was carried out: returns what came of it, or
None to ask again, or raises."""


def refuse(request: Request) -> Data | Failure | None:
    """Refuse to go on.

    Raises:
        CheckpointError: Always.
    """
    key = key_text(request.key)
    raise CheckpointError(finding("K007", site=request.site.name, key=key))


def ask_again(_request: Request) -> Data | Failure | None:
    """Ask again, whatever that does."""
    return None


def warn(remark: Diagnostic) -> None:
    """Give a warning."""
    warnings.warn("; ".join(filter(None, (remark.what, remark.why))), stacklevel=2)
