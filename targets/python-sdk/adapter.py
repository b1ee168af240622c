"""The mcp-casebook adapter for the Python SDK. The parts that do not depend on the SDK are in `casebook_adapter`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp

from casebook_adapter import Sdk, main

import high
import low
from script import drive


async def build(request: dict[str, Any]) -> MCPServer | Server:
    return await (low if request.get("variant") == "low" else high).build(request)


@asynccontextmanager
async def http_app(server: MCPServer | Server) -> AsyncIterator[ASGIApp]:
    """https://py.sdk.modelcontextprotocol.io/run/asgi/#two-servers-one-app"""
    app = server.streamable_http_app()
    async with server.session_manager.run():
        yield app


async def serve_stdio(server: MCPServer | Server) -> None:
    if isinstance(server, MCPServer):
        # https://py.sdk.modelcontextprotocol.io/run/
        await server.run_stdio_async()
        return
    # https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#the-other-handlers
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main(
        Sdk(
            package="mcp",
            api="high: mcp.server.MCPServer; low: mcp.server.Server; client: mcp.Client",
            revisions=["2025-06-18", "2025-11-25", "2026-07-28"],
            variants=["high", "low"],
            knows=["methods", "capabilities", "request"],
            build=build,
            http_app=http_app,
            serve_stdio=serve_stdio,
            drive=drive,
        )
    )
