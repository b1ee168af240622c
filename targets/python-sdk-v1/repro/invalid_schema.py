"""FastMCP lists the bound of a parameter as it is written, also if the schema is then invalid."""

import sys
from typing import Annotated

import anyio
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import Field

server = FastMCP("repro")


@server.tool()
def find(number: Annotated[float, Field(gt=True)]) -> str:
    return str(number)


async def main() -> int:
    async with create_connected_server_and_client_session(server) as client:
        schema = (await client.list_tools()).tools[0].inputSchema["properties"]["number"]
    print(f"listed: {schema}")
    return 0 if schema.get("exclusiveMinimum") is True else 1


sys.exit(anyio.run(main))
