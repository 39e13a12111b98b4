"""Where commands write: answers on stdout, all else on stderr."""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from lambdagent.api.finite import finite
from lambdagent.errors import FIX, NOTE, Diagnostic, UsageError, finding, render
from lambdagent.ir.spelling import site_reference
from lambdagent.messages import phrase, told
from lambdagent.source import visible

# Around what is marked: bold and underlined on a terminal.
_EMPHASIS, _MARKS = ("\x1b[1;4m", "\x1b[0m"), ("‹", "›")

_WIDTH, _NARROWEST = 100, 40

# For streams that have no such characters: as `--ascii` writes them, and what comes near.
_ASCII_SPELLING = "lambdagent.ascii"
_SUBSCRIPTS = re.compile("[₀-₉]+")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SPELLED = {
    "λ": "\\",
    "⟨": "(",
    "⟩": ")",
    "⇒": "=>",
    "…": "...",
    "‹": "<",
    "›": ">",
    "→": "->",
    "↳": "->",
    "─": "-",
    "│": "|",
    "├": "|",
    "┤": "|",
    "⋮": ":",
    "×": "x",
    "–": "-",
    "✓": "ok",
    "✗": "x",
    "⚠": "!",
    "ℹ": "i",
    "∞": "inf",
    "β": "beta",
    "δ": "delta",
    "μ": "mu",
}


class ReaderGoneError(Exception):
    """Nobody reads our output any more, such as after ``| head -1``."""


class Output:
    """Standard output and standard error.

    Attributes:
        quiet: Say nothing but the answer.
        above: Writes lines to stderr instead of us, while something of its own stands there.
        clear: Takes away what stands at the bottom of the terminal, before we write there.
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        """Write to `out` and `err`; the process's own by default."""
        self._out = _open(sys.stdout if out is None else out)
        self._err = _open(sys.stderr if err is None else err)
        self.quiet = False
        self.above: Callable[[str], object] | None = None
        self.clear: Callable[[], object] | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether answers go to a terminal."""
        return self._out.isatty()

    def answer(self, text: str, end: str = "\n") -> None:
        """Write `text` and a line break, or another `end`, to stdout.

        Raises:
            ReaderGoneError: The pipe is closed.
            UsageError: It cannot be written, such as on a full disk.
        """
        self._answer(_shown(self._out, text) + end)

    def takes(self, text: str) -> bool:
        """Whether `text` can be written to stderr as it is."""
        try:
            text.encode(self._err.encoding or "utf-8")
        except UnicodeEncodeError:
            return False
        return True

    def width(self) -> int | None:
        """Return how many columns the terminal has that answers go to; None if it is none."""
        return columns() if self._out.isatty() else None

    def marked(self, before: str, text: str, after: str) -> None:
        """Write a line in which `text`, if any, is bold on a terminal and in ‹marks› elsewhere.

        A terminal that is dumb, or that is to have no colours, gets marks too.

        Raises:
            ReaderGoneError: The pipe is closed.
            UsageError: It cannot be written, such as on a full disk.
        """
        start, stop = _EMPHASIS if _takes_escapes(self._out) else _MARKS
        middle = f"{start}{_shown(self._out, text)}{stop}" if text else ""
        self._answer(_shown(self._out, before) + middle + _shown(self._out, after) + "\n")

    def _answer(self, text: str) -> None:
        if self.clear is not None and self.is_terminal:
            self.clear()
        try:
            _write(self._out, text)
        except BrokenPipeError:
            _discard(self._out)
            raise ReaderGoneError from None
        except OSError as error:
            _discard(self._out)
            reason = error.strerror or str(error)
            raise UsageError(
                finding("U002", path=phrase("standard output"), reason=reason)
            ) from error

    def note(self, text: str) -> None:
        """Write `text` and a line break to stderr; nothing when quiet."""
        if not self.quiet:
            self.error(text)

    def hidden(self, sites: Sequence[str]) -> None:
        """Tell that the URLs of `sites` were written without credentials; nothing for none."""
        if sites:
            names = ", ".join(f"`{site_reference(site)}`" for site in sites)
            found = finding("U016", sites=names)
            self.note(f"{told(NOTE)}: {found.what}\n{told(FIX)}: {found.fix}")

    def remarks(self, found: Sequence[Diagnostic]) -> None:
        """Tell what is worth knowing and no fault; nothing when quiet."""
        for each in found:
            self.note(render(each, word=NOTE))

    def error(self, text: str) -> None:
        """Write `text` and a line break to stderr, which is for people, without hidden characters.

        There is no one to tell where that fails.
        """
        line = visible(text)
        if self.clear is not None:
            self.clear()
        if self.above is not None:
            self.above(_encodable(line, self._err))
            return
        try:
            _write(self._err, f"{line}\n")
        except OSError:
            _discard(self._err)

    @property
    def screen(self) -> TextIO | None:
        """Standard error, if it is a terminal on which a line can be written over."""
        is_dumb = os.environ.get("TERM") == "dumb"
        return self._err if self._err.isatty() and not is_dumb else None

    def on_screen(self, text: str) -> str:
        """Return `text` as it may stand on `screen`."""
        return _encodable(visible(text), self._err)


def _open(stream: TextIO | None) -> TextIO:
    """Return `stream`; where the process was started without it, one that takes everything."""
    return stream or Path(os.devnull).open("w", encoding="utf-8")


def _write(stream: TextIO, text: str) -> None:
    written = _encodable(text, stream)
    raw = getattr(stream, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        # With PYTHONUNBUFFERED, Python itself drops what a pipe did not take at once.
        _write_whole(raw, written.encode(stream.encoding or "utf-8", stream.errors or "strict"))
    else:
        stream.write(written)
        stream.flush()


def _write_whole(raw: io.RawIOBase, data: bytes) -> None:
    left = memoryview(data)
    while left:
        taken = raw.write(left)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[taken:]


def _takes_escapes(stream: TextIO) -> bool:
    plain = os.environ.get("TERM") == "dumb" or os.environ.get("NO_COLOR")
    return stream.isatty() and not plain


def _shown(stream: TextIO, text: str) -> str:
    return visible(text) if stream.isatty() else text


def _encodable(text: str, stream: TextIO) -> str:
    """Return `text` with ASCII for the characters that `stream` does not have."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, _ASCII_SPELLING).decode(encoding)


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    numbered = _SUBSCRIPTS.sub(lambda digits: f"_{digits[0].translate(_DIGITS)}", missing)
    spelled = (each if each.isascii() else _SPELLED.get(each, "?") for each in numbered)
    return "".join(spelled), error.end


codecs.register_error(_ASCII_SPELLING, _spell)


def _discard(stream: TextIO) -> None:
    """Keep the interpreter from complaining about `stream` when it flushes at exit."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
    except (OSError, ValueError):
        return


def has_terminal() -> bool:
    """Whether there is somebody who can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def columns() -> int:
    """Return how wide a line may be: as the terminal is; elsewhere 100, or as COLUMNS says."""
    return max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)


def json_text(value: object) -> str:
    """Return `value` as JSON for people and programs; numbers that JSON does not have, as text.

    >>> print(json_text({"n": float("nan")}))
    {
      "n": "NaN"
    }
    """
    try:
        return _dumps(value)
    except ValueError:
        return _dumps(finite(value))


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
