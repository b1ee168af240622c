"""Drives the SDK's `ClientSession` through a script and reports the results that its user would get."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.client.session import ElicitationFnT
from mcp.shared.context import RequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from casebook_adapter import Cannot
from casebook_client import Answers, run_script, wire_form

from versions import next_page, streamable_http_client


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    return await run_script(
        connect(request), request["script"], list_tools=list_tools, call_tool=call_tool, error_code=error_code
    )


@asynccontextmanager
async def connect(request: dict[str, Any]) -> AsyncIterator[ClientSession]:
    """Yields an initialized session.

    The client offers the SDK's newest revision and accepts the one that the server chooses.

    https://py.sdk.modelcontextprotocol.io/v1/client/
    """
    if "declares" in request:
        raise Cannot("ClientSession declares elicitation by its callback: it has no parameter for the capability")
    callback = elicitation_handler(request)
    limit = timedelta(milliseconds=request["requestTimeout"]) if "requestTimeout" in request else None
    async with (
        transport(request) as (read, write, *_),
        ClientSession(read, write, read_timeout_seconds=limit, elicitation_callback=callback) as session,
    ):
        await session.initialize()
        yield session


def transport(request: dict[str, Any]) -> Any:
    if "url" in request:
        return streamable_http_client(request["url"])
    command, *args = request["command"]
    return stdio_client(StdioServerParameters(command=command, args=args))


def elicitation_handler(request: dict[str, Any]) -> ElicitationFnT | None:
    if "answers" not in request:
        return None
    answers = Answers(request["answers"])
    if {"accept": "as presented"} in answers:
        raise Cannot("the SDK has no function that accepts a form: it leaves defaults to its user")

    async def answer(context: RequestContext[ClientSession, Any], params: ElicitRequestParams) -> ElicitResult:
        match answers.take():
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case action:
                return ElicitResult(action=action)

    return answer


async def list_tools(session: ClientSession) -> list[dict[str, Any]]:
    """https://py.sdk.modelcontextprotocol.io/v1/low-level-server/#client-side-consumption"""
    page = await session.list_tools()
    tools = page.tools
    while page.nextCursor is not None:
        page = await next_page(session, page.nextCursor)
        tools += page.tools
    return [wire_form(tool) for tool in tools]


async def call_tool(session: ClientSession, name: str, arguments: Any) -> dict[str, Any]:
    return wire_form(await session.call_tool(name, arguments))


def error_code(error: BaseException) -> int | None:
    return error.error.code if isinstance(error, McpError) else None
