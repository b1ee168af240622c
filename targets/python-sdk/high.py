"""Builds a server from a fixture, with functions that are registered as the tools of an `MCPServer`.

The SDK derives the schemas of a tool from the signature of its function. The answer is `cannot` if no signature says a
schema of the fixture.

https://py.sdk.modelcontextprotocol.io/servers/tools/
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    RequestStateSecurity,
    Resolve,
)
from mcp.types import CallToolResult, Icon, InputRequiredResult, ToolAnnotations

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import equivalent, form, parameters, received, result, returned, submitted
from casebook_tool import elicitation_id, renamed_members, state_seconds, wait_for_cancellation

import typed
from methods import extensions
from results import call_tool_result, is_modern, question, received_answer

PARAMETERS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
}
"""The parameters of `MCPServer.add_tool`, by the members of a tool."""


async def build(request: dict[str, Any]) -> MCPServer:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    fixture = request["fixture"]
    seconds = state_seconds(fixture["tools"])
    # https://py.sdk.modelcontextprotocol.io/handlers/multi-round-trip/#what-the-seal-carries
    security = None if seconds is None else RequestStateSecurity.ephemeral(ttl=seconds)
    added = extensions(fixture)
    try:
        server = MCPServer(**fixture["server"], request_state_security=security, extensions=added)
    except Exception as error:
        raise Refused(error) from error
    for tool in fixture["tools"]:
        try:
            with raised_recursion_limit():
                check_headers(tool)
                function = typed.function(tool["name"]) if "typed" in tool else tool_function(tool, is_modern(request))
            server.add_tool(function, **tool_parameters(tool))
        except Cannot:
            raise
        except Exception as error:
            raise Refused(error, tool["name"]) from error

    derived = {tool.name: tool for tool in await server.list_tools()}
    # The server lists an empty name, or one that occurs twice, in its own way. Typed tools have their own schemas.
    for tool in (tool for tool in fixture["tools"] if tool["name"] in derived and "typed" not in tool):
        with raised_recursion_limit():
            if not equivalent(tool["inputSchema"], derived[tool["name"]].input_schema):
                raise Cannot("the inputSchema that MCPServer derives from the function's signature is not equivalent")
            if "outputSchema" in tool and not equivalent(tool["outputSchema"], derived[tool["name"]].output_schema):
                raise Cannot("the outputSchema that MCPServer derives from the function's result is not equivalent")
    return server


def check_headers(tool: dict[str, Any]) -> None:
    """Raises `Cannot` for a header of an inner property.

    A nested model becomes a reference, and `x-mcp-header` is not allowed below one. MCPServer refuses such a function,
    so that no function has the inputSchema of the fixture.
    """
    match tool.get("inputSchema"):
        case {"properties": dict(properties)}:
            inner = [value for value in properties.values() if isinstance(value, dict) and "properties" in value]
            if any(has_header(schema) for schema in inner):
                raise Cannot("MCPServer derives a reference for a nested object, and so refuses x-mcp-header in it")


def has_header(schema: Any) -> bool:
    match schema:
        case {"x-mcp-header": _}:
            return True
        case {"properties": dict(properties)}:
            return any(has_header(value) for value in properties.values())
        case _:
            return False


def tool_parameters(tool: dict[str, Any]) -> dict[str, Any]:
    found = renamed_members(tool, PARAMETERS, "MCPServer.add_tool", derived=("inputSchema", "outputSchema", "typed"))
    if "annotations" in found:
        found["annotations"] = ToolAnnotations.model_validate(found["annotations"])
    if "icons" in found:
        found["icons"] = [Icon.model_validate(icon) for icon in found["icons"]]
    return found


def tool_function(tool: dict[str, Any], modern: bool) -> Callable[..., Any]:
    """Makes the function that the author of the tool writes with `def`."""
    signature = parameters(tool.get("inputSchema"))
    # To a result that is a dict, the SDK adds an outputSchema that every object conforms to.
    returns = result(tool["outputSchema"]) if "outputSchema" in tool else dict[str, Any]
    match tool["does"]:
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

        case {"return": parts}:
            # A function may return the result itself: https://py.sdk.modelcontextprotocol.io/migration/
            returns = Annotated[CallToolResult, returns] if "outputSchema" in tool else CallToolResult

            async def return_result(**_arguments: Any) -> Any:
                return call_tool_result(parts)

            function = return_result

        case {"elicit": elicit} if modern and (elicit.get("mode") == "url" or "state" in elicit):
            # https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/mrtr/server.py
            returns = returns | InputRequiredResult

            async def ask_by_result(ctx: Context, **_arguments: Any) -> Any:
                return received_answer(elicit, ctx.input_responses, ctx.request_state) or question(elicit)

            function = ask_by_result
            signature.append(CONTEXT)

        case {"elicit": {"mode": "url", "message": message, "url": url} as elicit}:
            # https://py.sdk.modelcontextprotocol.io/handlers/elicitation/#send-the-user-to-a-url

            async def ask_for_url(ctx: Context, **_arguments: Any) -> Any:
                answer = await ctx.elicit_url(message, url, elicitation_id(elicit))
                return {"action": answer.action}

            function = ask_for_url
            signature.append(CONTEXT)

        case {"elicit": {"message": message, "requestedSchema": schema}}:
            # https://py.sdk.modelcontextprotocol.io/handlers/elicitation/#ask-with-a-resolver
            asked = requested_form(schema)

            async def ask() -> Elicit[Any]:
                return Elicit(message, asked)

            async def report(answer: Any, **_arguments: Any) -> Any:
                if isinstance(answer, AcceptedElicitation):
                    return {"action": "accept", "content": submitted(answer.data)}
                return {"action": answer.action}

            function = report
            hint = Annotated[ElicitationResult[asked], Resolve(ask)]
            signature.append(Parameter("answer", Parameter.KEYWORD_ONLY, annotation=hint))

        case {"wait": {"started": started, "stopped": stopped}}:
            # https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/streaming/server.py

            async def wait(**arguments: Any) -> Any:
                await wait_for_cancellation(started, stopped)
                return received(signature, arguments)

            function = wait

        case {"log": {"level": level, "data": data, **rest}}:

            async def log(ctx: Context, **arguments: Any) -> Any:
                await ctx.log(level, data, logger_name=rest.get("logger"))
                return received(signature, arguments)

            function = log
            signature.append(CONTEXT)

        case {"progress": {"progress": progress, **rest}}:
            # https://py.sdk.modelcontextprotocol.io/handlers/progress/#report-it-from-the-tool

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


def requested_form(schema: Any) -> Any:
    found = form(schema, literals=True)
    if not equivalent(schema, found.model_json_schema()):
        raise Cannot("the form that MCPServer derives from a pydantic model is not equivalent")
    return found
