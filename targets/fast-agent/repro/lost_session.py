"""After the status 404 for its session with a JSON-RPC error, the client sends the next request in the old session.

It begins another session only if the body of the response is no JSON-RPC message.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import sys

import anyio
from fast_agent import Core, LoggerSettings, McpAgent, MCPServerSettings, MCPSettings, Settings
from fast_agent.agents.agent_types import AgentConfig

from casebook_mock import SessionLosingServer


async def main() -> int:
    raw = SessionLosingServer()
    server = MCPServerSettings(url=raw.url, protocol_mode="legacy")
    mcp = MCPSettings(servers={"raw": server})
    settings = Settings(mcp=mcp, logger=LoggerSettings(type="none", progress_display=False), session_history=False)
    config = AgentConfig("repro", servers=["raw"])
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        for _ in range(2):
            await agent.call_tool("t", {})
    if len(raw.calls) < 2:
        print("after the 404, the client sent no second call")
        return 1
    if len(raw.begun) > 1 and raw.calls[1] != "old":
        print(f'after the 404, the client began another session, and sent the second call in "{raw.calls[1]}"')
        return 1
    print(f'after the 404, the second call was sent in the session "{raw.calls[1]}"')
    return 0


sys.exit(anyio.run(main))
