"""After the status 404 for its session, the client sends the next request in the old session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import sys
from contextlib import suppress

import anyio
from fastmcp import Client

from casebook_mock import SessionLosingServer


async def main() -> int:
    server = SessionLosingServer()
    async with Client(server.url, mode="legacy") as client:
        for _ in range(2):
            with suppress(Exception):
                await client.call_tool_mcp("t", {})
    return server.report()


sys.exit(anyio.run(main))
