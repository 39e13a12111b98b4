"""What goes between here and a provider, for operators: the logger ``lambdagent``.

INFO tells each request and how its call ended, WARNING what failed, DEBUG also what was said. No
level tells keys, headers, or the user and the query of a URL. Nothing is written unless somebody
gives the logger a handler.
"""

from __future__ import annotations

import json
import logging
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from lambdagent.effects.protocol import Cancellation, ModelCall, Reply
from lambdagent.errors import EffectError

LOGGER: Final = logging.getLogger("lambdagent")
LOGGER.addHandler(logging.NullHandler())  # without one, Python writes warnings to stderr

# Whether this is a request of ours. The SDKs and their transport have loggers, too, which tell
# whole URLs and, in debugging, prompts: of our requests nobody is told but by the logger above.
_is_ours: Final[ContextVar[bool]] = ContextVar("_is_ours", default=False)


def _is_of_others(_record: logging.LogRecord) -> bool:
    return not _is_ours.get()


def hush(*names: str) -> None:
    """Have the loggers `names` say nothing of what is ours; see `claim`."""
    for name in names:
        logging.getLogger(name).addFilter(_is_of_others)


def claim() -> None:
    """Have all that the current task does be ours, and the tasks that it begins."""
    _is_ours.set(True)


hush("httpx2", "openai._base_client", "anthropic._base_client")

_HEADERS: Final = "extra_headers"


class TransportLog:
    """Tells of the calls of one provider."""

    def __init__(self, way: str, masked: Callable[[str], str]) -> None:
        """Tell of requests that go a `way`, such as a method, a host and a path.

        `masked` takes out the secrets.
        """
        self._way = way
        self._masked = masked

    async def follow(self, call: ModelCall, answer: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return what `answer`, which makes `call`, returns, and tell how it ended."""
        claim()
        with self.telling(call) as tell:
            reply = await answer()
            tell(reply)
        return reply

    @contextmanager
    def telling(
        self, call: ModelCall, cancel: Cancellation | None = None
    ) -> Iterator[Callable[[Reply], None]]:
        """Tell how `call` ends; what is yielded is told the reply.

        Args:
            call: The call.
            cancel: Says when nobody waits any more; that of the call by default.
        """
        began_s = time.monotonic()
        try:
            yield partial(self._answered, call, began_s)
        except CancelledError:
            self._cancelled(call, began_s)
            raise
        except EffectError as error:
            if (cancel or call.cancel).cancelled:
                self._cancelled(call, began_s)
                raise
            code = error.diagnostic.code
            LOGGER.warning("%s: %s after %.2f s", call.site, code, time.monotonic() - began_s)
            self._debug(call, "failed", error.diagnostic.what)
            raise

    def _cancelled(self, call: ModelCall, began_s: float) -> None:
        LOGGER.info("%s: cancelled after %.2f s", call.site, time.monotonic() - began_s)

    def _answered(self, call: ModelCall, began_s: float, reply: Reply) -> None:
        usage = reply.usage
        tokens = "?" if usage is None else f"{usage.input} + {usage.output}"
        LOGGER.info(
            "%s: answered in %.2f s, %s tokens, finish reason %s",
            call.site,
            time.monotonic() - began_s,
            tokens,
            reply.finish_reason,
        )
        self._debug(call, "answer", reply.to_data())

    def sends(self, call: ModelCall, request: Mapping[str, Any], number: int) -> None:
        """Tell that a request goes out, the `number`th of `call`."""
        LOGGER.info("%s: %s, request %d", call.site, self._way, number)
        body = {name: value for name, value in request.items() if name != _HEADERS}
        self._debug(call, "request", body)

    def tries_again(self, call: ModelCall, error: Exception, wait_s: float) -> None:
        """Tell that an attempt failed and another one follows."""
        status = getattr(error, "status_code", None)
        what = type(error).__name__ if status is None else f"HTTP {status}"
        LOGGER.warning("%s: %s, once more in %.2f s", call.site, what, wait_s)

    def _debug(self, call: ModelCall, name: str, said: object) -> None:
        if LOGGER.isEnabledFor(logging.DEBUG):
            text = json.dumps(said, ensure_ascii=False, default=dict)
            LOGGER.debug("%s: %s %s", call.site, name, self._masked(text))
