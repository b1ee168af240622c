"""Builds a server from a fixture, with the SDK's low-level `Server`.

The SDK's documentation recommends this tier to authors who bring their own JSON Schemas. The adapter does not check,
repair or fill in anything on behalf of the SDK.

https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/
"""

from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitResult,
    EmptyResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    SetLevelRequestParams,
    Tool,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from casebook_adapter import Refused
from casebook_tool import check_verbs, elicitation_id, has_state, renamed_members, state_seconds, wait_for_cancellation

from methods import Params, extension_settings, handlers
from results import answer_parts, call_tool_result, is_modern, question, received_answer

MEMBERS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta")
"""The members of a tool that `mcp.types.Tool` has a field for."""


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

    async def set_logging_level(_ctx: ServerRequestContext, _params: SetLevelRequestParams) -> EmptyResult:
        """Makes the server declare the capability for log messages.

        https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/streaming/server_lowlevel.py
        """
        return EmptyResult()

    logging: dict[str, Any] = {}
    if any("log" in tool["does"] for tool in tools):
        logging["on_set_logging_level"] = set_logging_level
    server = Server(**request["fixture"]["server"], on_list_tools=list_tools, on_call_tool=call_tool, **logging)
    for method, handler in handlers(request["fixture"]).items():
        server.add_request_handler(method, Params, handler)
    server.extensions.update(extension_settings(request["fixture"]))
    if is_modern(request) and has_state(tools):
        # https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#the-other-handlers
        seconds = state_seconds(tools)
        security = RequestStateSecurity.ephemeral() if seconds is None else RequestStateSecurity.ephemeral(ttl=seconds)
        server.middleware.append(RequestStateBoundary(security, default_audience=server.name))
    return server


def tool_definition(tool: dict[str, Any]) -> Tool:
    check_verbs(tool["does"])
    members = renamed_members(tool, {member: member for member in MEMBERS}, "mcp.types.Tool")
    try:
        return Tool(**members)
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
        case {"elicit": elicit} if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer = received_answer(elicit, params.input_responses, params.request_state)
            return question(elicit) if answer is None else call_tool_result({"structuredContent": answer})
        case {"elicit": elicit}:
            return call_tool_result({"structuredContent": answer_parts(await ask(elicit, ctx))})
        case {"wait": {"started": started, "stopped": stopped}}:
            # https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/streaming/server_lowlevel.py
            await wait_for_cancellation(started, stopped)
        case {"log": {"level": level, "data": data, **rest}}:
            await ctx.session.send_log_message(level, data, rest.get("logger"), related_request_id=ctx.request_id)
        case {"progress": {"progress": progress, **rest}}:
            await ctx.session.report_progress(progress, rest.get("total"), rest.get("message"))
        case {"raise": message}:
            raise RuntimeError(message)
        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")
    return call_tool_result({"structuredContent": params.arguments or {}})


async def ask(elicit: dict[str, Any], ctx: ServerRequestContext) -> ElicitResult:
    """Asks the user with a request to the client, as on the revisions of 2025.

    https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/legacy_elicitation/server_lowlevel.py
    """
    message = elicit["message"]
    if elicit.get("mode") == "url":
        id = elicitation_id(elicit)
        return await ctx.session.elicit_url(message, elicit["url"], id, related_request_id=ctx.request_id)
    return await ctx.session.elicit_form(message, elicit["requestedSchema"], related_request_id=ctx.request_id)
