"""The mcp-casebook adapter for the Python SDK. The parts that do not depend on the SDK are in `casebook_adapter`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server import Server
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp

from casebook_adapter import Sdk, main

from fixture import build
from script import drive


@asynccontextmanager
async def http_app(server: Server) -> AsyncIterator[ASGIApp]:
    """https://py.sdk.modelcontextprotocol.io/run/asgi/#two-servers-one-app"""
    app = server.streamable_http_app()
    async with server.session_manager.run():
        yield app


async def serve_stdio(server: Server) -> None:
    """https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#the-other-handlers"""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main(
        Sdk(
            package="mcp",
            api="low: mcp.server.lowlevel.Server; client: mcp.Client",
            revisions=["2025-06-18", "2025-11-25", "2026-07-28"],
            variants=["low"],
            build=build,
            http_app=http_app,
            serve_stdio=serve_stdio,
            drive=drive,
        )
    )
