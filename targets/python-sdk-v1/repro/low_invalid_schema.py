"""The low-level server lists an inputSchema that is invalid by the metaschema of its dialect."""

import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "minimum": "one"}}}
server = Server("repro")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="t", inputSchema=SCHEMA)]


@server.call_tool()
async def call_tool(_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        listed = (await client.list_tools()).tools[0].inputSchema == SCHEMA
    print(f'{{"minimum": "one"}} is {"listed" if listed else "not listed"}')
    return 0 if listed else 1


sys.exit(anyio.run(main))
