"""A client with the elicitation mode `none` answers an elicitation with -32600 instead of -32602."""

import json
import sys

import anyio
from fast_agent import (
    Core,
    LoggerSettings,
    McpAgent,
    MCPElicitationSettings,
    MCPServerSettings,
    MCPSettings,
    Settings,
)
from fast_agent.agents.agent_types import AgentConfig

from casebook_mock import stdio_server

QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}


async def main() -> int:
    server = MCPServerSettings(
        command=sys.executable,
        args=stdio_server({}, QUESTION),
        protocol_mode="legacy",
        elicitation=MCPElicitationSettings(mode="none"),
    )
    mcp = MCPSettings(servers={"raw": server})
    settings = Settings(mcp=mcp, logger=LoggerSettings(type="none", progress_display=False), session_history=False)
    config = AgentConfig("repro", servers=["raw"])
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        answer = (await agent.call_tool("t", {})).content[0].text
    code = json.loads(answer).get("error", {}).get("code")
    print(f"the client answers a mode that it did not declare with the code {code}")
    return 0 if code == -32600 else 1


sys.exit(anyio.run(main))
