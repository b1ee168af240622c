"""A client without an elicitation callback answers an elicitation with -32600 instead of -32602."""

import json
import sys

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

from casebook_mock import stdio_server

QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}


async def main() -> int:
    server = StdioServerParameters(command=sys.executable, args=stdio_server({}, QUESTION))
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        answer = (await client.call_tool("t", {})).content[0].text
    code = json.loads(answer).get("error", {}).get("code")
    print(f"the client answers a mode that it did not declare with the code {code}")
    return 0 if code == -32600 else 1


sys.exit(anyio.run(main))
