"""Drives the SDK's `Client` through a script, and hands back what its user would see."""

from itertools import repeat
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import INTERNAL_ERROR, ElicitRequestParams, ElicitResult, ErrorData, Tool
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from fixture import REVISIONS, Cannot


async def drive(order: dict[str, Any]) -> dict[str, Any]:
    """Runs the script; an error of the connection, at either end of it, goes beside the steps."""
    steps: list[dict[str, Any]] = []
    connected = False
    try:
        async with connect(order) as client:
            connected = True
            for step in order["script"]:
                steps.append(await take(client, step))
    except Cannot:
        raise
    except Exception as error:
        return {"steps": steps, "connected": connected, "error": described(error)}
    return {"steps": steps, "connected": connected}


def connect(order: dict[str, Any]) -> Client:
    """A client for this revision's era. Within the era it offers its newest and takes what the server says.

    https://py.sdk.modelcontextprotocol.io/protocol-versions/#the-four-modes
    """
    if order["revision"] not in REVISIONS:
        raise Cannot(f"the SDK does not speak {order['revision']}")
    if "url" in order:
        server = order["url"]
    else:
        command, *args = order["command"]
        server = StdioServerParameters(command=command, args=args)
    mode = "auto" if order["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    return Client(server, mode=mode, elicitation_callback=answering(order.get("answers")))


def answering(answers: Any) -> ElicitationFnT | None:
    """A list is used up, one answer an elicitation; a single answer is given each time.

    https://py.sdk.modelcontextprotocol.io/client/callbacks/#a-callback-is-a-capability
    """
    if answers is None:
        return None
    if {"accept": "as presented"} in (answers if isinstance(answers, list) else [answers]):
        raise Cannot("the SDK has no help with a form: it leaves defaults to its user")
    left = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        match next(left, None):
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                return ErrorData(code=INTERNAL_ERROR, message="the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def take(client: Client, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [handed(tool) for tool in await list_tools(client)]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": handed(await client.call_tool(name, rest.get("arguments")))}
    except Exception as error:
        return {"error": described(error)}
    raise Cannot(f"there is no step {list(step)}")


async def list_tools(client: Client) -> list[Tool]:
    """https://py.sdk.modelcontextprotocol.io/client/#pagination"""
    page = await client.list_tools()
    tools = page.tools
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


def handed(model: BaseModel) -> dict[str, Any]:
    """What arrived, by its names on the wire: a `null` that came stays, a default that did not come is left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def described(error: BaseException) -> dict[str, Any]:
    # What goes wrong while connecting comes wrapped by the SDK's task groups.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.code} if isinstance(error, MCPError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
