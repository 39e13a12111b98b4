"""The server of `sdk_server` over HTTP, in a thread of this process, on a free port."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from lambdagent.ir.remote import HTTP, Server
from tests.effects.mcp.sdk_server import made

PATIENCE_S = 20.0


@contextmanager
def serving(port: int = 0, app: Any = None) -> Iterator[int]:
    """Serve `app`, or that server, on `port`, and return which one it is."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        settings = uvicorn.Config(app or made().streamable_http_app(), log_level="critical")
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        until = time.monotonic() + PATIENCE_S
        while not server.started:
            assert time.monotonic() < until
            time.sleep(0.005)
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(PATIENCE_S)


def web(port: int, **more: Any) -> Server:
    """Return the server at `port`."""
    usual = {"name": "numbers", "url": f"http://127.0.0.1:{port}/mcp", "timeout_s": 20.0}
    return Server(transport=HTTP, **{**usual, **more})
