"""FastMCP lists an enum for a parameter of the type Literal, but accepts a value that only Python finds equal."""

import sys
from typing import Literal

import anyio
from fastmcp import Client, FastMCP


def keep(v: Literal[0, "other"]) -> str:
    return repr(v)


async def main() -> int:
    accepted = []
    for strict in (False, True):
        server = FastMCP("repro", strict_input_validation=strict)
        server.tool(keep)
        async with Client(server) as client:
            schema = (await client.list_tools())[0].input_schema["properties"]["v"]
            result = await client.call_tool_mcp("keep", {"v": False})
        accepted.append(not result.is_error and schema.get("enum") == [0, "other"])
    print(f"false for {schema}: called {accepted[0]}, with strict_input_validation {accepted[1]}")
    return 0 if all(accepted) else 1


sys.exit(anyio.run(main))
