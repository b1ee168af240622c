"""FastMCP lists the parameters of a subclass of Tool, but neither reads nor applies them."""

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
    server.add_tool(Subclass(name="invalid", parameters={"type": "object", "properties": 7}))
    async with Client(server) as client:
        text = await client.call_tool_mcp("number", {"n": "text"})
        invalid = await client.call_tool_mcp("invalid", {})
    print(
        f'a text for {{"type": "number"}} is accepted: {not text.is_error}; {{"properties": 7}}: {not invalid.is_error}'
    )
    return 1 if text.is_error or invalid.is_error else 0


sys.exit(anyio.run(main))
