"""MCPServer lists a parameter under its alias, and calls the function with the alias, which has no such parameter."""

import sys
from typing import Annotated

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import Field

server = MCPServer("repro")


@server.tool()
def keep(user_id: Annotated[str, Field(alias="userId")]) -> str:
    return user_id


async def main() -> int:
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].input_schema
        result = await client.call_tool("keep", {"userId": "u1"})
    listed = list(schema["properties"])
    print(f"{listed} is listed, and a call with it {'is refused' if result.is_error else 'works'}")
    return 0 if result.is_error and listed == ["userId"] else 1


sys.exit(anyio.run(main))
