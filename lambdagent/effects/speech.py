"""What a model says while it says it: pieces of a reply → tokens for listeners."""

from __future__ import annotations

from collections.abc import Callable

from lambdagent.effects.redaction import Redaction


class Speech:
    """Tells one reply as it comes, without the secrets of the environment.

    A provider calls `say` for each piece and `again` where it has to ask once more; whoever has
    the whole reply calls `end`. Not safe for several threads at once.
    """

    def __init__(self, tell: Callable[[str, int], object], redaction: Redaction) -> None:
        """Tell `tell` the pieces, each with the number of the attempt."""
        self._tell = tell
        self._redaction = redaction
        self._attempt = 1
        self._begin()

    def say(self, text: str) -> None:
        """Tell `text`, as far as it can be shown yet."""
        if text:
            self._is_silent = False
            self._show(self._stream.hear(text))

    def again(self) -> None:
        """Begin anew: what was told so far is void."""
        self._attempt += 1
        self._begin()

    def end(self, text: str) -> None:
        """Tell the rest; all of `text`, the whole reply, where none of it was told."""
        if self._is_silent:
            self.say(text)
        self._show(self._stream.end())

    def _begin(self) -> None:
        self._stream = self._redaction.stream()
        self._is_silent = True

    def _show(self, text: str) -> None:
        if text:
            self._tell(text, self._attempt)
