"""The mcp-casebook adapter for the Python SDK 1.x.

The parts that do not depend on the SDK are in `casebook_adapter`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from casebook_adapter import Sdk, main

import high
import low
from script import drive
from versions import HTTP_PATH, REVISIONS


async def build(request: dict[str, Any]) -> FastMCP | Server:
    return await (low if request.get("variant") == "low" else high).build(request)


@asynccontextmanager
async def http_app(server: FastMCP | Server) -> AsyncIterator[ASGIApp]:
    if isinstance(server, FastMCP):
        # https://py.sdk.modelcontextprotocol.io/v1/server/#mounting-to-an-existing-asgi-server
        app = server.streamable_http_app()
        async with server.session_manager.run():
            yield app
    else:
        # https://github.com/modelcontextprotocol/python-sdk/tree/v1.x/examples/servers/simple-task
        manager = StreamableHTTPSessionManager(app=server)
        async with manager.run():
            yield manager.handle_request


async def serve_stdio(server: FastMCP | Server) -> None:
    if isinstance(server, FastMCP):
        # https://py.sdk.modelcontextprotocol.io/v1/server/#running-your-server
        await server.run_stdio_async()
        return
    # https://py.sdk.modelcontextprotocol.io/v1/low-level-server/
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main(
        Sdk(
            package="mcp",
            api="high: mcp.server.fastmcp.FastMCP; low: mcp.server.lowlevel.Server; client: mcp.ClientSession",
            revisions=REVISIONS,
            variants=["high", "low"],
            build=build,
            http_app=http_app,
            http_path=HTTP_PATH,
            serve_stdio=serve_stdio,
            drive=drive,
        )
    )
