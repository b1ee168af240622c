"""FastMCP lists uniqueItems for a parameter of the type set, but calls the tool with equal items."""

import sys

import anyio
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

server = FastMCP("repro")


@server.tool()
def count(items: set[int]) -> int:
    return len(items)


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        schema = (await client.list_tools()).tools[0].inputSchema["properties"]["items"]
        result = await client.call_tool("count", {"items": [1, 1]})
    print(f"[1, 1] for {schema}: {'refused' if result.isError else f'called, {result.structuredContent}'}")
    return 1 if result.isError or not schema.get("uniqueItems") else 0


sys.exit(anyio.run(main))
