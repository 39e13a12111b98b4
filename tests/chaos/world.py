"""The world of the chaos test: agents, the server that answers them, and who asks it.

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from lambdagent import build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Tool

MODEL = {"provider": "openai", "name": "m"}
GENERATED = 12

# --- answers -------------------------------------------------------------------------------------


def number_of(question: str) -> int:
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:4])


def answer(question: str) -> str:
    """What the world says to `question`; the system prompt says what kind of model is asked."""
    number = number_of(question)
    if question.startswith("search: "):
        return f"found {number % 1000}"
    if "[react]" in question:
        found = question.count("found ")
        if found < 3:
            return json.dumps({"tool": "search", "args": f"q{found} {number % 1000}"})
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
        time.sleep(number_of(question) % 4 / 1000)
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
    """Asks the server: a provider of models, and a tool."""

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

    def search(self, q: str) -> str:
        """Search for it."""
        return self._ask(f"search: {q}")


# --- agents --------------------------------------------------------------------------------------

Config = dict[str, Any]


def simple(name: str, prompt: str = "Speak.", **more: Any) -> Config:
    return {"type": "simple", "name": name, "systemPrompt": f"{prompt} {name}.", **more}


def react(name: str) -> Config:
    return {
        "type": "react",
        "name": name,
        "systemPrompt": f"[react] {name}.",
        "react": {"maxSteps": 5},
        "mcp": {"localTools": ["search", "terminate"]},
    }


def guarded(name: str, *, fallback: bool = False) -> Config:
    validator = "'never' in x" if fallback else "'right' in x"
    guard = {"validator": validator, "retry": 2, "fallback": "last"}
    return simple(name, "[guarded]", guard=guard)


def chain(name: str, *steps: Config) -> Config:
    return {
        "type": "chain",
        "name": name,
        "systemPrompt": "Go on.",
        "chain": {"steps": list(steps)},
    }


def parallel(name: str, *branches: Config) -> Config:
    return {
        "type": "parallel",
        "name": name,
        "systemPrompt": "All.",
        "parallel": {"agents": list(branches), "merge": "custom", "mergePrompt": f"Merge {name}."},
    }


def router(name: str, left: Config, right: Config) -> Config:
    return {
        "type": "router",
        "name": name,
        "systemPrompt": "Choose.",
        "router": {
            "classifier": {"prompt": f"[route] {name}", "categories": ["a", "b"]},
            "routes": {"a": left, "b": right},
        },
    }


def generated(seed: int) -> Config:
    """A random agent; no two parts of it have one name."""
    random, names = Random(seed), iter(range(1_000))

    def make(depth: int) -> Config:
        name = f"n{next(names)}"
        forms = ["simple", "react", "guarded", "memory"]
        forms += ["chain", "parallel", "router"] * 2 if depth else []
        match random.choice(forms):
            case "react":
                return react(name)
            case "guarded":
                return guarded(name, fallback=random.random() < 0.3)
            case "memory":
                return simple(name, memory={"enabled": True, "strategy": "local", "ttl": 60})
            case "chain":
                return chain(name, *(make(depth - 1) for _ in range(random.randint(1, 3))))
            case "parallel":
                return parallel(name, *(make(depth - 1) for _ in range(random.randint(2, 3))))
            case "router":
                return router(name, make(depth - 1), make(depth - 1))
        return simple(name)

    return chain(f"seed{seed}", make(2), make(2))


AGENTS: dict[str, Config] = {
    "react": react("worker"),
    "council": parallel("council", *(simple(f"b{i}") for i in range(4))),
    "guarded": chain("edit", guarded("first"), guarded("second", fallback=True), simple("third")),
    "nested": chain(
        "outer",
        simple("opening"),
        parallel("middle", chain("inner", simple("x"), guarded("y")), react("z"), simple("w")),
        router("choice", simple("left"), react("right")),
    ),
    **{f"generated {seed}": generated(seed) for seed in range(GENERATED)},
}


def program(name: str, client: Client) -> Program:
    """The agent `name`, its models and its tool answered through `client`."""
    config = {**AGENTS[name], "model": MODEL}
    overrides: dict[str, Any] = {"providers": {"openai": client}}
    if '"search"' in json.dumps(config):
        overrides["tools"] = {
            "search": Tool("search", client.search, description="Search for it.")
        }
    return compile_term(build_agent(config, **overrides), name)
