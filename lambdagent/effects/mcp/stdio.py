"""A server as a process of ours, as the SDK wants a transport: a pair of streams of messages.

Ours differs from the SDK's in what becomes of the rest. What a server writes on its standard
output besides messages is passed over and told to the log, its standard error goes there too, and
its whole group ends with us, whoever it has started meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from lambdagent.effects.process import (
    Launch,
    end_group,
    is_running,
    signal_group,
    start_group,
    without_secrets,
)
from lambdagent.effects.transport_log import LOGGER
from lambdagent.ir.remote import Server

_CHUNK_BYTES: Final = 65_536
_LONGEST_LINE: Final = 64 << 20
_SHOWN: Final = 200  # characters of a line in the log
_LEAVES_S: Final = 1.0  # from the end of its input to SIGTERM
_GRACE_S: Final = 0.5  # from there to SIGKILL
_TICK_S: Final = 0.01


class StdioTransport:
    """Starts the server where it is entered, and ends it where it is left.

    Attributes:
        ended: Whether the server says nothing more.
        overflowed: Whether that is because it said too much at once.
    """

    def __init__(
        self, server: Server, environment: Mapping[str, str], masked: Callable[[str], str]
    ) -> None:
        """Be about `server`; of what it says, the log is told what `masked` leaves."""
        self.ended = self.overflowed = False
        self._server = server
        self._environment = {**without_secrets(environment), **dict(server.env)}
        self._masked = masked
        self._noisy = False
        self._process: subprocess.Popen[bytes] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._pipes: list[asyncio.BaseTransport] = []

    async def __aenter__(self) -> tuple[Any, Any]:
        """Start the server and return what it says, and what hears what we say.

        Raises:
            OSError: It cannot be started.
        """
        server = self._server
        directory = None if server.directory is None else Path(server.directory)
        launch = Launch(directory=directory, environment=self._environment)
        self._process = process = start_group([server.command, *server.args], launch, hears=True)
        try:
            output, errors = await self._reader(process.stdout), await self._reader(process.stderr)
            self._writer = await self._opened_writer(process.stdin)
        except BaseException:
            self._kill()
            raise
        said, self._said = anyio.create_memory_object_stream[Any](0)
        self._heard, hears = anyio.create_memory_object_stream[Any](0)
        self._writing = asyncio.create_task(self._write(hears, said))
        self._tasks = [
            self._writing,
            asyncio.create_task(self._read(output, said)),
            asyncio.create_task(self._tell(errors)),
        ]
        return self._said, self._heard

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """End the server: its input ends, then it is asked to, then it must."""
        try:
            self._said.close()
            self._heard.close()
            await asyncio.wait([self._writing], timeout=_GRACE_S)
            self._writer.close()
            if not await self._gone(_LEAVES_S):
                self._signal(signal.SIGTERM)
                await self._gone(_GRACE_S)
        finally:
            self._kill()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _reader(self, pipe: Any) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        opened, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        self._pipes.append(opened)
        return reader

    async def _opened_writer(self, pipe: Any) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        opened, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), pipe
        )
        self._pipes.append(opened)
        return asyncio.StreamWriter(opened, protocol, None, loop)

    # --- what is said ----------------------------------------------------------------------------

    async def _read(self, output: asyncio.StreamReader, said: Any) -> None:
        """Hand on the messages of the server, until it ends or nobody hears them."""
        try:
            async with said:
                async for line in _lines(output):
                    message = self._message(line)
                    if message is not None:
                        await said.send(message)
        except OverflowError:
            self.overflowed = True
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            self.ended = True

    def _message(self, line: bytes) -> SessionMessage | None:
        """Return the message that `line` is; what is none is told to the log."""
        if not line.strip():
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            text = self._masked(line.decode("utf-8", "replace").strip())[:_SHOWN]
        if not self._noisy:
            self._noisy = True
            told = "mcp %s: writes what is no message on its standard output, skipped: %s"
            LOGGER.warning(told, self._server.name, text)
        else:
            LOGGER.debug("mcp %s: skipped: %s", self._server.name, text)
        return None

    async def _write(self, heard: Any, said: Any) -> None:
        try:
            async with heard:
                async for each in heard:
                    body = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._writer.write(f"{body}\n".encode("utf-8", "replace"))
                    await self._writer.drain()
        except OSError:  # it hears nothing more: who waits for its answer waits in vain
            self.ended = True
            await said.aclose()

    async def _tell(self, errors: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError, OverflowError):
            async for line in _lines(errors):
                text = self._masked(line.decode("utf-8", "replace").rstrip())[:_SHOWN]
                LOGGER.debug("mcp %s: stderr: %s", self._server.name, text)

    # --- its end ---------------------------------------------------------------------------------

    async def _gone(self, limit_s: float) -> bool:
        """Wait until the server has ended, and return whether it has."""
        assert self._process is not None
        deadline = time.monotonic() + limit_s
        while is_running(self._process):
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_TICK_S)
        return True

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        signal_group(self._process, number)

    def _kill(self) -> None:
        """End the server and all that it has started, at once."""
        assert self._process is not None
        end_group(self._process)
        for pipe in self._pipes:
            pipe.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of `stream`, without a limit that a large answer would reach.

    Raises:
        OverflowError: A line has no end.
    """
    held: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK_BYTES):
        first, *more = chunk.split(b"\n")
        held.append(first)
        size += len(first)
        if size > _LONGEST_LINE:
            what = "a line has no end"
            raise OverflowError(what)
        for each in more:
            yield b"".join(held)
            held, size = [each], len(each)
    if held and held != [b""]:
        yield b"".join(held)
