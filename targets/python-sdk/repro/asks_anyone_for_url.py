"""MCPServer sends a question in URL mode to clients that did not declare this mode.

On 2025-11-25, Context.elicit_url sends it. From 2026-07-28 on, the result of a tool asks, as the documentation shows.
Both times, the question reaches the client, whose answer is the error -32600. A server that does not ask such a client
answers with the error -32021.
"""

import sys
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitRequest, ElicitRequestURLParams, InputRequiredResult

URL = "https://example.com/connect"
server = MCPServer("repro")


@server.tool()
async def by_request(ctx: Context) -> str:
    try:
        return (await ctx.elicit_url("Connect?", URL, "1")).action
    except MCPError as error:
        return f"{error.code} {error}"


@server.tool()
async def by_result() -> str | InputRequiredResult:
    params = ElicitRequestURLParams(message="Connect?", url=URL)
    return InputRequiredResult(input_requests={"visit": ElicitRequest(params=params)})


async def main() -> int:
    # Without a callback, the client declares no elicitation, and answers a question with an error.
    async with Client(server, mode="legacy") as client:
        old = (await client.call_tool("by_request", {})).content[0].text
    new: Any = None
    async with Client(server, mode="2026-07-28") as client:
        try:
            new = await client.call_tool("by_result", {})
        except MCPError as error:
            new = f"{error.code} {error}"
    print(f"a client without the capability was asked: it answered {old!r} by 2025-11-25, and {new!r} by 2026-07-28")
    return 0 if old.startswith("-32600") and str(new).startswith("-32600") else 1


sys.exit(anyio.run(main))
