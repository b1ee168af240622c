"""FastMCP lists uniqueItems for a parameter of the type set, but calls the tool with equal items."""

import sys

import anyio
from fastmcp import Client, FastMCP


def count(items: set[int]) -> int:
    return len(items)


async def main() -> int:
    accepted = []
    for strict in (False, True):
        server = FastMCP("repro", strict_input_validation=strict)
        server.tool(count)
        async with Client(server) as client:
            schema = (await client.list_tools())[0].input_schema["properties"]["items"]
            result = await client.call_tool_mcp("count", {"items": [1, 1]})
        accepted.append(not result.is_error and bool(schema.get("uniqueItems")))
    print(f"[1, 1] for {schema}: called {accepted[0]}, with strict_input_validation {accepted[1]}")
    return 0 if all(accepted) else 1


sys.exit(anyio.run(main))
