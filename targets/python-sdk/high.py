"""Builds a server from a fixture, with functions that are registered as the tools of an `MCPServer`.

The SDK derives the schemas of a tool from the signature of its function. The answer is `cannot` if no signature says a
schema of the fixture.

https://py.sdk.modelcontextprotocol.io/servers/tools/
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.types import CallToolResult

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import equivalent, form, parameters, received, result, submitted

from results import call_tool_result


async def build(request: dict[str, Any]) -> MCPServer:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    fixture = request["fixture"]
    server = MCPServer(**fixture["server"])
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
            if not equivalent(tool["inputSchema"], derived[tool["name"]].input_schema):
                raise Cannot("the inputSchema that MCPServer derives from the function's signature is not equivalent")
            if "outputSchema" in tool and not equivalent(tool["outputSchema"], derived[tool["name"]].output_schema):
                raise Cannot("the outputSchema that MCPServer derives from the function's result is not equivalent")
    return server


def tool_function(tool: dict[str, Any]) -> Callable[..., Any]:
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
                return structured

            function = return_value

        case {"return": parts}:
            # A function may return the result itself: https://py.sdk.modelcontextprotocol.io/migration/
            returns = Annotated[CallToolResult, returns] if "outputSchema" in tool else CallToolResult

            async def return_result(**_arguments: Any) -> Any:
                return call_tool_result(parts)

            function = return_result

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
    found = form(schema, literals=True)
    if not equivalent(schema, found.model_json_schema()):
        raise Cannot("the form that MCPServer derives from a pydantic model is not equivalent")
    return found
