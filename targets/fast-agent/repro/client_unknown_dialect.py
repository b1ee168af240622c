"""The client validates a result by its newest dialect if $schema names one that it does not know, without an error."""

import sys

import anyio
from fast_agent import Core, LoggerSettings, McpAgent, MCPServerSettings, MCPSettings, Settings
from fast_agent.agents.agent_types import AgentConfig

from casebook_mock import stdio_server

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object"}
RESULTS = {
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]},
    "tools/call": {"content": [], "structuredContent": {"n": 1}},
}


async def main() -> int:
    server = MCPServerSettings(command=sys.executable, args=stdio_server(RESULTS), protocol_mode="legacy")
    mcp = MCPSettings(servers={"raw": server})
    settings = Settings(mcp=mcp, logger=LoggerSettings(type="none", progress_display=False), session_history=False)
    config = AgentConfig("repro", servers=["raw"])
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        result = await agent.call_tool("t", {})
    if result.is_error:
        print(f"the client reports {result.content[0].text}")
        return 1
    print(f"a result under an outputSchema of an unknown dialect is returned: {result.structured_content}")
    return 0


sys.exit(anyio.run(main))
