"""A server by the SDK: ``python sdk_server.py`` speaks on standard input and output."""

import asyncio
from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel


class Point(BaseModel):
    x: int
    y: int = 0


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def norm(points: list[Point]) -> dict[str, Any]:
    """Say how far points are from the origin."""
    return {"norms": [abs(point.x) + abs(point.y) for point in points]}


def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


def much(size: int) -> str:
    """Say much."""
    return "x" * size


async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


def made() -> MCPServer:
    """Return a new server."""
    server = MCPServer("Numbers", log_level="CRITICAL")
    for tool in (add, fail, much, wait):
        server.add_tool(tool)
    server.add_tool(norm, annotations=ToolAnnotations(readOnlyHint=True))
    return server


if __name__ == "__main__":
    made().run()
