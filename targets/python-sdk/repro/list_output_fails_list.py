"""An outputSchema whose root is a list makes tools/list fail for a client of 2025, and with it all other tools."""

import sys

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import RootModel

server = MCPServer("repro")


class Texts(RootModel[list[str]]):
    pass


@server.tool()
def texts() -> Texts:
    return Texts(["a"])


@server.tool()
def plain() -> str:
    return "a"


async def main() -> int:
    async with Client(server, mode="legacy") as client:
        try:
            print([(tool.name, tool.output_schema) for tool in (await client.list_tools()).tools])
        except Exception as error:
            print(f"tools/list fails: {error}")
            return 0
    return 1


sys.exit(anyio.run(main))
