"""Builds a server from a fixture, with functions that are registered by the decorator `@mcp.tool`.

The SDK derives the inputSchema of a tool from the signature of its function. The answer is `cannot` if no signature has
a schema of the fixture. The outputSchema is the decorator's `output_schema`.

https://gofastmcp.com/servers/tools
"""

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.tools import Tool
from mcp import types

from casebook_adapter import Cannot, Refused, raised_recursion_limit
from casebook_schema import ABSENT, equivalent, form, parameters, received
from casebook_tool import check_verbs, renamed_members, wait_for_cancellation

import typed
from results import (
    check_log,
    is_connection_modern,
    is_modern,
    log,
    question,
    received_answer,
    report_progress,
    server_options,
    tool_result,
)
from versions import TOOL_PARAMETERS, check_context, check_error

PARAMETERS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "outputSchema": "output_schema",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
}
PARAMETERS = {member: name for member, name in PARAMETERS.items() if name in TOOL_PARAMETERS}
"""The parameters of the decorator, by the members of a tool."""


async def build(request: dict[str, Any], **options: Any) -> FastMCP:
    """Builds the server for a `serve` request. It supports every revision of the SDK, not only the requested one."""
    server = FastMCP(**server_options(request), **options)
    for tool in request["fixture"]["tools"]:
        if "typed" in tool:
            typed.register(server, tool["name"], tool["description"], is_modern(request["revision"]))
            continue
        if "inputSchema" not in tool:
            raise Cannot("@mcp.tool always derives an inputSchema")
        check_verbs(tool["does"])
        check_log(tool["does"])
        check_error(tool["does"])
        try:
            with raised_recursion_limit():
                function = tool_function(tool, is_modern(request["revision"]))
        except RecursionError as error:
            raise Cannot("the adapter cannot write annotations for an inputSchema of this depth") from error
        arguments = renamed_members(tool, PARAMETERS, "@mcp.tool", derived=("inputSchema",))
        try:
            if "icons" in arguments:
                arguments["icons"] = [types.Icon.model_validate(icon) for icon in arguments["icons"]]
            server.tool(**arguments)(function)
        except Exception as error:
            raise Refused(error, tool["name"]) from error
        check_schema(tool, Tool.from_function(function).parameters)
    return server


def tool_function(tool: dict[str, Any], modern: bool) -> Callable[..., Any]:
    """Makes the function that the author of the tool writes with `def`."""
    schema = tool["inputSchema"]
    if isinstance(schema, dict) and schema.get("additionalProperties") is False:
        # The SDK adds this keyword to the schema of each function.
        schema = {keyword: value for keyword, value in schema.items() if keyword != "additionalProperties"}
    arguments = parameters(schema)
    body = function_body(tool["does"], arguments, modern)
    own = [parameter for parameter in signature(body).parameters.values() if parameter.kind != Parameter.VAR_KEYWORD]
    check_context(own)
    expected = own + arguments
    body.__signature__ = Signature(expected)
    body.__annotations__ = {parameter.name: parameter.annotation for parameter in expected}
    return body


def function_body(does: dict[str, Any], expected: list[Parameter], modern: bool) -> Callable[..., Any]:
    match does:
        case {"echo": _}:

            async def echo(**arguments: Any) -> Any:
                return received(expected, arguments)

            return echo

        case {"return": {"structuredContent": None, **others}} if not others:
            raise Cannot("None is the result of a function that returns nothing")

        case {"return": {"structuredContent": structured, **others}} if not others:

            async def return_value(**_arguments: Any) -> Any:
                return structured

            return return_value

        case {"return": parts}:

            async def return_result(**_arguments: Any) -> Any:
                return tool_result(parts)

            return return_result

        case {"elicit": elicit} if modern:
            return ask_with_result(elicit)

        case {"elicit": {"mode": "url"}}:
            raise Cannot("Context.elicit asks only for forms")

        case {"elicit": {"message": message, "requestedSchema": schema}}:
            return ask_with_model(message, schema)

        case {"wait": {"started": started, "stopped": stopped}}:

            async def wait(**arguments: Any) -> Any:
                await wait_for_cancellation(started, stopped)
                return received(expected, arguments)

            return wait

        case {"log": members}:

            async def send_log(ctx: Context, **arguments: Any) -> Any:
                await log(ctx, **members)
                return received(expected, arguments)

            return send_log

        case {"progress": members}:

            async def send_progress(ctx: Context, **arguments: Any) -> Any:
                await report_progress(ctx, **members)
                return received(expected, arguments)

            return send_progress

        case {"raise": message}:

            async def fail(**_arguments: Any) -> Any:
                raise RuntimeError(message)

            return fail

        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")


def ask_with_model(message: str, schema: Any) -> Callable[..., Any]:
    """https://gofastmcp.com/servers/elicitation#requesting-input-on-handshake-connections"""
    model = form(schema, literals=True)
    if not equivalent(schema, model.model_json_schema()):
        raise Cannot("Context.elicit takes a Python type, and the model has a schema with another meaning")

    async def ask(ctx: Context, **_arguments: Any) -> Any:
        answer = await ctx.elicit(message, model)
        if answer.action == "accept":
            return {"action": "accept", "content": {name: value for name, value in answer.data if value is not ABSENT}}
        return {"action": answer.action}

    return ask


def ask_with_result(elicit: dict[str, Any]) -> Callable[..., Any]:
    """https://gofastmcp.com/servers/elicitation#elicitation-on-the-modern-protocol"""

    async def ask(ctx: Context, **_arguments: Any) -> Any:
        if not is_connection_modern(ctx):
            return await ask_with_model(elicit["message"], elicit["requestedSchema"])(ctx)
        return received_answer(elicit, ctx) or question(elicit)

    return ask


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
