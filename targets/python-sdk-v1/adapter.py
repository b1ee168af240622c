"""The mcp-casebook adapter for the Python SDK 1.x.

The parts that do not depend on the SDK are in `casebook_adapter`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from casebook_adapter import Sdk, main

from fixture import build
from script import drive


@asynccontextmanager
async def http_app(server: Server) -> AsyncIterator[ASGIApp]:
    """https://github.com/modelcontextprotocol/python-sdk/tree/v1.x/examples/servers/simple-streamablehttp"""
    manager = StreamableHTTPSessionManager(server)
    async with manager.run():
        yield manager.handle_request


async def serve_stdio(server: Server) -> None:
    """https://py.sdk.modelcontextprotocol.io/v1/low-level-server/"""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main(
        Sdk(
            package="mcp",
            api="low: mcp.server.lowlevel.Server; client: mcp.ClientSession",
            revisions=["2025-06-18", "2025-11-25"],
            variants=["low"],
            build=build,
            http_app=http_app,
            serve_stdio=serve_stdio,
            drive=drive,
        )
    )
