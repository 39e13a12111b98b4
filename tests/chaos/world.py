"""The world of the chaos test: a server that answers models, tools and people, and who asks it.

What the server answers depends on the question alone, so that every run of an agent is the same.
It writes down who asked what.
"""

import asyncio
import hashlib
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lambdagent import Confirmation, Scripted
from lambdagent.effects.protocol import ModelCall, Reply

# A person takes longer than models and tools do.
_PERSON_S = 0.008

# --- answers -------------------------------------------------------------------------------------


def number_of(question: str) -> int:
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:4])


def answer(question: str) -> str:
    """What the world says to `question`; the system prompt says what kind of model is asked."""
    number = number_of(question)
    if question.startswith("confirm "):
        return "" if number % 3 else f"not now {number % 1000}"
    if question.startswith("calc: "):
        return "42"
    if question.startswith(("search: ", "send: ")):
        return f"found {number % 1000}"
    if "[react]" in question:
        turns = question.count("found ") + question.count("not now ")
        if turns < 3:
            return json.dumps({"tool": "search", "args": f"q{turns} {number % 1000}"})
        return json.dumps({"tool": "terminate", "args": f"done {number % 1000}"})
    if "[guarded]" in question:
        # Right at the third time: the conversation tells how often it was wrong.
        return "right" if question.count("wrong") >= 2 else f"wrong {number % 1000}"
    if "[route]" in question:
        return "ab"[number % 2]
    return f"said {number % 1000}"


# --- the server ----------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Those who ask get killed: that their connection is gone is no fault."""


class CountingServer:
    """Answers, and knows what each process asked.

    Attributes:
        asked: Questions by the name of the process.
        keys: Idempotency keys, where there are some, by the name of the process.
    """

    def __init__(self) -> None:
        self.asked: dict[str, Counter[str]] = {}
        self.keys: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        question = body["question"]
        with self._lock:
            self.asked.setdefault(body["process"], Counter())[question] += 1
            if body["key"] is not None:
                self.keys.setdefault(body["process"], []).append(body["key"])
        # The world takes its time, so that a kill finds requests under way.
        is_person = question.startswith("confirm ")
        time.sleep(_PERSON_S if is_person else number_of(question) % 4 / 1000)
        raw = json.dumps(answer(question)).encode()
        handler.send_response(200)
        handler.send_header("content-length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    def asked_by(self, process: str) -> Counter[str]:
        with self._lock:
            return Counter(self.asked.get(process, Counter()))

    def keys_of(self, process: str) -> list[str]:
        with self._lock:
            return list(self.keys.get(process, []))

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Client:
    """Asks the server: a provider of models, tools, and a person."""

    def __init__(self, port: int, process: str) -> None:
        self._port = port
        self._process = process

    def _ask(self, question: str, key: str | None = None) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            body = {"question": question, "process": self._process, "key": key}
            connection.request("POST", "/", json.dumps(body), {"connection": "close"})
            return str(json.loads(connection.getresponse().read()))
        finally:
            connection.close()

    def chat(self, call: ModelCall) -> Reply:
        question = "\n".join(message.text for message in call.render())
        return Reply(self._ask(question, call.idempotency_key))

    async def achat(self, call: ModelCall) -> Reply:
        return await asyncio.to_thread(self.chat, call)

    def close(self) -> None:
        pass

    def tool(self, name: str) -> Callable[[str], str]:
        def use(q: str) -> str:
            """Do what it is for."""
            return self._ask(f"{name}: {q}")

        return use

    def decide(self, call: Confirmation) -> bool | str:
        return self._ask(f"confirm {call.tool}: {call.argument}") or True


class Played:
    """Says what the script of the model does, and lets the server know who asks."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._scripts: dict[Hashable, Scripted] = {}

    def _script(self, call: ModelCall) -> Scripted:
        return self._scripts.setdefault(call.model.script, Scripted(call.model.script))

    def chat(self, call: ModelCall) -> Reply:
        self._client.chat(call)
        return self._script(call).chat(call)

    async def achat(self, call: ModelCall) -> Reply:
        await self._client.achat(call)
        return self._script(call).chat(call)

    def recall(self, call: ModelCall, reply: Reply | None) -> None:
        self._script(call).recall(call, reply)

    def close(self) -> None:
        pass
