"""FastMCP sends results that do not conform to the output_schema that it lists, or that have no structured content."""

import sys
from typing import Any

import anyio
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


class Subclass(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(structured_content={"n": "text"})


def function() -> dict[str, Any]:
    return {"n": "text"}


def silent() -> ToolResult:
    return ToolResult(content="7")


async def main() -> int:
    server = FastMCP("repro")
    server.tool(output_schema=SCHEMA)(function)
    server.tool(output_schema=SCHEMA)(silent)
    server.add_tool(Subclass(name="subclass", parameters={"type": "object"}, output_schema=SCHEMA))
    sent = []
    async with Client(server) as client:
        for name in ("function", "subclass"):
            try:
                result = await client.call_tool_mcp(name, {})
                sent.append(result.structured_content == {"n": "text"})
            except RuntimeError as error:  # The client compares the result with the schema; the server does not.
                sent.append("Invalid structured content" in str(error))
        try:
            silenced = await client.call_tool_mcp("silent", {})
            sent.append(silenced.structured_content is None and not silenced.is_error)
        except RuntimeError as error:  # Again the client.
            sent.append("structured content" in str(error))
    print(
        f'{{"n": "text"}} for a number: sent by a function {sent[0]}, by a subclass {sent[1]}; a text alone: {sent[2]}'
    )
    return 0 if all(sent) else 1


sys.exit(anyio.run(main))
