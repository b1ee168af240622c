"""FastMCP refuses to send NaN, but from a model or a dataclass it sends null, which does not fit its output schema."""

import math
import sys

import anyio
from fastmcp import Client, FastMCP
from pydantic import BaseModel

server = FastMCP("repro")


class Measured(BaseModel):
    ratio: float


@server.tool
def scalar() -> float:
    return math.nan


@server.tool
def model() -> Measured:
    return Measured(ratio=math.nan)


async def main() -> int:
    async with Client(server) as client:
        refused = (await client.call_tool_mcp("scalar", {})).is_error
        try:
            sent = not (await client.call_tool_mcp("model", {})).is_error
        except RuntimeError as error:  # The client compares the result with the schema; the server does not.
            sent = "None is not of type 'number'" in str(error)
    print(f"NaN as a scalar is refused: {refused}; in a model it is sent as null: {sent}")
    return 0 if refused and sent else 1


sys.exit(anyio.run(main))
