"""Builds a server from a fixture, with the SDK's low-level `Server`.

This tier accepts any JSON Schema and validates arguments and results against it. The adapter does not check, repair
or fill in anything on behalf of the SDK.

https://py.sdk.modelcontextprotocol.io/v1/low-level-server/
"""

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.types import CallToolResult, ContentBlock, ElicitResult, LoggingLevel, Tool

from casebook_adapter import Refused
from casebook_tool import check_verbs, elicitation_id, wait_for_cancellation

from results import call_tool_result
from versions import check_asks_for_url, check_returns_results, code_of, elicit_form

Returned = dict[str, Any] | list[ContentBlock] | tuple[list[ContentBlock], dict[str, Any]] | CallToolResult


async def build(request: dict[str, Any]) -> Server:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    tools = request["fixture"]["tools"]
    listed = [tool_definition(tool) for tool in tools]
    server = Server(**request["fixture"]["server"])

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return listed

    @server.call_tool()
    async def call_tool(name: str, arguments: dict[str, Any]) -> Returned:
        # On this tier the author dispatches calls and chooses this error. It is the one that the documentation shows.
        does = next((code_of(tool) for tool in tools if tool["name"] == name), None)
        if does is None:
            raise ValueError(f"Unknown tool: {name}")
        return await run_tool(does, arguments, server)

    async def set_logging_level(_level: LoggingLevel) -> None:
        """Makes the server declare the capability for log messages.

        https://py.sdk.modelcontextprotocol.io/v1/protocol/#capabilities
        """

    if any("log" in tool["does"] for tool in tools):
        server.set_logging_level()(set_logging_level)
    return server


def tool_definition(tool: dict[str, Any]) -> Tool:
    check_verbs(tool["does"])
    match code_of(tool):
        case {"elicit": {"mode": "url"}}:
            check_asks_for_url()
        case {"return": {"isError": True} | {"structuredContent": None | list() | str() | int() | float()}}:
            check_returns_results()
    try:
        return Tool(**{key: value for key, value in tool.items() if key != "does"})
    except Exception as error:
        raise Refused(error, tool.get("name")) from error


async def run_tool(does: dict[str, Any], arguments: dict[str, Any], server: Server) -> Returned:
    ctx = server.request_context
    match does:
        case {"echo": _}:
            return arguments
        case {"return": parts}:
            return tool_result(parts)
        case {"elicit": elicit}:
            answer = await ask(elicit, ctx.session)
            return answer.model_dump(include={"action", "content"}, exclude_unset=True)
        case {"wait": {"started": started, "stopped": stopped}}:
            await wait_for_cancellation(started, stopped)
        case {"log": {"level": level, "data": data, **rest}}:
            # https://github.com/modelcontextprotocol/python-sdk/tree/v1.x/examples/servers/simple-streamablehttp
            await ctx.session.send_log_message(level, data, rest.get("logger"), related_request_id=ctx.request_id)
        case {"progress": {"progress": progress, **rest}}:
            token = ctx.meta.progressToken if ctx.meta else None
            if token is not None:
                await ctx.session.send_progress_notification(
                    token, progress, rest.get("total"), rest.get("message"), related_request_id=str(ctx.request_id)
                )
        case {"raise": message}:
            raise RuntimeError(message)
        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")
    return arguments


async def ask(elicit: dict[str, Any], session: ServerSession) -> ElicitResult:
    if elicit.get("mode") == "url":
        return await session.elicit_url(elicit["message"], elicit["url"], elicitation_id(elicit))
    return await elicit_form(session, elicit["message"], elicit["requestedSchema"])


def tool_result(parts: dict[str, Any]) -> Returned:
    """Returns content, an object, or both, as the first examples of the documentation do.

    It returns a `CallToolResult` only for results that these cannot express, because the SDK does not validate those.
    https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#structured-output-support
    """
    result = call_tool_result(parts)
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
