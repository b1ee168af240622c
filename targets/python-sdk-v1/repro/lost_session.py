"""After the status 404 for its session, the client sends the next request in the old session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import sys
from contextlib import suppress

import anyio
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from casebook_mock import SessionLosingServer


async def main() -> int:
    server = SessionLosingServer()
    async with streamable_http_client(server.url) as (read, write, *_), ClientSession(read, write) as client:
        await client.initialize()
        for _ in range(2):
            with suppress(Exception):
                await client.call_tool("t", {})
    return server.report()


sys.exit(anyio.run(main))
