"""Builds a server from a fixture, with a subclass of `fastmcp.tools.Tool`.

The attributes `parameters` and `output_schema` of that class accept any JSON Schema.
"""

from typing import Any

from fastmcp import FastMCP, tools
from fastmcp.server.dependencies import get_context
from fastmcp.tools import Tool
from pydantic import Field

from casebook_adapter import Refused
from casebook_tool import check_verbs, elicitation_id, renamed_members, wait_for_cancellation

from results import (
    answer_parts,
    check_log,
    is_connection_modern,
    log,
    question,
    received_answer,
    report_progress,
    server_options,
    tool_result,
)
from versions import ToolResult, check_asks_for_url, check_error, elicit_form

FIELDS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "inputSchema": "parameters",
    "outputSchema": "output_schema",
    "annotations": "annotations",
    "icons": "icons",
    "execution": "execution",
    "_meta": "meta",
}
FIELDS = {member: name for member, name in FIELDS.items() if name in Tool.model_fields}
"""The fields of `fastmcp.tools.Tool`, by the members of a tool."""


async def build(request: dict[str, Any]) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    server = FastMCP(**server_options(request))
    for tool in request["fixture"]["tools"]:
        check_verbs(tool["does"])
        check_log(tool["does"])
        check_error(tool["does"])
        check_asks_for_url(tool["does"])
        members = renamed_members(tool, FIELDS, "fastmcp.tools.Tool")
        try:
            server.add_tool(FixtureTool(does=tool["does"], **members))
        except Exception as error:
            raise Refused(error, tool["name"]) from error
    return server


class FixtureTool(Tool):
    """A tool that runs the `does` member of its fixture."""

    does: dict[str, Any] = Field(exclude=True)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        match self.does:
            case {"echo": _}:
                return ToolResult(structured_content=arguments)
            case {"return": parts}:
                return tool_result(parts)
            case {"elicit": elicit}:
                return await self.ask(elicit)
            case {"wait": {"started": started, "stopped": stopped}}:
                await wait_for_cancellation(started, stopped)
            case {"log": members}:
                await log(get_context(), **members)
            case {"progress": members}:
                await report_progress(get_context(), **members)
            case {"raise": message}:
                raise RuntimeError(message)
            case _:
                raise NotImplementedError(f"a tool that does {list(self.does)}")
        return ToolResult(structured_content=arguments)

    async def ask(self, elicit: dict[str, Any]) -> ToolResult:
        ctx = get_context()
        if is_connection_modern(ctx):
            answer = received_answer(elicit, ctx)
            if answer is None:
                return tools.InputRequiredToolResult(question(elicit))
            return ToolResult(structured_content=answer)
        # `Context.elicit` takes no schema and no URL. It calls the same session, and names the request likewise.
        message, id = elicit["message"], ctx.request_id
        if elicit.get("mode") == "url":
            url = elicit["url"]
            answer = await ctx.session.elicit_url(message, url, elicitation_id(elicit), related_request_id=id)
        else:
            answer = await elicit_form(ctx.session, message, elicit["requestedSchema"], id)
        return ToolResult(structured_content=answer_parts(answer))
