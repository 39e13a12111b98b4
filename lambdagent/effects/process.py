"""A program in a process group of its own, with an end.

In go arguments and input, out comes an `Outcome`: after the program ends, at the time limit, or
when somebody stops it, whichever is first. What it left in the background is not waited for; at
the limit the whole group is killed, and when our own process exits.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import attrs

from lambdagent.effects.protocol import Cancellation
from lambdagent.effects.redaction import names_a_secret

_GRACE_S = 0.5  # from SIGTERM to SIGKILL
_TICK_S = 0.02  # how often the end is looked for where the system cannot tell
_CHUNK_BYTES = 65_536
_WAIT_S = 3600.0  # the longest single wait; the system takes no more than 24 days

# Note [Nobody outlives us]
#
# A worker is a daemon, so our process may exit while the worker starts its program, or waits for
# its polite end; nobody else would kill that one. So the leaders of all groups that run are known,
# and the exit waits for those that are just being started. A fork of us has no groups.
_EXIT_S = 5.0


class _Groups:
    """The leaders of the groups that run, and who holds `starting` is about to add one."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.starting = threading.Lock()
        self.leaders: set[int] = set()


_groups = _Groups()
if hasattr(os, "register_at_fork"):  # a lock held by a thread that the child has not stays locked
    os.register_at_fork(after_in_child=_groups.reset)


@atexit.register
def _kill_running() -> None:
    if _groups.starting.acquire(timeout=_EXIT_S):  # never released: nothing starts from here on
        for leader in list(_groups.leaders):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)


@attrs.define
class _Kept:
    """The first bytes of a stream, and the number of the rest."""

    limit: int
    hear: Callable[[bytes], object] | None = None
    data: bytearray = attrs.field(factory=bytearray)
    cut: int = 0

    def add(self, chunk: bytes) -> None:
        if self.hear is not None:
            self.hear(chunk)
        room = self.limit - len(self.data)
        self.data += chunk[:room]
        self.cut += max(0, len(chunk) - room)

    def text(self) -> str:
        text = self.data.decode("utf-8", "replace").strip()
        return f"{text}\n[{self.cut} bytes cut]" if self.cut else text


@attrs.frozen
class Outcome:
    """How a program ended.

    Attributes:
        status: Its exit status, negative for a signal; None if it was killed by us.
        timed_out: Whether the time limit was the reason.
    """

    status: int | None
    output: str
    errors: str
    timed_out: bool


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` without the variables whose names say that they hold a secret."""
    return {name: each for name, each in environment.items() if not names_a_secret(name)}


@attrs.frozen(kw_only=True)
class Launch:
    """How a program is run.

    Attributes:
        directory: Where; the working directory by default.
        environment: Its variables; by default ours, without secrets.
        keep_bytes: Most bytes kept of each of its two streams.
        hear: Told what it prints, while it does.
    """

    directory: Path | None = None
    environment: Mapping[str, str] | None = None
    keep_bytes: int = 1_000_000
    hear: Callable[[bytes], object] | None = None


_USUAL = Launch()


def run_group(
    arguments: Sequence[str | bytes],
    given: bytes | None,
    limit_s: float,
    stop: Cancellation,
    launch: Launch = _USUAL,
) -> Outcome:
    """Run a program and return how it ended.

    Args:
        arguments: The program and its arguments.
        given: Its standard input; None for an empty one.
        limit_s: Longest time it may take.
        stop: Kills it early.
        launch: How it is run.

    Raises:
        OSError: It cannot be started.
        ValueError: An argument holds a null character.
    """
    deadline = time.monotonic() + limit_s
    kept = _Kept(launch.keep_bytes, launch.hear), _Kept(launch.keep_bytes)
    process = start_group(arguments, launch, hears=given is not None)
    with _Watch(process, given or b"", kept, stop) as watch:
        status = watch.until(deadline)
        if status is None:
            watch.kill()
        return Outcome(
            status,
            watch.output.text(),
            watch.errors.text(),
            timed_out=status is None and not stop.cancelled,
        )


def start_group(
    arguments: Sequence[str | bytes], launch: Launch, *, hears: bool
) -> subprocess.Popen[bytes]:
    """Return a program that was started in a group of its own, which `end_group` ends.

    Args:
        arguments: The program and its arguments.
        launch: Where, and with which variables.
        hears: Whether its standard input is a pipe to us; else it is empty.

    Raises:
        OSError: It cannot be started.
        ValueError: An argument holds a null character.
    """
    environment = launch.environment
    if environment is None:
        environment = without_secrets(os.environ)
    with _groups.starting:  # see Note [Nobody outlives us]
        process = subprocess.Popen(  # noqa: S603 - running the user's command is the purpose
            arguments,
            stdin=subprocess.PIPE if hears else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=launch.directory,
            env=environment,
        )
        _groups.leaders.add(process.pid)
    return process


def is_running(process: subprocess.Popen[bytes]) -> bool:
    """Whether a program runs; it is not yet reaped, so that its number stays its own."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, options) is None


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a program that is not yet reaped, and to all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program of `start_group` for sure, with all that it has started."""
    signal_group(process, signal.SIGKILL)
    process.wait()
    _groups.leaders.discard(process.pid)


class _Watch:
    """Moves bytes to and from a running program, and waits for its end."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        given: bytes,
        kept: tuple[_Kept, _Kept],
        stop: Cancellation,
    ) -> None:
        self.output, self.errors = kept
        self._process = process
        self._given = memoryview(given)
        self._stop = stop
        self._selector = selectors.DefaultSelector()
        self._bell, self._rope = socket.socketpair()
        self._pidfd = _pidfd(process.pid)

    def __enter__(self) -> _Watch:
        for stream, kept in (
            (self._process.stdout, self.output),
            (self._process.stderr, self.errors),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, kept)
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
            self._selector.register(self._process.stdin, selectors.EVENT_WRITE)
        self._selector.register(self._bell, selectors.EVENT_READ)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)
        self._forget = self._stop.on_cancel(self._ring)
        return self

    def __exit__(self, *_: object) -> None:
        self._forget()
        if self._process.poll() is None:  # an interrupted wait, such as Ctrl-C
            self.kill()
        _groups.leaders.discard(self._process.pid)
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._bell.close()
        self._rope.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def until(self, deadline: float) -> int | None:
        """Return the exit status, or None at the deadline or when stopped."""
        while not self._stop.cancelled:
            status = self._process.poll()
            if status is not None:
                self._drain()
                return status
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return None
            self._move(min(left_s, _TICK_S if self._pidfd is None else _WAIT_S))
        return None

    def kill(self) -> None:
        """End the whole group: politely, then for sure."""
        signal_group(self._process, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_S
        while (left_s := deadline - time.monotonic()) > 0 and is_running(self._process):
            self._move(min(left_s, _TICK_S))
        end_group(self._process)

    def _move(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            if isinstance(key.data, _Kept):
                self._read(key.fileobj, key.data)
            elif key.fileobj is self._process.stdin:
                self._write(self._process.stdin)

    def _read(self, stream: object, kept: _Kept) -> None:
        assert hasattr(stream, "fileno")
        chunk = os.read(stream.fileno(), _CHUNK_BYTES)
        if chunk:
            kept.add(chunk)
        else:
            self._selector.unregister(stream)

    def _write(self, stream: IO[bytes]) -> None:
        try:
            written = os.write(stream.fileno(), self._given[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:  # it does not want to read
            self._given = self._given[:0]
        else:
            self._given = self._given[written:]
        if not self._given:
            self._selector.unregister(stream)
            stream.close()

    def _drain(self) -> None:
        """Read what stands in the pipes, though others may hold them open."""
        for key in list(self._selector.get_map().values()):
            if not isinstance(key.data, _Kept):
                continue
            with contextlib.suppress(BlockingIOError):
                while chunk := os.read(key.fd, _CHUNK_BYTES):
                    key.data.add(chunk)

    def _ring(self) -> None:
        with contextlib.suppress(OSError):
            self._rope.send(b"!")


def _pidfd(pid: int) -> int | None:
    """Return a file that becomes readable when the process ends, where the system has such."""
    opener = getattr(os, "pidfd_open", None)
    if opener is None:
        return None
    try:
        return int(opener(pid))
    except OSError:
        return None
