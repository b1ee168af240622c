"""FastMCP decodes a text that is JSON before it reads the type of a parameter, which also has texts."""

import sys
from typing import Any

import anyio
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session

server = FastMCP("repro")


@server.tool()
def keep(v: Any) -> str:
    return repr(v)


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        result = await client.call_tool("keep", {"v": '{"a": 1}'})
    arrived = (result.structuredContent or {}).get("result")
    print(f'the text {{"a": 1}} arrives as {arrived}')
    return 0 if arrived == "{'a': 1}" else 1


sys.exit(anyio.run(main))
