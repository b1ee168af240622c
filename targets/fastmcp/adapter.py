"""The mcp-casebook adapter for FastMCP. The parts that do not depend on the SDK are in `casebook_adapter`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import FastMCP
from starlette.types import ASGIApp

from casebook_adapter import Sdk, main

import functions
import subclass
from versions import HTTP_PATH, REVISIONS, strict


async def build(request: dict[str, Any]) -> FastMCP:
    match request.get("variant"):
        case "tool":
            return await subclass.build(request)
        case "strict":
            # https://gofastmcp.com/servers/tools#validation-modes
            return await functions.build(request, **strict())
        case _:
            return await functions.build(request)


@asynccontextmanager
async def http_app(server: FastMCP) -> AsyncIterator[ASGIApp]:
    """https://gofastmcp.com/deployment/http#mounting-in-starlette"""
    app = server.http_app(path="/mcp")
    async with app.lifespan(app):
        yield app


async def serve_stdio(server: FastMCP) -> None:
    """https://gofastmcp.com/deployment/running-server#stdio-transport-default"""
    await server.run_async(transport="stdio", show_banner=False)


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    # Importing the client takes 0.3 s, and a process that serves one fixture does not need it.
    import script

    return await script.drive(request)


if __name__ == "__main__":
    main(
        Sdk(
            package="fastmcp",
            api="function, strict: @mcp.tool; tool: a subclass of fastmcp.tools.Tool; client: fastmcp.Client",
            revisions=REVISIONS,
            variants=["function", "strict", "tool", "call-tool"],
            dependencies=["mcp", "pydantic", "jsonschema"],
            build=build,
            http_app=http_app,
            http_path=HTTP_PATH,
            serve_stdio=serve_stdio,
            drive=drive,
        )
    )
