"""The client takes a result with an unknown resultType for a complete one."""

import sys

import anyio
from agent import agent_of
from fast_agent import MCPServerSettings

from casebook_mock import META_OF_SERVER, STATELESS_RESULTS, stdio_server

RESULTS = {
    **STATELESS_RESULTS,
    "tools/call": {"resultType": "unheard-of", "content": [], "_meta": META_OF_SERVER},
}


async def main() -> int:
    server = MCPServerSettings(command=sys.executable, args=stdio_server(RESULTS), protocol_mode="modern")
    async with agent_of(server) as agent:
        result = await agent.call_tool("t", {})
    if result.is_error:
        print(f"the client reports {result.content[0].text}")
        return 1
    print(f'a result with the resultType "unheard-of" is returned: {result!r}')
    return 0


sys.exit(anyio.run(main))
