"""MCPServer sends log messages and declares no capability for them.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#capabilities
"""

import sys

import anyio
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("repro")
logged = []


@server.tool()
async def work(ctx: Context) -> str:
    await ctx.log("info", "working")
    return "done"


async def keep(params) -> None:
    logged.append(params.data)


async def main() -> int:
    async with Client(server, mode="legacy", logging_callback=keep) as client:
        await client.call_tool("work", {})
        declared = client.server_capabilities.logging
    print(f"the server sent {logged} and declared logging: {declared}")
    return 0 if logged and declared is None else 1


sys.exit(anyio.run(main))
