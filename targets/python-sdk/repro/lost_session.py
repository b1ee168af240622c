"""After the status 404 for its session, the client sends the next request in the old session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import sys
from contextlib import suppress

import anyio
from mcp import Client

from casebook_mock import SessionLosingServer


async def main() -> int:
    server = SessionLosingServer()
    async with Client(server.url, mode="legacy") as client:
        for _ in range(2):
            with suppress(Exception):
                await client.call_tool("t", {})
    if len(server.calls) < 2:
        print("after the 404, the client sent no second call")
        return 1
    if len(server.begun) > 1 and server.calls[1] != "old":
        print(f'after the 404, the client began another session, and sent the second call in "{server.calls[1]}"')
        return 1
    print(f'after the 404, the second call was sent in the session "{server.calls[1]}"')
    return 0


sys.exit(anyio.run(main))
