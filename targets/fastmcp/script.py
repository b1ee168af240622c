"""Drives the SDK's `Client` through a script, and hands back what its user would see."""

from itertools import repeat
from typing import Any

from fastmcp import Client
from fastmcp.client.client import CallToolResult
from fastmcp.client.elicitation import ElicitationHandler, ElicitRequestParams, ElicitResult
from fastmcp.client.transports import StdioTransport
from mcp import MCPError
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

    https://gofastmcp.com/clients/client
    """
    if order["revision"] not in REVISIONS:
        raise Cannot(f"the SDK does not speak {order['revision']}")
    if "url" in order:
        server = order["url"]
    else:
        command, *args = order["command"]
        # Otherwise the server would outlive the client's context.
        # https://gofastmcp.com/clients/transports#session-persistence
        server = StdioTransport(command=command, args=args, keep_alive=False)
    mode = "auto" if order["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    return Client(server, mode=mode, elicitation_handler=answering(order.get("answers")))


def answering(answers: Any) -> ElicitationHandler | None:
    """A list is used up, one answer an elicitation; a single answer is given each time.

    https://gofastmcp.com/clients/elicitation
    """
    if answers is None:
        return None
    left = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(message: str, response_type: type | None, params: ElicitRequestParams, context: Any) -> Any:
        match next(left, None):
            case {"accept": "as presented"}:
                # The type that the SDK makes of the form: its defaults are the form's.
                return {} if response_type is None else response_type()
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                raise RuntimeError("the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def take(client: Client, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [handed(tool) for tool in await client.list_tools()]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": result(await client.call_tool(name, rest.get("arguments"), raise_on_error=False))}
    except Exception as error:
        return {"error": described(error)}
    raise Cannot(f"there is no step {list(step)}")


def result(called: CallToolResult) -> dict[str, Any]:
    """A result without structured content has `None` there, as has one whose structured content is null."""
    structured = called.structured_content
    return {
        "content": [handed(block) for block in called.content],
        **({} if structured is None else {"structuredContent": structured}),
        "isError": called.is_error,
    }


def handed(model: BaseModel) -> dict[str, Any]:
    """What arrived, by its names on the wire: a `null` that came stays, a default that did not come is left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def described(error: BaseException) -> dict[str, Any]:
    # What goes wrong while connecting comes wrapped, by task groups and by the client.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.code} if isinstance(error, MCPError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
