"""A request of 2026-07-28 under a header of 2025-11-25 is answered with -32600 instead of a HeaderMismatch error."""

import json
import sys
from typing import Any

import anyio
from mcp.server import MCPServer

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def main() -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).encode()
    headers = {
        "host": "127.0.0.1:1",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
        "mcp-method": "tools/list",
    }
    server = MCPServer("repro")
    app = server.streamable_http_app()
    async with server.session_manager.run():
        status, answer = await post(app, headers, body)
    print(f"status {status}: {answer}")
    return 0 if '"code":-32600' in answer.replace(" ", "") else 1


async def post(app: Any, headers: dict[str, str], body: bytes) -> tuple[int, str]:
    """Sends one HTTP request to an ASGI application."""
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
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


sys.exit(anyio.run(main))
