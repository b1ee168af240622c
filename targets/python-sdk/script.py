"""Drives the SDK's `Client` through a script and reports the results that its user would get."""

from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import ElicitRequestParams, ElicitResult, Request, Result
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from casebook_adapter import Cannot
from casebook_client import Answers, run_script, wire_form


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    return await run_script(
        connect(request),
        request["script"],
        list_tools=list_tools,
        call_tool=call_tool,
        error_code=error_code,
        send_request=send_request,
    )


def connect(request: dict[str, Any]) -> Client:
    """Creates a client of the revision.

    A mode pins each modern revision, and all older ones have one mode: there the client offers the newest of them and
    accepts the one that the server chooses.

    https://py.sdk.modelcontextprotocol.io/protocol-versions/#the-four-modes
    """
    if "declares" in request:
        raise Cannot("Client has no parameter for capabilities: it declares those that follow from its callbacks")
    if "url" in request:
        server = request["url"]
    else:
        command, *args = request["command"]
        server = StdioServerParameters(command=command, args=args)
    if request.get("negotiate"):
        mode = "auto"
    else:
        mode = request["revision"] if request["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    limit = request["requestTimeout"] / 1000 if "requestTimeout" in request else None
    callback = elicitation_handler(request)
    return Client(server, mode=mode, elicitation_callback=callback, read_timeout_seconds=limit)


def elicitation_handler(request: dict[str, Any]) -> ElicitationFnT | None:
    """https://py.sdk.modelcontextprotocol.io/client/callbacks/#a-callback-is-a-capability"""
    if "answers" not in request:
        return None
    answers = Answers(request["answers"])
    if {"accept": "as presented"} in answers:
        raise Cannot("the SDK has no function that accepts a form: it leaves defaults to its user")

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        match answers.take():
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case action:
                return ElicitResult(action=action)

    return answer


async def list_tools(client: Client) -> list[dict[str, Any]]:
    """https://py.sdk.modelcontextprotocol.io/client/#pagination"""
    page = await client.list_tools()
    tools = page.tools
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return [wire_form(tool) for tool in tools]


async def call_tool(client: Client, name: str, arguments: Any) -> dict[str, Any]:
    return wire_form(await client.call_tool(name, arguments))


class AnyResult(Result, extra="allow"):
    """The result of any method."""


async def send_request(client: Client, method: str, params: Any) -> dict[str, Any]:
    """https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/custom_methods/client.py"""
    request = Request[dict[str, Any] | None, str](method=method, params=params)
    return wire_form(await client.session.send_request(request, AnyResult))


def error_code(error: BaseException) -> int | None:
    return error.code if isinstance(error, MCPError) else None
