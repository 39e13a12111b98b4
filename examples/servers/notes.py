# ruff: noqa: INP001
"""A small MCP server, the one of agent.yml beside it. It speaks on standard input and output.

With the SDK (`pip install mcp`) this would be a function under `@server.tool()`; without it, it
shows that there is not much to it.
"""

import json
import sys

NOTES = {"rent": "Due on the 3rd.", "cat": "Likes tuna."}
LOOKUP = {
    "name": "lookup",
    "description": "Looks up what is noted under a word.",
    "inputSchema": {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "What it is about."}},
        "required": ["word"],
    },
}


def answer(method, params):
    """Return the result of a request."""
    if method == "initialize":
        info = {"name": "notes", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [LOOKUP]}
    word = params["arguments"]["word"]
    found = NOTES.get(word.lower())
    text = found or f"Nothing is noted under {word}."
    return {"content": [{"type": "text", "text": text}], "isError": found is None}


KNOWN = ("initialize", "tools/list", "tools/call")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:  # nobody waits for an answer
        continue
    if message["method"] in KNOWN:
        said = {"result": answer(message["method"], message.get("params", {}))}
    else:
        said = {"error": {"code": -32601, "message": "no such method"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
    sys.stdout.flush()
