"""Drives the SDK's `ClientSession` through a script and reports the results that its user would get."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import repeat
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.context import RequestContext
from mcp.types import INTERNAL_ERROR, ElicitRequestParams, ElicitResult, ErrorData, PaginatedRequestParams, Tool
from pydantic import BaseModel

from fixture import Cannot, check_revision


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    """Runs the script. A failure to connect or to disconnect is reported beside the steps."""
    steps: list[dict[str, Any]] = []
    connected = False
    try:
        async with connect(request) as session:
            connected = True
            for step in request["script"]:
                steps.append(await run_step(session, step))
    except Cannot:
        raise
    except Exception as error:
        return {"steps": steps, "connected": connected, "error": describe_error(error)}
    return {"steps": steps, "connected": connected}


@asynccontextmanager
async def connect(request: dict[str, Any]) -> AsyncIterator[ClientSession]:
    """Yields an initialized session.

    The client offers the SDK's newest revision and accepts the one that the server chooses.

    https://py.sdk.modelcontextprotocol.io/v1/client/
    """
    check_revision(request["revision"])
    callback = elicitation_handler(request.get("answers"))
    async with (
        transport(request) as (read, write, *_),
        ClientSession(read, write, elicitation_callback=callback) as session,
    ):
        await session.initialize()
        yield session


def transport(request: dict[str, Any]) -> Any:
    if "url" in request:
        return streamable_http_client(request["url"])
    command, *args = request["command"]
    return stdio_client(StdioServerParameters(command=command, args=args))


def elicitation_handler(answers: Any) -> ElicitationFnT | None:
    """Creates the elicitation handler. It takes the next answer of a list, or always the same single answer."""
    if answers is None:
        return None
    if {"accept": "as presented"} in (answers if isinstance(answers, list) else [answers]):
        raise Cannot("the SDK has no help with a form: it leaves defaults to its user")
    remaining = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(
        context: RequestContext[ClientSession, Any], params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        match next(remaining, None):
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                return ErrorData(code=INTERNAL_ERROR, message="the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def run_step(session: ClientSession, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [wire_form(tool) for tool in await list_tools(session)]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": wire_form(await session.call_tool(name, rest.get("arguments")))}
    except Exception as error:
        return {"error": describe_error(error)}
    raise Cannot(f"there is no step {list(step)}")


async def list_tools(session: ClientSession) -> list[Tool]:
    """https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#client-side-consumption"""
    page = await session.list_tools()
    tools = page.tools
    while page.nextCursor is not None:
        page = await session.list_tools(params=PaginatedRequestParams(cursor=page.nextCursor))
        tools += page.tools
    return tools


def wire_form(model: BaseModel) -> dict[str, Any]:
    """Returns the received members under their wire names. It keeps a received `null` and omits unset defaults."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def describe_error(error: BaseException) -> dict[str, Any]:
    # The SDK's task groups wrap the errors of a failed connection.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.error.code} if isinstance(error, McpError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
