"""The line at the bottom of a terminal that says how far long work on a recorded run is.

It comes after a second, and is gone before anything else is written there.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from lambdagent.cli.output import Output
from lambdagent.trace.text import count_of

if TYPE_CHECKING:  # takes longer to load than short work
    from rich.live import Live
    from rich.text import Text

_AFTER_S = 1.0
_PER_SECOND = 4


class ProgressLine:
    """Shows how far the work is that goes on from entry to exit.

    Without a terminal, and with ``--quiet``, there is nothing.
    """

    def __init__(self, out: Output) -> None:
        """Be about to work for what is written to `out`."""
        self._out = out
        self._lock = threading.Lock()
        self._is_over = False
        self._live: Live | None = None
        self._began_s = time.monotonic()
        self._number = 0
        self._length: int | None = None
        self._timer = threading.Timer(_AFTER_S, self._show)
        self._timer.daemon = True

    def at(self, number: int, length: int | None) -> None:
        """Be at the transition `number` of `length`, where that is known."""
        self._number, self._length = number, length

    def __enter__(self) -> ProgressLine:
        """Begin to wait for the second."""
        if self._out.screen is not None and not self._out.quiet:
            self._out.clear = self._stop
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _show(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - loaded only where it is needed
        from rich.live import Live  # noqa: PLC0415

        with self._lock:
            if not self._is_over:
                self._live = Live(
                    console=Console(file=self._out.screen, highlight=False, markup=False),
                    get_renderable=self._line,
                    refresh_per_second=_PER_SECOND,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start(refresh=True)

    def _stop(self) -> None:
        """Take the line away for good."""
        self._out.clear = None
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _line(self) -> Text:
        from rich.text import Text  # noqa: PLC0415

        goal = "" if self._length is None else f" of {self._length:,}"
        done = f"{count_of(self._number, 'transition')}{goal}"
        line = f"{done} | {time.monotonic() - self._began_s:.1f}s"
        return Text(self._out.on_screen(line), no_wrap=True, overflow="ellipsis", style="dim")
