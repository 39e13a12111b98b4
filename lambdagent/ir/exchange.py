"""One effect of a run, asked and answered: what drivers record and traces show."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

from lambdagent.ir.data import Data
from lambdagent.ir.sites import Site


class Failure(NamedTuple):
    """An answer that is an error: what a handler could not do."""

    kind: str
    message: str
    data: Data = None


@attrs.define(eq=False)
class Exchange:
    """A request and its answer.

    Attributes:
        key: Path of the asking thread and its clock; orders the exchanges of a run.
        argument: The machine value that was asked about.
        answer: What came back.
        started_s: Seconds from the start of the run to the request.
        elapsed_s: Seconds until the answer.
    """

    key: tuple[int, ...]
    site: Site
    argument: Any
    answer: Data | Failure
    started_s: float
    elapsed_s: float

    @property
    def failed(self) -> bool:
        """Whether nothing came back but an error."""
        return isinstance(self.answer, Failure)


def key_text(key: tuple[int, ...]) -> str:
    """Return a key as people write it.

    >>> key_text((3,)), key_text((4, 0, 1))
    ('@3', '@4.0.1')
    """
    return f"@{'.'.join(map(str, key))}"
