"""The client validates a result by its newest dialect if $schema names one that it does not know, without an error."""

import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from casebook_mock import stdio_server

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object"}
RESULTS = {
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]},
    "tools/call": {"content": [], "structuredContent": {"n": 1}},
}


async def main() -> int:
    server = StdioTransport(sys.executable, stdio_server(RESULTS), keep_alive=False)
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
        try:
            result = await client.call_tool_mcp("t", {})
        except Exception as error:
            print(f"the client reports {type(error).__name__}: {error}")
            return 1
    print(f"a result under an outputSchema of an unknown dialect is returned: {result.structured_content}")
    return 0


sys.exit(anyio.run(main))
