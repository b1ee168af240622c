"""The client validates a result by its newest dialect if $schema names one that it does not know, without an error."""

import json
import sys

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

SCHEMA = {"$schema": "https://example.com/dialect", "type": "object"}
REPLIES = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "raw", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}]},
    "tools/call": {"content": [], "structuredContent": {"n": 1}},
}


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": REPLIES[message["method"]]}
            print(json.dumps(answer), flush=True)


async def main() -> int:
    server = StdioServerParameters(command=sys.executable, args=[__file__, "server"])
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.list_tools()
        try:
            result = await client.call_tool("t", {})
        except Exception as error:
            print(f"the client reports {type(error).__name__}: {error}")
            return 1
    print(f"a result under an outputSchema of an unknown dialect is returned: {result.structuredContent}")
    return 0


if sys.argv[1:] == ["server"]:
    serve()
else:
    sys.exit(anyio.run(main))
