"""MCPServer takes a header whose bytes no header may have for Latin-1, and calls if the argument is equal."""

import sys
from typing import Annotated

import anyio
from mcp.server import MCPServer
from pydantic import Field

from casebook_mock import META_WITHOUT_CAPABILITIES, post

HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "deploy"}

server = MCPServer("repro")


@server.tool()
def deploy(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return region


async def main() -> int:
    # `post` encodes the header as UTF-8; read as Latin-1, these bytes are the argument.
    params = {"name": "deploy", "arguments": {"region": "zÃ¼rich"}, "_meta": META_WITHOUT_CAPABILITIES}
    app = server.streamable_http_app()
    async with server.session_manager.run():
        status, answer = await post(app, "tools/call", params, HEADERS | {"mcp-param-region": "zürich"})
    print(f"a call with the header bytes of z\\xc3\\xbcrich: status {status}: {answer}")
    return 0 if status == 200 else 1


sys.exit(anyio.run(main))
