"""A client with the elicitation mode `none` answers an elicitation with -32600 instead of -32602."""

import json
import sys

import anyio
from agent import agent_of
from fast_agent import MCPElicitationSettings, MCPServerSettings

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
    async with agent_of(server) as agent:
        answer = (await agent.call_tool("t", {})).content[0].text
    code = json.loads(answer).get("error", {}).get("code")
    print(f"the client answers a mode that it did not declare with the code {code}")
    return 0 if code == -32600 else 1


sys.exit(anyio.run(main))
