"""The client takes a result with an unknown resultType for a complete one."""

import json
import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

INFO = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": INFO}
REPLIES = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}], **CACHED},
    "tools/call": {"resultType": "unheard-of", "content": [], "_meta": INFO},
}


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": REPLIES[message["method"]]}
            print(json.dumps(answer), flush=True)


async def main() -> int:
    server = StdioTransport(sys.executable, [__file__, "server"], keep_alive=False)
    async with Client(server, mode="2026-07-28") as client:
        try:
            result = await client.call_tool_mcp("t", {})
        except Exception as error:
            print(f"the client reports {type(error).__name__}: {error}")
            return 1
    print(f'a result with the resultType "unheard-of" is returned: {result!r}')
    return 0


if sys.argv[1:] == ["server"]:
    serve()
else:
    sys.exit(anyio.run(main))
