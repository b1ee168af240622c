"""StreamableHTTPSessionManager serves a request from any Origin by default."""

import json
import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


async def main() -> int:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    headers = {
        "host": "127.0.0.1:1",
        "origin": "http://attacker.example",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    manager = StreamableHTTPSessionManager(app=Server("repro"))
    async with manager.run():
        status = await post(manager.handle_request, headers, body)
    print(f"status of a request with the Origin http://attacker.example: {status}")
    return 0 if status == 200 else 1


async def post(app: Any, headers: dict[str, str], body: bytes) -> int:
    """Sends one HTTP request to an ASGI application, and returns the status of the response."""
    sent: list[dict[str, Any]] = []
    requests = [{"type": "http.request", "body": body}]

    async def receive() -> dict[str, Any]:
        if requests:
            return requests.pop()
        return await anyio.sleep_forever()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": raw}
    with anyio.fail_after(10):
        await app(scope | {"scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 1)}, receive, send)
    return sent[0]["status"]


sys.exit(anyio.run(main))
