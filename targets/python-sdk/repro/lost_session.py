"""After the status 404 for its session, the client sends the next request in the old session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import anyio
from mcp import Client

begun: list[str] = []  # the sessions that the client began
calls: list[str | None] = []  # the sessions of the calls


class Server(BaseHTTPRequestHandler):
    """Answers each call in the session "old" with the status 404. The client's second session is "new"."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match message["method"]:
            case "initialize":
                begun.append("new" if begun else "old")
                info = {"name": "raw", "version": "1"}
                result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
                self.answer(200, {"id": message["id"], "result": result}, {"Mcp-Session-Id": begun[-1]})
            case "tools/list":
                result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
                self.answer(200, {"id": message["id"], "result": result})
            case "tools/call":
                calls.append(self.headers["Mcp-Session-Id"])
                if len(calls) > 1 and calls[-1] != "old":
                    self.answer(200, {"id": message["id"], "result": {"content": []}})
                else:
                    error = {"code": -32001, "message": "Session not found"}
                    self.answer(404, {"id": message["id"], "error": error})
            case _:
                self.answer(202)

    def do_GET(self) -> None:
        self.answer(405)

    def do_DELETE(self) -> None:
        self.answer(200)

    def answer(self, status: int, message: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode() if message else b""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Logs nothing."""


async def main() -> int:
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Thread(target=listener.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{listener.server_port}/mcp"
    async with Client(url, mode="legacy") as client:
        for _ in range(2):
            with suppress(Exception):
                await client.call_tool("t", {})
    if len(calls) < 2:
        print("after the 404, the client sent no second call")
        return 1
    if len(begun) > 1 and calls[1] != "old":
        print(f'after the 404, the client began another session, and sent the second call in "{calls[1]}"')
        return 1
    print(f'after the 404, the second call was sent in the session "{calls[1]}"')
    return 0


sys.exit(anyio.run(main))
