"""The low-level server sends a question to a client of 2025 that did not declare elicitation."""

import sys
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.server import Server, ServerRequestContext
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

FORM = {"type": "object", "properties": {"nick": {"type": "string"}}}


async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="t", input_schema={"type": "object"})])


async def call_tool(ctx: ServerRequestContext, _params: Any) -> CallToolResult:
    try:
        answer = await ctx.session.elicit_form("Who?", FORM, related_request_id=ctx.request_id)
    except MCPError as error:
        return CallToolResult(content=[TextContent(text=f"{error.code} {error}")])
    return CallToolResult(content=[TextContent(text=answer.action)])


async def main() -> int:
    # Without a callback, the client declares no elicitation, and answers a question with -32600.
    server = Server("repro", on_list_tools=list_tools, on_call_tool=call_tool)
    async with Client(server, mode="legacy") as client:
        text = (await client.call_tool("t", {})).content[0].text
    print(f"the question reached a client without the capability, which answered: {text}")
    return 0 if text.startswith("-32600") else 1


sys.exit(anyio.run(main))
