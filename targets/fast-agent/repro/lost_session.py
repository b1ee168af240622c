"""After the status 404 for its session with a JSON-RPC error, the client sends the next request in the old session.

It begins another session only if the body of the response is no JSON-RPC message.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import sys

import anyio
from agent import agent_of
from fast_agent import MCPServerSettings

from casebook_mock import SessionLosingServer


async def main() -> int:
    raw = SessionLosingServer()
    server = MCPServerSettings(url=raw.url, protocol_mode="legacy")
    async with agent_of(server) as agent:
        for _ in range(2):
            await agent.call_tool("t", {})
    return raw.report()


sys.exit(anyio.run(main))
