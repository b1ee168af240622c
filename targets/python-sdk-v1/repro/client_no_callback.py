"""A client without an elicitation callback answers an elicitation with -32600 instead of -32602."""

import json
import sys

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

FORM = {"type": "object", "properties": {}}
QUESTION = {"jsonrpc": "2.0", "id": "question", "method": "elicitation/create"}


def serve() -> None:
    """Asks when a tool is called, and returns the code of the client's answer."""
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "initialize":
            info = {"name": "raw", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        elif message.get("method") == "tools/call":
            call = message["id"]
            answer = QUESTION | {"params": {"mode": "form", "message": "Who?", "requestedSchema": FORM}}
        elif message.get("id") == "question":
            text = str(message.get("error", {}).get("code"))
            answer = {"jsonrpc": "2.0", "id": call, "result": {"content": [{"type": "text", "text": text}]}}
        elif message.get("method") == "tools/list":
            result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        else:
            continue
        print(json.dumps(answer), flush=True)


async def main() -> int:
    server = StdioServerParameters(command=sys.executable, args=[__file__, "server"])
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        code = (await client.call_tool("t", {})).content[0].text
    print(f"the client answers a mode that it did not declare with the code {code}")
    return 0 if code == "-32600" else 1


if sys.argv[1:] == ["server"]:
    serve()
else:
    sys.exit(anyio.run(main))
