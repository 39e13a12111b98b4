"""What servers said of their tools when a kept run began: it goes on with that, unasked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lambdagent.api.run_files import find_run, stored_program
from lambdagent.errors import LambdagentError
from lambdagent.ir.data import Record
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Tool


def declared_in(path: Path) -> tuple[dict[str, tuple[Tool, ...]], str]:
    """Return the tools of the run in `path`, by server, and the digest of its program.

    Of a run that cannot be read there are none; whoever goes on with it is told why.
    """
    with suppress(LambdagentError):
        run = find_run(path)
        program = stored_program(run, run.beginning().digest)
        return _declared(program), program.digest()
    return {}, ""


def _declared(program: Program) -> dict[str, tuple[Tool, ...]]:
    found: dict[str, tuple[Tool, ...]] = {}
    for site in program.sites.values():
        server, parameters = site.static.get("server"), site.static.get("parameters")
        if isinstance(server, str) and isinstance(parameters, Record):
            name, description = str(site.static["name"]), str(site.static["description"])
            tool = Tool(name, None, description=description, parameters=parameters, server=server)
            found[server] = (*found.get(server, ()), tool)
    return found
