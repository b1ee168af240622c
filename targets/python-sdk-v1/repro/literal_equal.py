"""FastMCP lists an enum for a parameter of the type Literal, but accepts a value that only Python finds equal."""

import sys
from typing import Literal

import anyio
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

server = FastMCP("repro")


@server.tool()
def keep(v: Literal[0, "other"]) -> str:
    return repr(v)


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        schema = (await client.list_tools()).tools[0].inputSchema["properties"]["v"]
        result = await client.call_tool("keep", {"v": False})
    print(f"false for {schema}: {'refused' if result.isError else f'called, {result.structuredContent}'}")
    return 1 if result.isError or schema.get("enum") != [0, "other"] else 0


sys.exit(anyio.run(main))
