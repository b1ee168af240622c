"""FastMCP serves a request from any Origin by default."""

import sys

import anyio
from fastmcp import FastMCP

from casebook_mock import post

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


async def main() -> int:
    app = FastMCP("repro").http_app(path="/mcp")
    async with app.lifespan(app):
        status, _ = await post(app, "initialize", INITIALIZE, {"origin": "http://attacker.example"})
    print(f"status of a request with the Origin http://attacker.example: {status}")
    return 0 if status == 200 else 1


sys.exit(anyio.run(main))
