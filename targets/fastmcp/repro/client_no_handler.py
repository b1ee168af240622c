"""A client without an elicitation handler answers an elicitation with -32600 instead of -32602."""

import json
import sys

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from casebook_mock import stdio_server

QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}


async def main() -> int:
    server = StdioTransport(sys.executable, stdio_server({}, QUESTION), keep_alive=False)
    async with Client(server, mode="legacy") as client:
        answer = (await client.call_tool_mcp("t", {})).content[0].text
    code = json.loads(answer).get("error", {}).get("code")
    print(f"the client answers a mode that it did not declare with the code {code}")
    return 0 if code == -32600 else 1


sys.exit(anyio.run(main))
