"""Drives the SDK's `Client` through a script and reports the results that its user would get."""

from typing import Any

from fastmcp import Client
from fastmcp.client.elicitation import ElicitationHandler, ElicitRequestParams, ElicitResult
from fastmcp.client.transports import StdioTransport

from casebook_adapter import Cannot
from casebook_client import Answers, run_script, wire_form

from versions import MODERN_PROTOCOL_VERSIONS, MCPError, in_mode


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    return await run_script(
        connect(request),
        request["script"],
        list_tools=list_tools,
        call_tool=call_tool if request.get("variant") == "call-tool" else call_tool_mcp,
        error_code=error_code,
    )


def connect(request: dict[str, Any]) -> Client:
    """Creates a client of the revision.

    A mode pins each modern revision, and all older ones have one mode: there the client offers the newest of them and
    accepts the one that the server chooses.

    https://gofastmcp.com/clients/client#protocol-negotiation
    """
    if "declares" in request:
        raise Cannot(
            "Client has a parameter only for the capabilities of sampling; the others follow from its handlers"
        )
    if "url" in request:
        server = request["url"]
    else:
        command, *args = request["command"]
        # By default the server's process outlives the client's context, so that a later client can use it again. The
        # documentation recommends this option for isolated connections, such as those of casebook's tests.
        # https://gofastmcp.com/clients/transports#session-persistence
        server = StdioTransport(command=command, args=args, keep_alive=False)
    if request.get("negotiate"):
        mode = "auto"
    else:
        mode = request["revision"] if request["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    # https://gofastmcp.com/clients/tools#execution-options
    limit = {"timeout": request["requestTimeout"] / 1000} if "requestTimeout" in request else {}
    return Client(server, **in_mode(mode), elicitation_handler=elicitation_handler(request), **limit)


def elicitation_handler(request: dict[str, Any]) -> ElicitationHandler | None:
    """https://gofastmcp.com/clients/elicitation"""
    if "answers" not in request:
        return None
    answers = Answers(request["answers"])

    async def answer(message: str, response_type: type | None, params: ElicitRequestParams, context: Any) -> Any:
        match answers.take():
            case {"accept": "as presented"}:
                # The SDK derives this type from the form, with the same defaults.
                return ElicitResult(action="accept") if response_type is None else response_type()
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case action:
                return ElicitResult(action=action)

    return answer


async def list_tools(client: Client) -> list[dict[str, Any]]:
    return [wire_form(tool) for tool in await client.list_tools()]


async def call_tool_mcp(client: Client, name: str, arguments: Any) -> dict[str, Any]:
    """https://gofastmcp.com/clients/tools#raw-protocol-access"""
    return wire_form(await client.call_tool_mcp(name, arguments))


async def call_tool(client: Client, name: str, arguments: Any) -> dict[str, Any]:
    """Returns what `call_tool` returns. It raises an exception for a result with `isError`.

    2.13.1 brought `meta`. `structured_content` and `meta` are `None` both for null and for a missing value.

    https://gofastmcp.com/clients/tools
    """
    result = await client.call_tool(name, arguments)
    named = {"structuredContent": result.structured_content, "_meta": getattr(result, "meta", None)}
    return {
        "content": [wire_form(block) for block in result.content],
        **{key: value for key, value in named.items() if value is not None},
    }


def error_code(error: BaseException) -> int | None:
    return error.error.code if isinstance(error, MCPError) else None
