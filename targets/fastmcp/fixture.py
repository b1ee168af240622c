"""Builds a FastMCP server from a fixture, with a subclass of `fastmcp.tools.Tool`.

The attributes `parameters` and `output_schema` of that class accept any JSON Schema. The adapter does not check,
repair or fill in anything on behalf of the SDK.

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
"""The key of the only question that a tool asks."""


class Cannot(Exception):
    """The SDK's public API cannot express the requested fixture or script."""

    def answer(self) -> dict[str, Any]:
        return {"cannot": str(self)}


class Refused(Exception):
    """The SDK raised an exception (the `__cause__`) while the server was being built."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def answer(self) -> dict[str, Any]:
        tool = {"tool": self.tool} if isinstance(self.tool, str) else {}
        return {"refused": {"type": type(self.__cause__).__name__, "message": str(self.__cause__), **tool}}


class FixtureTool(Tool):
    """A tool that runs the `does` member of its fixture."""

    does: dict[str, Any] = Field(exclude=True)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        match self.does:
            case {"echo": _}:
                return ToolResult(structured_content=arguments)
            case {"return": parts}:
                return tool_result(parts)
            case {"elicit": {"message": message, "requestedSchema": schema}}:
                return ask(message, schema)
            case {"raise": message}:
                raise RuntimeError(message)
            case _:
                raise NotImplementedError(f"a tool that does {list(self.does)}")


def build(request: dict[str, Any]) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    revision, tools = request["revision"], request["fixture"]["tools"]
    if revision not in REVISIONS:
        raise Cannot(f"the SDK does not support {revision}")
    if request.get("variant", VARIANTS[0]) not in VARIANTS:
        raise Cannot(f"there is no variant {request['variant']}")
    if revision not in MODERN_PROTOCOL_VERSIONS and any("elicit" in tool["does"] for tool in tools):
        raise Cannot("before 2026-07-28 a tool asks with Context.elicit, which takes a Python type, and no schema")

    server = FastMCP(**request["fixture"]["server"])
    for tool in tools:
        try:
            server.add_tool(tool_definition(tool))
        except Exception as error:
            raise Refused(tool.get("name")) from error
    return server


def tool_definition(tool: dict[str, Any]) -> Tool:
    """Defines a tool. Members that the fixture omits are not passed, so that the SDK handles their absence."""
    names = {"inputSchema": "parameters", "outputSchema": "output_schema"}
    return FixtureTool(**{names.get(key, key): value for key, value in tool.items()})


def tool_result(parts: dict[str, Any]) -> ToolResult:
    """https://gofastmcp.com/servers/tools#toolresult-and-metadata"""
    names = {"structuredContent": "structured_content", "isError": "is_error"}
    given = {names.get(key, key): value for key, value in parts.items()}
    if "content" in given:
        # The SDK turns every item that is not a content block into a text block.
        given["content"] = TypeAdapter(list[ContentBlock]).validate_python(given["content"])
    return ToolResult(**given)


def ask(message: str, schema: Any) -> ToolResult:
    """Asks the user by returning the question, and reads the answer when the client repeats the call.

    https://gofastmcp.com/servers/elicitation
    """
    answer = (get_context().input_responses or {}).get(QUESTION)
    if isinstance(answer, ElicitResult):
        return ToolResult(structured_content=answer.model_dump(include={"action", "content"}, exclude_unset=True))
    question = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredToolResult(InputRequiredResult(input_requests={QUESTION: question}))
