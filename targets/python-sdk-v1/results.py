"""Builds results by hand, for what the first examples of the documentation cannot return."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from casebook_adapter import encode


def call_tool_result(parts: dict[str, Any]) -> CallToolResult:
    """Builds a result. The text beside structured content is its JSON, unless the fixture has a content.

    https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#returning-calltoolresult-directly
    """
    content = []
    if "structuredContent" in parts:
        content = [TextContent(type="text", text=encode(parts["structuredContent"]))]
    return CallToolResult(**{"content": content, **parts})
