"""What models say, as `run --stream` prints it: word by word, and one model after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator

import attrs

from lambdagent.api.running import Result
from lambdagent.api.streaming import Done, Stream
from lambdagent.cli.output import Output
from lambdagent.effects.run_events import LlmCalled, RunEvent, Token
from lambdagent.machine.state import Path


def printed(
    stream: Stream, out: Output, between: Callable[[], object]
) -> tuple[Result, str | None]:
    """Print what models say while they do.

    Args:
        stream: The run.
        out: Where they are printed.
        between: Called where a line begins, for what else there is to print.

    Returns:
        The result, and what the last model said, None if none said anything.

    Raises:
        ReaderGoneError: Nobody reads it any more; the run is ended.
    """
    page = _Page(out, between)
    events = stream.events()
    try:
        return _read(events, page), page.last
    finally:
        events.close()
        page.close()


def _read(events: Generator[RunEvent | Done], page: _Page) -> Result:
    while not isinstance(event := next(events), Done):
        page.heard(event)
    return event.result


@attrs.define(eq=False)
class _Voice:
    """A model that speaks, or has spoken and was not printed yet."""

    attempt: int = 1
    said: list[str] = attrs.field(factory=list)
    has_ended: bool = False


class _Page:
    """Prints one model while it speaks; what others say meanwhile comes after it, in one piece.

    Attributes:
        last: What the newest model that was printed to its end said.
    """

    def __init__(self, out: Output, between: Callable[[], object]) -> None:
        self.last: str | None = None
        self._out = out
        self._between = between
        self._voices: list[_Voice] = []  # the first one is printed
        self._speaking: dict[Path, _Voice] = {}

    def heard(self, event: RunEvent) -> None:
        """Print what an event says, now or later."""
        if isinstance(event, Token):
            self._say(event)
        elif isinstance(event, LlmCalled) and event.branch in self._speaking:
            self._speaking.pop(event.branch).has_ended = True
            self._go_on()
        if not self._voices:
            self._between()

    def close(self) -> None:
        """End the line."""
        if self._voices and self._voices[0].said:
            self._out.answer("")
        self._between()

    def _say(self, token: Token) -> None:
        voice = self._speaking.get(token.branch)
        if voice is None:
            voice = self._speaking[token.branch] = _Voice(token.attempt)
            self._voices.append(voice)
        is_printed = voice is self._voices[0]
        if voice.attempt != token.attempt:
            voice.attempt = token.attempt
            voice.said.clear()
            if is_printed:
                self._out.answer("")
                self._out.note("the answer broke off, and begins anew")
        voice.said.append(token.text)
        if is_printed:
            self._out.answer(token.text, end="")

    def _go_on(self) -> None:
        """Go on with the next voice where the one that is printed has ended."""
        while self._voices and self._voices[0].has_ended:
            self.last = "".join(self._voices.pop(0).said)
            if not self.last.endswith("\n"):
                self._out.answer("")
            self._between()
            if self._voices:
                self._out.answer("".join(self._voices[0].said), end="")
