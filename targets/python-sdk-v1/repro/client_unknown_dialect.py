"""The client validates a result by its newest dialect if $schema names one that it does not know, without an error."""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

from casebook_mock import stdio_server

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object"}
RESULTS = {
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]},
    "tools/call": {"content": [], "structuredContent": {"n": 1}},
}


async def main() -> int:
    server = StdioServerParameters(command=sys.executable, args=stdio_server(RESULTS))
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.list_tools()
        try:
            result = await client.call_tool("t", {})
        except Exception as error:
            print(f"the client reports {type(error).__name__}: {error}")
            return 1
    print(f"a result under an outputSchema of an unknown dialect is returned: {result.structuredContent}")
    return 0


sys.exit(anyio.run(main))
