"""Builds a server from a fixture, with a subclass of `fastmcp.tools.Tool`.

The attributes `parameters` and `output_schema` of that class accept any JSON Schema.
"""

from typing import Any

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_context
from fastmcp.tools import InputRequiredToolResult, Tool, ToolResult
from pydantic import Field

from casebook_adapter import Refused

from results import answer_parts, is_modern, question, received_answer, tool_result


async def build(request: dict[str, Any]) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    server = FastMCP(**request["fixture"]["server"])
    for tool in request["fixture"]["tools"]:
        try:
            server.add_tool(tool_definition(tool, is_modern(request)))
        except Exception as error:
            raise Refused(error, tool["name"]) from error
    return server


def tool_definition(tool: dict[str, Any], modern: bool) -> Tool:
    """Defines a tool. Members that the fixture omits are not passed, so that the SDK handles their absence."""
    names = {"inputSchema": "parameters", "outputSchema": "output_schema"}
    return FixtureTool(modern=modern, **{names.get(key, key): value for key, value in tool.items()})


class FixtureTool(Tool):
    """A tool that runs the `does` member of its fixture."""

    does: dict[str, Any] = Field(exclude=True)
    modern: bool = Field(exclude=True)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        match self.does:
            case {"echo": _}:
                return ToolResult(structured_content=arguments)
            case {"return": parts}:
                return tool_result(parts)
            case {"elicit": {"message": message, "requestedSchema": schema}}:
                return await self.ask(message, schema)
            case {"raise": message}:
                raise RuntimeError(message)
            case _:
                raise NotImplementedError(f"a tool that does {list(self.does)}")

    async def ask(self, message: str, schema: Any) -> ToolResult:
        ctx = get_context()
        if not self.modern:
            # `Context.elicit` takes no schema. It calls the same session, and names the request likewise.
            answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
            return ToolResult(structured_content=answer_parts(answer))
        answer = received_answer(ctx)
        if answer is None:
            return InputRequiredToolResult(question(message, schema))
        return ToolResult(structured_content=answer)
