"""Context.elicit, elicit_form and elicit_url send a question to a client that did not declare elicitation."""

import sys

import anyio
from mcp import McpError
from mcp.server.fastmcp import Context, FastMCP
from mcp.shared.memory import create_connected_server_and_client_session
from pydantic import BaseModel

server = FastMCP("repro")


class Form(BaseModel):
    nick: str


@server.tool()
async def high(ctx: Context) -> str:
    try:
        return (await ctx.elicit("Who?", Form)).action
    except McpError as error:
        return f"{error.error.code} {error}"


@server.tool()
async def low(ctx: Context) -> str:
    try:
        return (await ctx.session.elicit_form("Who?", Form.model_json_schema())).action
    except McpError as error:
        return f"{error.error.code} {error}"


@server.tool()
async def url(ctx: Context) -> str:
    try:
        return (await ctx.elicit_url("Connect?", "https://example.com/connect", "1")).action
    except McpError as error:
        return f"{error.error.code} {error}"


async def main() -> int:
    # Without a callback, the client declares no elicitation, and answers a question with -32600.
    async with create_connected_server_and_client_session(server) as client:
        seen = [(await client.call_tool(name, {})).content[0].text for name in ("high", "low", "url")]
    print(f"the questions reached a client without the capability, which answered: {', '.join(seen)}")
    return 0 if all(text.startswith("-32600") for text in seen) else 1


sys.exit(anyio.run(main))
