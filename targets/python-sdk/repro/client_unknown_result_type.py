"""The client takes a result with an unknown resultType for a complete one."""

import sys

import anyio
from mcp import Client, StdioServerParameters

from casebook_mock import stdio_server

INFO = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": INFO}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}], **CACHED},
    "tools/call": {"resultType": "unheard-of", "content": [], "_meta": INFO},
}


async def main() -> int:
    server = StdioServerParameters(command=sys.executable, args=stdio_server(RESULTS))
    async with Client(server, mode="2026-07-28") as client:
        try:
            result = await client.call_tool("t", {})
        except Exception as error:
            print(f"the client reports {type(error).__name__}: {error}")
            return 1
    print(f'a result with the resultType "unheard-of" is returned: {result!r}')
    return 0


sys.exit(anyio.run(main))
