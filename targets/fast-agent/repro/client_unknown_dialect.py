"""The client validates a result by its newest dialect if $schema names one that it does not know, without an error."""

import sys

import anyio
from agent import agent_of
from fast_agent import MCPServerSettings

from casebook_mock import stdio_server

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object"}
RESULTS = {
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]},
    "tools/call": {"content": [], "structuredContent": {"n": 1}},
}


async def main() -> int:
    server = MCPServerSettings(command=sys.executable, args=stdio_server(RESULTS), protocol_mode="legacy")
    async with agent_of(server) as agent:
        result = await agent.call_tool("t", {})
    if result.is_error:
        print(f"the client reports {result.content[0].text}")
        return 1
    print(f"a result under an outputSchema of an unknown dialect is returned: {result.structured_content}")
    return 0


sys.exit(anyio.run(main))
