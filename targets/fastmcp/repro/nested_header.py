"""Until the first list, FastMCP does not compare the header of a marked argument inside an object with the argument."""

import sys
from typing import Annotated, Any

import anyio
from fastmcp import Client, FastMCP
from pydantic import BaseModel, Field

from casebook_mock import META_WITHOUT_CAPABILITIES, post

HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "deploy"}


class Place(BaseModel):
    zone: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Zone"})]


server = FastMCP("repro")


@server.tool
def deploy(at: Place) -> dict[str, Any]:
    return {"at": at.model_dump()}


async def main() -> int:
    app = server.http_app(path="/mcp")
    async with app.lifespan(app):
        params = {"name": "deploy", "arguments": {"at": {"zone": "b"}}, "_meta": META_WITHOUT_CAPABILITIES}
        headers = HEADERS | {"mcp-param-zone": "a"}
        before, _ = await post(app, "tools/call", params, headers)
        async with Client(server) as client:
            await client.list_tools()
        after, _ = await post(app, "tools/call", params, headers)
    print(f"a call with the header a and the argument b: status {before} before tools/list, {after} after it")
    return 0 if before == 200 else 1


sys.exit(anyio.run(main))
