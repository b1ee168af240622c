"""Drives the SDK's `Client` through a script and reports the results that its user would get."""

from itertools import repeat
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import INTERNAL_ERROR, ElicitRequestParams, ElicitResult, ErrorData, Tool
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from fixture import REVISIONS, Cannot


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    """Runs the script. A failure to connect or to disconnect is reported beside the steps."""
    steps: list[dict[str, Any]] = []
    connected = False
    try:
        async with connect(request) as client:
            connected = True
            for step in request["script"]:
                steps.append(await run_step(client, step))
    except Cannot:
        raise
    except Exception as error:
        return {"steps": steps, "connected": connected, "error": describe_error(error)}
    return {"steps": steps, "connected": connected}


def connect(request: dict[str, Any]) -> Client:
    """Creates a client for the era of this revision.

    The client offers the newest revision of the era and accepts the one that the server chooses.

    https://py.sdk.modelcontextprotocol.io/protocol-versions/#the-four-modes
    """
    if request["revision"] not in REVISIONS:
        raise Cannot(f"the SDK does not support {request['revision']}")
    if "url" in request:
        server = request["url"]
    else:
        command, *args = request["command"]
        server = StdioServerParameters(command=command, args=args)
    mode = "auto" if request["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    return Client(server, mode=mode, elicitation_callback=elicitation_handler(request.get("answers")))


def elicitation_handler(answers: Any) -> ElicitationFnT | None:
    """Creates the elicitation handler. It takes the next answer of a list, or always the same single answer.

    https://py.sdk.modelcontextprotocol.io/client/callbacks/#a-callback-is-a-capability
    """
    if answers is None:
        return None
    if {"accept": "as presented"} in (answers if isinstance(answers, list) else [answers]):
        raise Cannot("the SDK has no help with a form: it leaves defaults to its user")
    remaining = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        match next(remaining, None):
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                return ErrorData(code=INTERNAL_ERROR, message="the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def run_step(client: Client, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [wire_form(tool) for tool in await list_tools(client)]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": wire_form(await client.call_tool(name, rest.get("arguments")))}
    except Exception as error:
        return {"error": describe_error(error)}
    raise Cannot(f"there is no step {list(step)}")


async def list_tools(client: Client) -> list[Tool]:
    """https://py.sdk.modelcontextprotocol.io/client/#pagination"""
    page = await client.list_tools()
    tools = page.tools
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


def wire_form(model: BaseModel) -> dict[str, Any]:
    """Returns the received members under their wire names. It keeps a received `null` and omits unset defaults."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def describe_error(error: BaseException) -> dict[str, Any]:
    # The SDK's task groups wrap the errors of a failed connection.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.code} if isinstance(error, MCPError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
