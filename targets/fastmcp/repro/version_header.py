"""A request of 2026-07-28 under a header of 2025-11-25 is answered with -32600 instead of a HeaderMismatch error."""

import sys

import anyio
from fastmcp import FastMCP

from casebook_mock import META_WITHOUT_CAPABILITIES, post


async def main() -> int:
    headers = {"mcp-protocol-version": "2025-11-25", "mcp-method": "tools/list"}
    app = FastMCP("repro").http_app(path="/mcp")
    async with app.lifespan(app):
        status, answer = await post(app, "tools/list", {"_meta": META_WITHOUT_CAPABILITIES}, headers)
    print(f"status {status}: {answer}")
    return 0 if '"code":-32600' in answer.replace(" ", "") else 1


sys.exit(anyio.run(main))
