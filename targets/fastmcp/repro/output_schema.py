"""FastMCP sends results of a subclass of Tool that do not fit its output_schema, or have no structured content."""

import sys
from typing import Any

import anyio
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


class Wrong(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(structured_content={"n": "text"})


class Silent(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content="7")


async def main() -> int:
    server = FastMCP("repro")
    server.add_tool(Wrong(name="wrong", parameters={"type": "object"}, output_schema=SCHEMA))
    server.add_tool(Silent(name="silent", parameters={"type": "object"}, output_schema=SCHEMA))
    sent = []
    async with Client(server) as client:
        for name in ("wrong", "silent"):
            try:
                result = await client.call_tool_mcp(name, {})
                sent.append(not result.is_error)
            except RuntimeError as error:  # The client compares the result with the schema; the server does not.
                sent.append("structured content" in str(error))
    print(f'{{"n": "text"}} for a number is sent: {sent[0]}; a text alone: {sent[1]}')
    return 0 if all(sent) else 1


sys.exit(anyio.run(main))
