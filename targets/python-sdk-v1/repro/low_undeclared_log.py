"""The low-level server sends log messages without a handler for their level, and declares no capability for them.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#capabilities
"""

import sys

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session as connect
from mcp.types import TextContent, Tool

server = Server("repro")
logged = []


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="work", inputSchema={"type": "object"})]


@server.call_tool()
async def work(name: str, arguments: dict) -> list[TextContent]:
    await server.request_context.session.send_log_message("info", "working")
    return []


async def keep(params) -> None:
    logged.append(params.data)


async def main() -> int:
    async with connect(server, logging_callback=keep) as client:
        await client.call_tool("work", {})
        declared = client.get_server_capabilities().logging
    print(f"the server sent {logged} and declared logging: {declared}")
    return 0 if logged and declared is None else 1


sys.exit(anyio.run(main))
