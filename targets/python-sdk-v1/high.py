"""Builds a server from a fixture, with functions that are registered as the tools of a `FastMCP`.

The SDK derives the schemas of a tool from the signature of its function. The answer is `cannot` if no signature says a
schema of the fixture.

https://py.sdk.modelcontextprotocol.io/v1/server/#tools
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import CallToolResult

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import equivalent, form, parameters, received, result, submitted

from results import call_tool_result


async def build(request: dict[str, Any]) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    fixture = request["fixture"]
    # FastMCP has no parameter for the server's version.
    server = FastMCP(fixture["server"]["name"])
    for tool in fixture["tools"]:
        try:
            with raised_recursion_limit():
                function = tool_function(tool)
            server.add_tool(function, **{key: tool[key] for key in ("name", "title", "description") if key in tool})
        except Cannot:
            raise
        except Exception as error:
            raise Refused(error, tool["name"]) from error

    derived = {tool.name: tool for tool in await server.list_tools()}
    # The server lists an empty name, or one that occurs twice, in its own way.
    for tool in (tool for tool in fixture["tools"] if tool["name"] in derived):
        with raised_recursion_limit():
            if not equivalent(tool["inputSchema"], derived[tool["name"]].inputSchema):
                raise Cannot("the inputSchema that FastMCP derives from the function's signature is not equivalent")
            if "outputSchema" in tool and not equivalent(tool["outputSchema"], derived[tool["name"]].outputSchema):
                raise Cannot("the outputSchema that FastMCP derives from the function's result is not equivalent")
    return server


def tool_function(tool: dict[str, Any]) -> Callable[..., Any]:
    """Makes the function that the author of the tool writes with `def`."""
    signature = parameters(tool.get("inputSchema"))
    # To a result that is a dict, the SDK adds an outputSchema that every object conforms to.
    returns = result(tool["outputSchema"], model=True) if "outputSchema" in tool else dict[str, Any]
    match tool["does"]:
        case {"echo": _}:

            async def echo(**arguments: Any) -> Any:
                return received(signature, arguments)

            function = echo

        case {"return": {"structuredContent": structured, **others}} if not others and (
            isinstance(structured, dict) or "outputSchema" in tool
        ):

            async def return_value(**_arguments: Any) -> Any:
                return structured

            function = return_value

        case {"return": parts}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#structured-output
            returns = Annotated[CallToolResult, returns] if "outputSchema" in tool else CallToolResult

            async def return_result(**_arguments: Any) -> Any:
                return call_tool_result(parts)

            function = return_result

        case {"elicit": {"message": message, "requestedSchema": schema}}:
            # https://py.sdk.modelcontextprotocol.io/v1/server/#elicitation
            asked = requested_form(schema)

            async def ask(ctx: Context, **_arguments: Any) -> Any:
                answer = await ctx.elicit(message=message, schema=asked)
                if answer.action == "accept":
                    return {"action": "accept", "content": submitted(answer.data)}
                return {"action": answer.action}

            function = ask
            signature.append(Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Context))
        case {"raise": message}:

            async def fail(**_arguments: Any) -> Any:
                raise RuntimeError(message)

            function = fail

        case does:
            raise NotImplementedError(f"a tool that does {list(does)}")

    function.__signature__ = Signature(signature, return_annotation=returns)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in signature} | {"return": returns}
    return function


def requested_form(schema: Any) -> Any:
    found = form(schema, literals=False)
    if not equivalent(schema, found.model_json_schema()):
        raise Cannot("the form that FastMCP derives from a pydantic model is not equivalent")
    return found
