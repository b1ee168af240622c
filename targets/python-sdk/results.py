"""Builds results by hand, as the authors of low-level servers do."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from casebook_adapter import encode


def call_tool_result(parts: dict[str, Any]) -> CallToolResult:
    """Builds a result. The text beside structured content is its JSON, unless the fixture has a content.

    https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#structured-output-by-hand
    """
    text = [TextContent(type="text", text=encode(parts["structuredContent"]))] if "structuredContent" in parts else []
    return CallToolResult(**{"content": text, **parts})
