"""The low-level server lists an invalid inputSchema, and checks neither arguments nor results."""

import sys
from typing import Any

import anyio
from mcp import Client
from mcp.server import Server
from mcp.types import CallToolResult, ListToolsResult, Tool

TOOLS = [
    Tool(name="number", input_schema={"type": "object", "properties": {"n": {"type": "number"}}}),
    Tool(name="result", input_schema={"type": "object"}, output_schema={"type": "object", "required": ["n"]}),
    Tool(name="invalid", input_schema={"type": "object", "properties": 7}),
]


async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def call_tool(_ctx: Any, _params: Any) -> CallToolResult:
    return CallToolResult(content=[], structured_content={})


async def main() -> int:
    async with Client(Server("repro", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
        await client.list_tools()
        called = await client.call_tool("number", {"n": "text"})
        invalid = await client.call_tool("invalid", {})
        try:
            await client.call_tool("result", {})
            returned = False
        except RuntimeError as error:  # This SDK's client compares the result with the schema; the server does not.
            returned = "Invalid structured content" in str(error)
    seen = {
        'a text is accepted for {"type": "number"}': not called.is_error,
        'a tool with {"properties": 7} is called': not invalid.is_error,
        "a result without a required member is sent": returned,
    }
    print("; ".join(f"{what}: {is_so}" for what, is_so in seen.items()))
    return 0 if all(seen.values()) else 1


sys.exit(anyio.run(main))
