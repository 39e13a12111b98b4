# ruff: noqa: C901, T201
"""An MCP server of a few lines, without the SDK: it starts at once, and misbehaves when told to.

``python plain.py WORD…`` with words that are keys of `FAULTS`; see there.
"""

import json
import os
import subprocess
import sys
import time

OBJECT = {"type": "object"}
ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 0}},
    "required": ["a"],
}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CACHED = {"ttlMs": 0, "cacheScope": "private"}
TOOLS = {
    "add": {"description": "Add two numbers.", "inputSchema": ADD},
    "greet": {"description": "Say hello.", "inputSchema": NAMED},
    "echo": {"inputSchema": {**OBJECT, "unevaluatedProperties": True}},
    "env": {"inputSchema": NAMED, "annotations": {"readOnlyHint": True, "idempotentHint": True}},
    "count": {"inputSchema": OBJECT},
    "picture": {"inputSchema": OBJECT},
    "table": {"inputSchema": OBJECT},
    "fail": {"inputSchema": OBJECT},
    "code": {"inputSchema": OBJECT},
    "refuse": {"inputSchema": OBJECT},
    "nonsense": {"inputSchema": OBJECT},
    "die": {"inputSchema": OBJECT},
    "sleep": {"inputSchema": OBJECT},
    "odd": {"inputSchema": {**OBJECT, "properties": {"x": {"type": "text"}}}},
}
FAULTS = {
    "mute": "never answers `initialize`",
    "noisy": "prints a banner first and a line before each answer",
    "stay": "does not end when its input does, nor when it is asked to",
    "child": "starts a child that outlives it, and prints its number on standard error",
    "paged": "lists two tools on a page",
    "twice": "lists its first tool again at the end",
    "broken": "answers `initialize` with an error",
    "gone": "ends at once",
    "says": "writes its arguments and its variable HIDDEN on standard error, far to the right",
    "modern": "knows no `initialize`, but `server/discover`, as of 2026",
}


def text(said):
    return {"content": [{"type": "text", "text": said}]}


def call(name, given, state):
    match name:
        case "add":
            return text(str(given["a"] + given.get("b", 0)))
        case "greet":
            return text(f"Hello, {given['name']}!")
        case "echo":
            return text(json.dumps(given))
        case "env":
            return text(os.environ.get(given["name"], "unset"))
        case "count":
            state["calls"] += 1
            return text(f"{state['calls']} {os.getpid()}")
        case "picture":
            image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
            link = {"type": "resource_link", "name": "doc", "uri": "file:///doc"}
            held = {"uri": "file:///a", "text": "inside"}
            blob = {"uri": "file:///b", "blob": "AAA=", "mimeType": "x/y"}
            more = [{"type": "resource", "resource": each} for each in (held, blob)]
            audio = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
            return {"content": [{"type": "text", "text": "a cat"}, image, audio, link, *more]}
        case "table":
            return {"content": [], "structuredContent": {"rows": [1, 2]}}
        case "fail":
            return {**text("no luck"), "isError": True}
        case "code":
            return {"content": [], "structuredContent": {"code": 7}, "isError": True}
        case "nonsense":
            return {"content": "what?"}
        case "die":
            os._exit(3)
        case "sleep":
            state["waits"] = True
    return None


def listed(cursor, words):
    every = [{"name": name, **each} for name, each in TOOLS.items()]
    if "twice" in words:
        every.append(every[0])
    if "paged" not in words:
        return {"tools": every}
    start = int(cursor or 0)
    more = {"nextCursor": str(start + 2)} if start + 2 < len(every) else {}
    return {"tools": every[start : start + 2], **more}


def answer(message, words, state):
    params = message.get("params", {})
    match message["method"]:
        case "initialize" if "mute" in words:
            return {}
        case "server/discover" if "modern" in words:
            found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            return {"result": {**found, **CACHED}}
        case "initialize" if "modern" in words:
            return {"error": {"code": -32601, "message": "no such method"}}
        case "initialize" if "broken" in words:
            return {"error": {"code": -32000, "message": "no licence"}}
        case "initialize":
            info = {"name": "plain", "version": "1"}
            version = params["protocolVersion"]
            found = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            return {"result": found}
        case "tools/list":
            return {"result": {**listed(params.get("cursor"), words), **CACHED}}
        case "tools/call" if params["name"] == "refuse":
            return {"error": {"code": -32602, "message": "not like that"}}
        case "tools/call":
            found = call(params["name"], params.get("arguments") or {}, state)
            return {} if found is None else {"result": found}
        case "notifications/cancelled":
            print("cancelled", file=sys.stderr, flush=True)
            return {}
    return {"error": {"code": -32601, "message": "no such method"}}


def main(words):
    state = {"calls": 0}
    if "gone" in words:
        print("cannot start", file=sys.stderr)
        sys.exit(1)
    if "noisy" in words:
        print("Plain server ready on stdio", flush=True)
    if "says" in words:
        said = f"says {' '.join(sys.argv[2:])}".ljust(180)
        print(f"{said}{os.environ['HIDDEN']}", file=sys.stderr, flush=True)
    if "child" in words:
        child = subprocess.Popen(["sleep", "60"])
        print(child.pid, file=sys.stderr, flush=True)
    if "stay" in words:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        found = answer(message, words, state)
        if "modern" in words and "result" in found:
            found["result"] |= {"resultType": "complete"}
        if "noisy" in words:
            print("[INFO] got a message", flush=True)
        if "id" in message and found:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **found}), flush=True)
    while "stay" in words:
        time.sleep(1)


if __name__ == "__main__":
    main(set(sys.argv[1:]))
