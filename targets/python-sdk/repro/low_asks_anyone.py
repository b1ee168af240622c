"""The low-level server answers with a question to a client that did not declare elicitation.

The answer of 2026-07-28 is the error -32021 with the status 400.
"""

import json
import sys
from typing import Any

import anyio
from mcp.server import Server
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

FORM = {"type": "object", "properties": {"nick": {"type": "string"}}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def call_tool(_ctx: Any, _params: Any) -> InputRequiredResult:
    question = ElicitRequest(params=ElicitRequestFormParams(message="Who?", requested_schema=FORM))
    return InputRequiredResult(input_requests={"who": question})


async def main() -> int:
    params = {"name": "t", "arguments": {}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "host": "127.0.0.1:1",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "t",
    }
    server = Server("repro", on_call_tool=call_tool)
    app = server.streamable_http_app()
    async with server.session_manager.run():
        status, answer = await post(app, headers, body)
    asked = "elicitation/create" in answer
    print(f"a client without the capability gets the status {status}, and {'a question' if asked else answer}")
    return 0 if asked and status == 200 else 1


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
