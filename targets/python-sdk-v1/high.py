"""Builds a server from a fixture, with functions that are registered as the tools of a `FastMCP`.

The SDK derives the schemas of a tool from the signature of its function. The answer is `cannot` if no signature says a
schema of the fixture.

https://py.sdk.modelcontextprotocol.io/v1/server/#tools
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import CallToolResult, ToolAnnotations

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import equivalent, form, parameters, received, result, returned, submitted
from casebook_tool import elicitation_id, renamed_members, wait_for_cancellation

import typed
from results import call_tool_result
from versions import ADD_TOOL, RETURNS_RESULTS, check_asks_for_url, check_returns_results, code_of

PARAMETERS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
}
"""The parameters of `FastMCP.add_tool`, by the members of a tool."""


async def build(request: dict[str, Any]) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    fixture = request["fixture"]
    # FastMCP has no parameter for the server's version.
    server = FastMCP(fixture["server"]["name"])
    for tool in fixture["tools"]:
        try:
            with raised_recursion_limit():
                function = typed.function(tool["name"]) if "typed" in tool else tool_function(tool)
            server.add_tool(function, **tool_parameters(tool))
        except Cannot:
            raise
        except Exception as error:
            raise Refused(error, tool["name"]) from error

    derived = {tool.name: tool for tool in await server.list_tools()}
    # The server lists an empty name, or one that occurs twice, in its own way. Typed tools have their own schemas.
    for tool in (tool for tool in fixture["tools"] if tool["name"] in derived and "typed" not in tool):
        with raised_recursion_limit():
            if not equivalent(tool["inputSchema"], derived[tool["name"]].inputSchema):
                raise Cannot("the inputSchema that FastMCP derives from the function's signature is not equivalent")
            if "outputSchema" in tool and not equivalent(tool["outputSchema"], derived[tool["name"]].outputSchema):
                raise Cannot("the outputSchema that FastMCP derives from the function's result is not equivalent")
    return server


def tool_parameters(tool: dict[str, Any]) -> dict[str, Any]:
    names = {member: name for member, name in PARAMETERS.items() if name in ADD_TOOL}
    found = renamed_members(tool, names, "FastMCP.add_tool", derived=("inputSchema", "outputSchema", "typed"))
    if "annotations" in found:
        found["annotations"] = ToolAnnotations.model_validate(found["annotations"])
    if "icons" in found:
        found["icons"] = [types.Icon.model_validate(icon) for icon in found["icons"]]
    return found


def tool_function(tool: dict[str, Any]) -> Callable[..., Any]:
    """Makes the function that the author of the tool writes with `def`."""
    signature = parameters(tool.get("inputSchema"))
    # To a result that is a dict, the SDK adds an outputSchema that every object conforms to.
    returns = result(tool["outputSchema"], model=True) if "outputSchema" in tool else dict[str, Any]
    match code_of(tool):
        case {"echo": _}:

            async def echo(**arguments: Any) -> Any:
                return received(signature, arguments)

            function = echo

        case {"return": {"structuredContent": structured, **others}} if not others and (
            isinstance(structured, dict) or "outputSchema" in tool
        ):

            async def return_value(**_arguments: Any) -> Any:
                return returned(returns, structured)

            function = return_value

        case {"return": {"content": _, **others} as parts} if not RETURNS_RESULTS and not others:
            # Without an annotation, the result is not structured.
            returns = returns if "outputSchema" in tool else Signature.empty

            async def return_content(**_arguments: Any) -> Any:
                return call_tool_result(parts).content

            function = return_content

        case {"return": parts}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#structured-output
            check_returns_results()
            returns = Annotated[CallToolResult, returns] if "outputSchema" in tool else CallToolResult

            async def return_result(**_arguments: Any) -> Any:
                return call_tool_result(parts)

            function = return_result

        case {"elicit": {"mode": "url", "message": message, "url": url} as elicit}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#elicitation
            check_asks_for_url()

            async def ask_for_url(ctx: Context, **_arguments: Any) -> Any:
                answer = await ctx.elicit_url(message, url, elicitation_id(elicit))
                return {"action": answer.action}

            function = ask_for_url
            signature.append(CONTEXT)

        case {"elicit": {"message": message, "requestedSchema": schema}}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#elicitation
            asked = requested_form(schema)

            async def ask(ctx: Context, **_arguments: Any) -> Any:
                answer = await ctx.elicit(message=message, schema=asked)
                if answer.action == "accept":
                    return {"action": "accept", "content": submitted(answer.data)}
                return {"action": answer.action}

            function = ask
            signature.append(CONTEXT)

        case {"wait": {"started": started, "stopped": stopped}}:

            async def wait(**arguments: Any) -> Any:
                await wait_for_cancellation(started, stopped)
                return received(signature, arguments)

            function = wait

        case {"log": {"level": level, "data": data, **rest}}:
            if level not in LEVELS or not isinstance(data, str):
                raise Cannot(f"Context.log takes a text at one of the levels {LEVELS}")

            async def log(ctx: Context, **arguments: Any) -> Any:
                await ctx.log(level, data, logger_name=rest.get("logger"))
                return received(signature, arguments)

            function = log
            signature.append(CONTEXT)

        case {"progress": {"progress": progress, **rest}}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#context

            async def report_progress(ctx: Context, **arguments: Any) -> Any:
                await ctx.report_progress(progress, rest.get("total"), rest.get("message"))
                return received(signature, arguments)

            function = report_progress
            signature.append(CONTEXT)

        case {"raise": message}:

            async def fail(**_arguments: Any) -> Any:
                raise RuntimeError(message)

            function = fail

        case does:
            raise Cannot(f"the adapter has no code for a tool that does {list(does)}")

    function.__signature__ = Signature(signature, return_annotation=returns)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in signature} | {"return": returns}
    return function


CONTEXT = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Context)
"""The parameter for the context, which the author of a tool writes in the signature of its function."""

LEVELS = ("debug", "info", "warning", "error")
"""The levels of `Context.log`."""


def requested_form(schema: Any) -> Any:
    found = form(schema, literals=False)
    if not equivalent(schema, found.model_json_schema()):
        raise Cannot("the form that FastMCP derives from a pydantic model is not equivalent")
    return found
