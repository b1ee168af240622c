"""Builds a server from a fixture, with the SDK's low-level `Server`.

The SDK's documentation recommends this tier to authors who bring their own JSON Schemas. The adapter does not check,
repair or fill in anything on behalf of the SDK.

https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/
"""

from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from casebook_adapter import Refused

from results import call_tool_result

QUESTION = "question"
"""The key of the only question that a tool asks."""


async def build(request: dict[str, Any]) -> Server:
    """Builds the server for a `serve` request.

    The server supports every revision of the SDK, because the SDK has no option to restrict them.
    https://py.sdk.modelcontextprotocol.io/run/legacy-clients/
    """
    tools = request["fixture"]["tools"]
    listed = [tool_definition(tool) for tool in tools]

    async def list_tools(_ctx: ServerRequestContext, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(
        ctx: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        # On this tier the author dispatches calls and chooses this error. It is the one that the documentation shows.
        # https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#two-tools-one-handler
        does = next((tool["does"] for tool in tools if tool["name"] == params.name), None)
        if does is None:
            raise ValueError(f"Unknown tool: {params.name}")
        return await run_tool(does, ctx, params)

    return Server(**request["fixture"]["server"], on_list_tools=list_tools, on_call_tool=call_tool)


def tool_definition(tool: dict[str, Any]) -> Tool:
    try:
        return Tool(**{key: value for key, value in tool.items() if key != "does"})
    except Exception as error:
        raise Refused(error, tool.get("name")) from error


async def run_tool(
    does: dict[str, Any], ctx: ServerRequestContext, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    match does:
        case {"echo": _}:
            return call_tool_result({"structuredContent": params.arguments or {}})
        case {"return": parts}:
            return call_tool_result(parts)
        case {"elicit": {"message": message, "requestedSchema": schema}}:
            answer = await ask(message, schema, ctx, params)
            if isinstance(answer, InputRequiredResult):
                return answer
            got = answer.model_dump(include={"action", "content"}, exclude_unset=True)
            return call_tool_result({"structuredContent": got})
        case {"raise": message}:
            raise RuntimeError(message)
        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")


async def ask(
    message: str, schema: Any, ctx: ServerRequestContext, params: CallToolRequestParams
) -> ElicitResult | InputRequiredResult:
    """Asks the user: with a request to the client or, from 2026-07-28 on, by returning the question.

    https://py.sdk.modelcontextprotocol.io/handlers/multi-round-trip/#the-server-side
    """
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        # https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/legacy_elicitation/server_lowlevel.py
        return await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    answer = (params.input_responses or {}).get(QUESTION)
    if isinstance(answer, ElicitResult):
        return answer
    question = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredResult(input_requests={QUESTION: question})
