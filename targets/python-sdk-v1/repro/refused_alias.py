"""FastMCP lists a parameter under its alias, and calls the function with the alias, which has no such parameter."""

import sys
from typing import Annotated

import anyio
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import Field

server = FastMCP("repro")


@server.tool()
def keep(user_id: Annotated[str, Field(alias="userId")]) -> str:
    return user_id


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        schema = (await client.list_tools()).tools[0].inputSchema
        result = await client.call_tool("keep", {"userId": "u1"})
    listed = list(schema["properties"])
    print(f"{listed} is listed, and a call with it {'is refused' if result.isError else 'works'}")
    return 0 if result.isError and listed == ["userId"] else 1


sys.exit(anyio.run(main))
