"""Drives the SDK's `Client` through a script and reports the results that its user would get."""

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

    https://gofastmcp.com/clients/client
    """
    if request["revision"] not in REVISIONS:
        raise Cannot(f"the SDK does not support {request['revision']}")
    if "url" in request:
        server = request["url"]
    else:
        command, *args = request["command"]
        # By default the server would outlive the client's context.
        # https://gofastmcp.com/clients/transports#session-persistence
        server = StdioTransport(command=command, args=args, keep_alive=False)
    mode = "auto" if request["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    return Client(server, mode=mode, elicitation_handler=elicitation_handler(request.get("answers")))


def elicitation_handler(answers: Any) -> ElicitationHandler | None:
    """Creates the elicitation handler. It takes the next answer of a list, or always the same single answer.

    https://gofastmcp.com/clients/elicitation
    """
    if answers is None:
        return None
    remaining = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(message: str, response_type: type | None, params: ElicitRequestParams, context: Any) -> Any:
        match next(remaining, None):
            case {"accept": "as presented"}:
                # The SDK derives this type from the form, with the same defaults.
                return {} if response_type is None else response_type()
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                raise RuntimeError("the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def run_step(client: Client, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [wire_form(tool) for tool in await client.list_tools()]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": result(await client.call_tool(name, rest.get("arguments"), raise_on_error=False))}
    except Exception as error:
        return {"error": describe_error(error)}
    raise Cannot(f"there is no step {list(step)}")


def result(called: CallToolResult) -> dict[str, Any]:
    """Returns the members of a result. `structured_content` is `None` both for a missing value and for null."""
    structured = called.structured_content
    return {
        "content": [wire_form(block) for block in called.content],
        **({} if structured is None else {"structuredContent": structured}),
        "isError": called.is_error,
    }


def wire_form(model: BaseModel) -> dict[str, Any]:
    """Returns the received members under their wire names. It keeps a received `null` and omits unset defaults."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def describe_error(error: BaseException) -> dict[str, Any]:
    # Task groups and the client wrap the errors of a failed connection.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.code} if isinstance(error, MCPError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
