"""MCPServer lists a number for a float in a result, but sends null for NaN, and the SDK's client refuses the result."""

import math
import sys

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("repro")


class Measured(BaseModel):
    ratio: float


@server.tool()
def measure() -> Measured:
    return Measured(ratio=math.nan)


async def main() -> int:
    async with Client(server) as client:
        try:
            result = await client.call_tool("measure", {})
        except RuntimeError as error:
            message = str(error).splitlines()[0]
            print(f"the client refuses the result of a float that is NaN: {message}")
            return 0 if "None is not of type 'number'" in message else 1
    print(f"the client takes the result: {result.structured_content}")
    return 1


sys.exit(anyio.run(main))
