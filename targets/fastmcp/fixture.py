"""From a fixture to a FastMCP server, whose tools are a subclass of `fastmcp.tools.Tool`: its `parameters` and
`output_schema` take a JSON Schema as it is. Nothing is checked, repaired or filled in on the SDK's behalf.

https://gofastmcp.com/servers/tools
"""

from typing import Any

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context
from fastmcp.tools import InputRequiredToolResult, Tool, ToolResult
from mcp.types import ContentBlock, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, TypeAdapter

REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]
VARIANTS = ["tool"]

QUESTION = "question"
"""The key of the one question that a tool asks."""


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


class FixtureTool(Tool):
    """A tool that does what the fixture says."""

    does: dict[str, Any] = Field(exclude=True)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        match self.does:
            case {"echo": _}:
                return ToolResult(structured_content=arguments)
            case {"return": parts}:
                return returned(parts)
            case {"elicit": {"message": message, "requestedSchema": schema}}:
                return ask(message, schema)
            case {"raise": message}:
                raise RuntimeError(message)
            case _:
                raise NotImplementedError(f"a tool that does {list(self.does)}")


def build(order: dict[str, Any]) -> FastMCP:
    """Builds the server of a `serve` order; it speaks every revision of the SDK, whichever the order names."""
    revision, tools = order["revision"], order["fixture"]["tools"]
    if revision not in REVISIONS:
        raise Cannot(f"the SDK does not speak {revision}")
    if order.get("variant", VARIANTS[0]) not in VARIANTS:
        raise Cannot(f"there is no variant {order['variant']}")
    if revision not in MODERN_PROTOCOL_VERSIONS and any("elicit" in tool["does"] for tool in tools):
        raise Cannot("before 2026-07-28 a tool asks with Context.elicit, which takes a Python type, and no schema")

    server = FastMCP(**order["fixture"]["server"])
    for tool in tools:
        try:
            server.add_tool(declare(tool))
        except Exception as error:
            raise Refused(tool.get("name")) from error
    return server


def declare(tool: dict[str, Any]) -> Tool:
    """A member that the fixture doesn't have is not passed, so that the SDK says what it makes of that."""
    names = {"inputSchema": "parameters", "outputSchema": "output_schema"}
    return FixtureTool(**{names.get(key, key): value for key, value in tool.items()})


def returned(parts: dict[str, Any]) -> ToolResult:
    """https://gofastmcp.com/servers/tools#toolresult-and-metadata"""
    names = {"structuredContent": "structured_content", "isError": "is_error"}
    given = {names.get(key, key): value for key, value in parts.items()}
    if "content" in given:
        # Whatever isn't a block becomes the text of one.
        given["content"] = TypeAdapter(list[ContentBlock]).validate_python(given["content"])
    return ToolResult(**given)


def ask(message: str, schema: Any) -> ToolResult:
    """Asks the user by returning the question, and reads the answer when the call comes again.

    https://gofastmcp.com/servers/elicitation
    """
    answer = (get_context().input_responses or {}).get(QUESTION)
    if isinstance(answer, ElicitResult):
        return ToolResult(structured_content=answer.model_dump(include={"action", "content"}, exclude_unset=True))
    question = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredToolResult(InputRequiredResult(input_requests={QUESTION: question}))
