"""MCPServer sends what a model makes of itself without a look at the schema it listed, and its client refuses it."""

import json
import sys

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import BaseModel, field_serializer

server = MCPServer("repro")


class Counted(BaseModel):
    count: int


class Numbered(BaseModel):
    id: int

    @field_serializer("id")
    def with_sign(self, id: int):
        return f"#{id}"


@server.tool()
def changed() -> Counted:
    counted = Counted(count=7)
    counted.count = json.loads('"seven"')
    return counted


@server.tool()
def serialized() -> Numbered:
    return Numbered(id=1)


async def main() -> int:
    refused = []
    async with Client(server) as client:
        for name in ("changed", "serialized"):
            try:
                await client.call_tool(name, {})
            except RuntimeError as error:  # The client compares the result with the schema; the server does not.
                if "is not of type 'integer'" in str(error):
                    refused.append(name)
    print(f"a text is sent for an integer by: {', '.join(refused)}")
    return 0 if refused == ["changed", "serialized"] else 1


sys.exit(anyio.run(main))
