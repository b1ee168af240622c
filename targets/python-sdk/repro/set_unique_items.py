"""MCPServer lists uniqueItems for a parameter of the type set, but calls the tool with equal items."""

import sys

import anyio
from mcp import Client
from mcp.server import MCPServer

server = MCPServer("repro")


@server.tool()
def count(items: set[int]) -> int:
    return len(items)


async def main() -> int:
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].input_schema["properties"]["items"]
        result = await client.call_tool("count", {"items": [1, 1]})
    print(f"[1, 1] for {schema}: {'refused' if result.is_error else f'called, {result.structured_content}'}")
    return 1 if result.is_error or not schema.get("uniqueItems") else 0


sys.exit(anyio.run(main))
