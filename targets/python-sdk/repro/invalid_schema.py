"""MCPServer lists the bound of a parameter as it is written, also if the schema is then invalid."""

import sys
from typing import Annotated

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import Field

server = MCPServer("repro")


@server.tool()
def find(number: Annotated[float, Field(gt=True)]) -> str:
    return str(number)


async def main() -> int:
    async with Client(server) as client:
        schema = (await client.list_tools()).tools[0].input_schema["properties"]["number"]
    print(f"listed: {schema}")
    return 0 if schema.get("exclusiveMinimum") is True else 1


sys.exit(anyio.run(main))
