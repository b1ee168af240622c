"""The client takes a result with an unknown resultType for a complete one."""

import sys

import anyio
from fast_agent import Core, LoggerSettings, McpAgent, MCPServerSettings, MCPSettings, Settings
from fast_agent.agents.agent_types import AgentConfig

from casebook_mock import stdio_server

INFO = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": INFO}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}], **CACHED},
    "tools/call": {"resultType": "unheard-of", "content": [], "_meta": INFO},
}


async def main() -> int:
    server = MCPServerSettings(command=sys.executable, args=stdio_server(RESULTS), protocol_mode="modern")
    mcp = MCPSettings(servers={"raw": server})
    settings = Settings(mcp=mcp, logger=LoggerSettings(type="none", progress_display=False), session_history=False)
    config = AgentConfig("repro", servers=["raw"])
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        result = await agent.call_tool("t", {})
    if result.is_error:
        print(f"the client reports {result.content[0].text}")
        return 1
    print(f'a result with the resultType "unheard-of" is returned: {result!r}')
    return 0


sys.exit(anyio.run(main))
