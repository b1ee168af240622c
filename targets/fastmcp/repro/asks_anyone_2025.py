"""FastMCP sends a question to a client of 2025 that did not declare elicitation."""

import sys

import anyio
from fastmcp import Client, Context, FastMCP
from mcp import MCPError

server = FastMCP("repro")


@server.tool
async def high(ctx: Context) -> str:
    try:
        return (await ctx.elicit("Who?", str)).action
    except MCPError as error:
        return f"{error.code} {error}"


async def main() -> int:
    # Without a handler, the client declares no elicitation, and answers a question with -32600.
    async with Client(server, mode="legacy") as client:
        text = (await client.call_tool_mcp("high", {})).content[0].text
    print(f"the question reached a client without the capability, which answered: {text}")
    return 0 if text.startswith("-32600") else 1


sys.exit(anyio.run(main))
