"""Server-sent events: bytes as they come → the events in them.

A line ends with CR, LF or both, wherever the bytes are cut; comments keep the connection alive and
say nothing. An event that no empty line ends counts at the end: some servers forget it.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_MARK: Final = "\ufeff".encode()  # some servers begin with it


class Event(NamedTuple):
    """One event; without a name, `name` is empty."""

    name: str
    data: str


class EventStream:
    """Takes events out of bytes: `feed` each piece, then `end`."""

    def __init__(self) -> None:
        """Begin with the first byte."""
        self._rest: list[bytes] = []  # of a line whose end has not come
        self._is_after_return = False
        self._is_at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that end in `piece`.

        Raises:
            UnicodeDecodeError: A line is no UTF-8.
        """
        if self._is_after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._is_after_return = False
        if not piece:
            return []
        self._is_after_return = piece.endswith(b"\r")
        *lines, rest = _LINE_END.split(piece)
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest.clear()
        if rest:
            self._rest.append(rest)
        return self._events(lines)

    def end(self) -> list[Event]:
        """Return the event that was not ended, if there is one."""
        lines = [b"".join(self._rest), b""]
        self._rest.clear()
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[Event]:
        found = []
        for line in lines:
            if self._is_at_start:
                self._is_at_start = False
                line = line.removeprefix(_MARK)  # noqa: PLW2901 - the same line
            if line:
                self._field(line)
            elif self._data:
                found.append(Event(self._name, "\n".join(self._data)))
            if not line:
                self._name, self._data = "", []
        return found

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode())
        elif name == b"event":
            self._name = value.decode()
