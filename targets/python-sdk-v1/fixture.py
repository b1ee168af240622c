"""From a fixture to a server, with the SDK's low-level `Server`: the tier that takes a JSON Schema as it is, and
validates arguments and results by it. Nothing is checked, repaired or filled in on the SDK's behalf.

https://py.sdk.modelcontextprotocol.io/v1/low-level-server/
"""

from typing import Any

from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ContentBlock, Tool

REVISIONS = ["2025-06-18", "2025-11-25"]
VARIANTS = ["low"]

Returned = dict[str, Any] | list[ContentBlock] | tuple[list[ContentBlock], dict[str, Any]] | CallToolResult


class Cannot(Exception):
    """The SDK's public API has no way to express what was asked for."""

    def answer(self) -> dict[str, Any]:
        return {"cannot": str(self)}


class Refused(Exception):
    """The SDK raised, the cause, while the server was being built."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def answer(self) -> dict[str, Any]:
        tool = {"tool": self.tool} if isinstance(self.tool, str) else {}
        return {"refused": {"type": type(self.__cause__).__name__, "message": str(self.__cause__), **tool}}


def spoken(revision: str) -> None:
    if revision not in REVISIONS:
        raise Cannot(f"the SDK does not speak {revision}")


def build(order: dict[str, Any]) -> Server:
    """Builds the server of a `serve` order; it speaks every revision of the SDK, whichever the order names."""
    spoken(order["revision"])
    if order.get("variant", VARIANTS[0]) not in VARIANTS:
        raise Cannot(f"there is no variant {order['variant']}")

    tools = order["fixture"]["tools"]
    listed = [declare(tool) for tool in tools]
    server = Server(**order["fixture"]["server"])

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return listed

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Returned:
        # Dispatch is the author's on this tier, and so is this error: it is the one of the documentation.
        does = next((tool["does"] for tool in tools if tool["name"] == name), None)
        if does is None:
            raise ValueError(f"Unknown tool: {name}")
        return await perform(does, arguments, server)

    return server


def declare(tool: dict[str, Any]) -> Tool:
    try:
        return Tool(**{key: value for key, value in tool.items() if key != "does"})
    except Exception as error:
        raise Refused(tool.get("name")) from error


async def perform(does: dict[str, Any], arguments: dict[str, Any], server: Server) -> Returned:
    match does:
        case {"echo": _}:
            return arguments
        case {"return": parts}:
            return returned(parts)
        case {"elicit": {"message": message, "requestedSchema": schema}}:
            context = server.request_context
            # Unrelated to the call, the question would wait for a stream that the client need not open.
            answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
            return answer.model_dump(include={"action", "content"}, exclude_unset=True)
        case {"raise": message}:
            raise RuntimeError(message)
        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")


def returned(parts: dict[str, Any]) -> Returned:
    """Content, an object, or both, as the documentation shows first; `CallToolResult` for what these can't say.

    It is the way around the SDK's validation of results, too.
    https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#structured-output-support
    """
    result = CallToolResult(**{"content": [], **parts})
    match parts:
        case {"isError": True}:
            return result
        case {"content": _, "structuredContent": dict(structured)}:
            return result.content, structured
        case {"structuredContent": dict(structured)}:
            return structured
        case {"structuredContent": _}:
            return result
        case _:
            return result.content
