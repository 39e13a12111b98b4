"""One effect of a run, asked and answered: what drivers record and traces show."""

from typing import Any

import attrs

from lambdagent.ir.data import Data
from lambdagent.ir.sites import Site


@attrs.define(eq=False)
class Exchange:
    """A request and its answer.

    Attributes:
        key: Path of the asking thread and its clock; orders the exchanges of a run.
        argument: The machine value that was asked about.
        answer: What came back; for a failure its text.
        failed: Whether the answer is a failure.
        started_s: Seconds from the start of the run to the request.
        elapsed_s: Seconds until the answer.
    """

    key: tuple[int, ...]
    site: Site
    argument: Any
    answer: Data
    failed: bool
    started_s: float
    elapsed_s: float
