"""An HTTP server of our own: it keeps what it is asked, answers as told, and can drip for ever."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import pytest

JSON = "application/json"


@attrs.frozen
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Any


@attrs.frozen
class Answer:
    """One answer; a body that is no bytes is sent as JSON, one of several pieces in chunks.

    Attributes:
        headers: More of them.
        missing_bytes: How many are said to come and do not.
    """

    body: Any
    status: int = 200
    content_type: str = JSON
    missing_bytes: int = 0
    headers: dict[str, str] = attrs.field(factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with the usual 5, connections of many threads wait a second


class LocalServer:
    """Answers POST requests from `answers`, in order; with none left, drips until hung up on.

    Attributes:
        drips: What it drips; if that is no space, a stream of events.
    """

    def __init__(self) -> None:
        self.drips = b" "
        self.answers: deque[Answer] = deque()
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        self.dripping = threading.Event()
        self._closing = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, *bodies: Any) -> None:
        """Queue answers: an `Answer`, or the body of one."""
        self.answers.extend(b if isinstance(b, Answer) else Answer(b) for b in bodies)

    def was_hung_up_on(self) -> bool:
        """Whether the client closed the connection, be it before it asked anything."""
        return not self.asked or self.hung_up.wait(20)

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        body = json.loads(handler.rfile.read(length) or b"null")
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append(Asked(handler.path, headers, body))
        if self.answers:
            _send(handler, self.answers.popleft())
        else:
            self._drip(handler)

    def _drip(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        kind = JSON if self.drips.isspace() else "text/event-stream"
        handler.send_header("content-type", kind)
        handler.end_headers()
        try:
            while not self._closing.wait(0.01):
                handler.wfile.write(self.drips)
                self.dripping.set()
        except OSError:
            self.hung_up.set()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    is_bytes = isinstance(answer.body, bytes | tuple)
    data = answer.body if is_bytes else json.dumps(answer.body).encode()
    size = ("content-length", str(len(data) + answer.missing_bytes))
    if isinstance(data, tuple):
        size = ("transfer-encoding", "chunked")
        data = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (*data, b""))
    handler.send_response(answer.status)
    for name, value in (("content-type", answer.content_type), size, *answer.headers.items()):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)
    handler.close_connection = True


@pytest.fixture
def local_server() -> Iterator[LocalServer]:
    """A server of our own, which keeps what it is asked and answers as told."""
    server = LocalServer()
    yield server
    server.close()
