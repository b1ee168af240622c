"""Drives the SDK's `ClientSession` through a script, and hands back what its user would see."""

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

from fixture import Cannot, spoken


async def drive(order: dict[str, Any]) -> dict[str, Any]:
    """Runs the script; an error of the connection, at either end of it, goes beside the steps."""
    steps: list[dict[str, Any]] = []
    connected = False
    try:
        async with connect(order) as session:
            connected = True
            for step in order["script"]:
                steps.append(await take(session, step))
    except Cannot:
        raise
    except Exception as error:
        return {"steps": steps, "connected": connected, "error": described(error)}
    return {"steps": steps, "connected": connected}


@asynccontextmanager
async def connect(order: dict[str, Any]) -> AsyncIterator[ClientSession]:
    """An initialized session. It offers the SDK's newest revision and takes what the server says.

    https://py.sdk.modelcontextprotocol.io/v1/client/
    """
    spoken(order["revision"])
    callback = answering(order.get("answers"))
    async with (
        transport(order) as (read, write, *_),
        ClientSession(read, write, elicitation_callback=callback) as session,
    ):
        await session.initialize()
        yield session


def transport(order: dict[str, Any]) -> Any:
    if "url" in order:
        return streamable_http_client(order["url"])
    command, *args = order["command"]
    return stdio_client(StdioServerParameters(command=command, args=args))


def answering(answers: Any) -> ElicitationFnT | None:
    """A list is used up, one answer an elicitation; a single answer is given each time."""
    if answers is None:
        return None
    if {"accept": "as presented"} in (answers if isinstance(answers, list) else [answers]):
        raise Cannot("the SDK has no help with a form: it leaves defaults to its user")
    left = iter(answers) if isinstance(answers, list) else repeat(answers)

    async def answer(
        context: RequestContext[ClientSession, Any], params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        match next(left, None):
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case None:
                return ErrorData(code=INTERNAL_ERROR, message="the script has no answer left")
            case action:
                return ElicitResult(action=action)

    return answer


async def take(session: ClientSession, step: dict[str, Any]) -> dict[str, Any]:
    try:
        match step:
            case {"listTools": _}:
                return {"tools": [handed(tool) for tool in await list_tools(session)]}
            case {"callTool": {"name": name, **rest}}:
                return {"result": handed(await session.call_tool(name, rest.get("arguments")))}
    except Exception as error:
        return {"error": described(error)}
    raise Cannot(f"there is no step {list(step)}")


async def list_tools(session: ClientSession) -> list[Tool]:
    """https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#client-side-consumption"""
    page = await session.list_tools()
    tools = page.tools
    while page.nextCursor is not None:
        page = await session.list_tools(params=PaginatedRequestParams(cursor=page.nextCursor))
        tools += page.tools
    return tools


def handed(model: BaseModel) -> dict[str, Any]:
    """What arrived, by its names on the wire: a `null` that came stays, a default that did not come is left out."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def described(error: BaseException) -> dict[str, Any]:
    # What goes wrong while connecting comes wrapped by the SDK's task groups.
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    code = {"code": error.error.code} if isinstance(error, McpError) else {}
    return {"type": type(error).__name__, **code, "message": str(error)}
