"""MCPServer lists an enum for a parameter of the type Literal, but accepts a value that only Python finds equal."""

import sys
from typing import Literal

import anyio
from mcp import Client
from mcp.server import MCPServer

server = MCPServer("repro")


@server.tool()
def keep(v: Literal[0, "other"]) -> str:
    return repr(v)


async def main() -> int:
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].input_schema["properties"]["v"]
        result = await client.call_tool("keep", {"v": False})
    print(f"false for {schema}: {'refused' if result.is_error else f'called, {result.structured_content}'}")
    return 1 if result.is_error or schema.get("enum") != [0, "other"] else 0


sys.exit(anyio.run(main))
