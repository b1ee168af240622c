"""The client takes a result with an unknown resultType for a complete one."""

import sys

import anyio
from mcp import Client, StdioServerParameters

from casebook_mock import META_OF_SERVER, STATELESS_RESULTS, stdio_server

RESULTS = {
    **STATELESS_RESULTS,
    "tools/call": {"resultType": "unheard-of", "content": [], "_meta": META_OF_SERVER},
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
