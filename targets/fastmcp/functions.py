"""Builds a server from a fixture, with functions that are registered by the decorator `@mcp.tool`.

The SDK derives the inputSchema of a tool from the signature of its function. The answer is `cannot` if no signature has
a schema of the fixture. The outputSchema is the decorator's `output_schema`.

https://gofastmcp.com/servers/tools
"""

from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature
from typing import Any

from fastmcp import Context, FastMCP
from mcp.types import InputRequiredResult

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import ABSENT, equivalent, parameters
from casebook_schema import form as form_model
from results import is_modern, question, received_answer, tool_result


async def build(request: dict[str, Any], **options: Any) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    server = FastMCP(**request["fixture"]["server"], **options)
    for tool in request["fixture"]["tools"]:
        if "inputSchema" not in tool:
            raise Cannot("@mcp.tool always derives an inputSchema")
        function = tool_function(tool, is_modern(request))
        # Members that the fixture omits are not passed.
        names = {"name": "name", "title": "title", "description": "description", "outputSchema": "output_schema"}
        try:
            server.tool(**{names[key]: value for key, value in tool.items() if key in names})(function)
        except Exception as error:
            raise Refused(error, tool["name"]) from error
        check_schema(tool, (await server.get_tool(tool["name"])).parameters)
    return server


def tool_function(tool: dict[str, Any], modern: bool) -> Callable[..., Any]:
    """Makes the function that the author of the tool writes with `def`."""
    schema = tool["inputSchema"]
    if isinstance(schema, dict) and schema.get("additionalProperties") is False:
        # The SDK adds this keyword to the schema of each function.
        schema = {keyword: value for keyword, value in schema.items() if keyword != "additionalProperties"}
    signature = parameters(schema)
    match tool["does"]:
        case {"echo": _}:

            async def function(**arguments: Any) -> Any:
                return {name: value for name, value in arguments.items() if value is not ABSENT}

        case {"return": {"structuredContent": structured, **others}} if not others:

            async def function(**_arguments: Any) -> Any:
                return structured

        case {"return": parts}:

            async def function(**_arguments: Any) -> Any:
                return tool_result(parts)

        case {"elicit": {"message": message, "requestedSchema": form}}:
            ask = ask_with_result(message, form) if modern else ask_with_model(message, form)
            signature.append(Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Context))

            async def function(ctx: Context, **_arguments: Any) -> Any:
                return await ask(ctx)

        case {"raise": message}:

            async def function(**_arguments: Any) -> Any:
                raise RuntimeError(message)

        case does:
            raise NotImplementedError(f"a tool that does {list(does)}")

    function.__signature__ = Signature(signature)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}
    return function


def check_schema(tool: dict[str, Any], derived: dict[str, Any]) -> None:
    """Compares the inputSchema that the SDK derived with the one of the fixture.

    A function accepts no argument without a parameter, and FastMCP adds `additionalProperties: false` to say so. This
    counts as a difference only for a tool without parameters that returns its arguments.
    """
    given = tool["inputSchema"]
    if "additionalProperties" not in given:
        if "echo" in tool["does"] and not given.get("properties"):
            raise Cannot("@mcp.tool accepts no function with `**kwargs`, so a tool cannot receive arbitrary arguments")
        derived = {keyword: value for keyword, value in derived.items() if keyword != "additionalProperties"}
    with raised_recursion_limit():
        if not equivalent(given, derived):
            raise Cannot("@mcp.tool derives an inputSchema with another meaning from the function's signature")


Ask = Callable[[Context], Awaitable[InputRequiredResult | dict[str, Any]]]


def ask_with_model(message: str, schema: Any) -> Ask:
    """https://gofastmcp.com/servers/elicitation#requesting-input-on-handshake-connections"""
    model = form_model(schema, literals=True)
    if not equivalent(schema, model.model_json_schema()):
        raise Cannot("Context.elicit takes a Python type, and the type has a schema with another meaning")

    async def ask(ctx: Context) -> dict[str, Any]:
        answer = await ctx.elicit(message, model)
        if answer.action == "accept":
            return {"action": "accept", "content": {name: value for name, value in answer.data if value is not ABSENT}}
        return {"action": answer.action}

    return ask


def ask_with_result(message: str, schema: Any) -> Ask:
    """https://gofastmcp.com/servers/elicitation#elicitation-on-the-modern-protocol"""

    async def ask(ctx: Context) -> InputRequiredResult | dict[str, Any]:
        return received_answer(ctx) or question(message, schema)

    return ask
