"""The low-level server validates arguments by its newest dialect if $schema names one that it does not know."""

import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import Tool

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object", "properties": {"n": {"type": "number"}}}
server = Server("repro")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="t", inputSchema=SCHEMA)]


@server.call_tool()
async def call_tool(_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        result = await client.call_tool("t", {"n": 1})
    print(f"arguments under an inputSchema of an unknown dialect: {'refused' if result.isError else 'accepted'}")
    return 1 if result.isError else 0


sys.exit(anyio.run(main))
