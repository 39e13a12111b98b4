"""The shared cases of the area `mcp`, against a server that writes what they say."""

import json
import logging
import sys
from pathlib import Path

import pytest

from lambdagent.ir.remote import STDIO, Server
from tests.cases import load_cases
from tests.effects.mcp.servers import calls, logged

# Writes its lines, and waits for the next request where one needs the request's `id`.
SERVER = """\
import json, sys

def heard(method):
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == method:
            return message
    sys.exit()

for line in json.load(open(sys.argv[1])):
    if line == "{init}":
        asked = heard("initialize")
        version = asked["params"]["protocolVersion"]
        found = {"protocolVersion": version, "capabilities": {"tools": {}},
                 "serverInfo": {"name": "case", "version": "1"}}
        line = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": found})
    elif "{id}" in line:
        line = line.replace("{id}", json.dumps(heard("tools/call")["id"]))
    elif line.startswith("{exit "):
        sys.exit(int(line[6:-1]))
    print(line, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("case", load_cases("mcp"), ids=lambda case: case["id"])
def test_cases(case, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "lambdagent")
    assert case["transport"] == "stdio"
    (tmp_path / "lines.json").write_text(json.dumps(case["server"]))
    server = Server(
        name="case",
        transport=STDIO,
        command=sys.executable,
        args=("-c", SERVER, str(tmp_path / "lines.json")),
    )
    with calls(server) as made:
        assert made(case["tool"], case["args"]) == case["expect"]["output"]
    noise = [line for line in case["server"] if "{" not in line]
    told = [*logged(caplog, logging.WARNING), *logged(caplog, logging.DEBUG)]
    assert noise
    assert [sum(line in each for each in told) for line in noise] == [1] * len(noise)
    assert len(logged(caplog, logging.WARNING)) == 1
