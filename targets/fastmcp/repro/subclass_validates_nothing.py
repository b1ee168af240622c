"""FastMCP lists the parameters of a subclass of Tool, but does not apply them."""

import sys
from typing import Any

import anyio
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult


class Subclass(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(structured_content=arguments)


async def main() -> int:
    server = FastMCP("repro")
    server.add_tool(Subclass(name="number", parameters={"type": "object", "properties": {"n": {"type": "number"}}}))
    async with Client(server) as client:
        text = await client.call_tool_mcp("number", {"n": "text"})
    print(f'a text for {{"type": "number"}} is accepted: {not text.is_error}')
    return 1 if text.is_error else 0


sys.exit(anyio.run(main))
