"""Of a list of two pages, fast-agent reads only the first one."""

import sys
from typing import Any

import anyio
from agent import agent_of
from fast_agent import MCPServerSettings

from casebook_mock import SessionLosingServer

PAGES = {
    None: {"tools": [{"name": "first", "inputSchema": {"type": "object"}}], "nextCursor": "2"},
    "2": {"tools": [{"name": "second", "inputSchema": {"type": "object"}}]},
}


class PagingServer(SessionLosingServer):
    def answer(self, message: dict[str, Any], session: str | None) -> tuple[int, dict[str, Any] | None, str | None]:
        if message["method"] == "tools/list":
            return 200, {"id": message["id"], "result": PAGES[message.get("params", {}).get("cursor")]}, None
        return super().answer(message, session)


async def main() -> int:
    server = MCPServerSettings(url=PagingServer().url, protocol_mode="legacy")
    async with agent_of(server) as agent:
        grouped = [tool.name for tool in (await agent.list_mcp_tools("raw"))["raw"]]
        offered = [tool.name for tool in (await agent.list_tools()).tools]
    print(f"of two pages with one tool each, list_mcp_tools returns {grouped}, and list_tools {offered}")
    return 0 if len(grouped) == len(offered) == 1 else 1


sys.exit(anyio.run(main))
