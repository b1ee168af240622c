"""StreamableHTTPSessionManager serves a request from any Origin by default."""

import sys

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from casebook_mock import post

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


async def main() -> int:
    manager = StreamableHTTPSessionManager(app=Server("repro"))
    async with manager.run():
        status, _ = await post(manager.handle_request, "initialize", INITIALIZE, {"origin": "http://attacker.example"})
    print(f"status of a request with the Origin http://attacker.example: {status}")
    return 0 if status == 200 else 1


sys.exit(anyio.run(main))
