"""What happens on the way to models, on stderr, where LAMBDAGENT_LOG asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from lambdagent.cli.output import Output
from lambdagent.errors import UsageError, finding
from lambdagent.messages import phrase

_VARIABLE: Final = "LAMBDAGENT_LOG"
_LEVELS: Final = ("debug", "info", "warning")


@contextmanager
def log_of(environment: Mapping[str, str], out: Output) -> Iterator[None]:
    """Have what the logger ``lambdagent`` tells be written to stderr, as `environment` asks.

    Secrets of `environment` are taken out.

    Raises:
        UsageError: It asks for no level that there is.
    """
    level = environment.get(_VARIABLE, "").strip().casefold()
    if not level:
        yield
        return
    if level not in _LEVELS:
        expected = phrase("`debug`, `info` or `warning`")
        raise UsageError(finding("S103", field=_VARIABLE, expected=expected, actual=level))
    # Both take their time to load.
    logging: Any = import_module("logging")
    redaction = import_module("lambdagent.effects.redaction").Redaction(environment)
    handler = logging.Handler()
    handler.emit = lambda record: out.error(redaction.text(handler.format(record)))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("lambdagent")
    before = logger.level
    logger.setLevel(level.upper())
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
