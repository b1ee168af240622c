"""The other side of the programs in `repro/`, played without any SDK: a raw client over HTTP, and mock servers."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import anyio

INITIALIZE_RESULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "1"},
}
LIST_RESULT = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

META_OF_SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}}
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": META_OF_SERVER}
STATELESS_RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **CACHED},
    "tools/list": {**LIST_RESULT, **CACHED},
}

META_WITHOUT_CAPABILITIES = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def post(app: Any, method: str, params: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
    """Sends one request to an ASGI application over HTTP, and returns the status and the body of the response."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    requests = [{"type": "http.request", "body": body}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not requests:
            await anyio.sleep_forever()
        return requests.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    usual = {
        "host": "127.0.0.1:1",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    raw = [(name.encode(), value.encode()) for name, value in (usual | headers).items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": raw}
    with anyio.fail_after(10):
        await app(scope | {"scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 1)}, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


def stdio_server(results: dict[str, Any], question: dict[str, Any] | None = None) -> list[str]:
    """Returns the arguments with which Python runs a server over stdio.

    The server answers each method by its result. If there is a question, a call of a tool sends it to the client
    first, and the result of the call has the client's answer as its text.
    """
    return [__file__, json.dumps(results), json.dumps(question)]


def serve_stdio(results: dict[str, Any], question: dict[str, Any] | None) -> None:
    results = {"initialize": INITIALIZE_RESULT, "tools/list": LIST_RESULT} | results
    call = None
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["id"] == "question":
            answer = {"id": call, "result": {"content": [{"type": "text", "text": json.dumps(message)}]}}
        elif question and message["method"] == "tools/call":
            call = message["id"]
            answer = {"id": "question"} | question
        else:
            answer = {"id": message["id"], "result": results[message["method"]]}
        print(json.dumps({"jsonrpc": "2.0"} | answer), flush=True)


class SessionLosingServer:
    """A server over HTTP that answers each call in the session "old" with the status 404.

    The client's second session is "new". The first call always gets the status 404.
    """

    def __init__(self) -> None:
        self.begun: list[str] = []  # the sessions that the client began
        self.calls: list[str | None] = []  # the sessions of the calls
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send(*server.answer(message, self.headers["Mcp-Session-Id"]))

            def do_GET(self) -> None:
                self.send(405)

            def do_DELETE(self) -> None:
                self.send(200)

            def send(self, status: int, message: dict[str, Any] | None = None, session: str | None = None) -> None:
                body = json.dumps({"jsonrpc": "2.0"} | message).encode() if message else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if body:
                    self.send_header("Content-Type", "application/json")
                if session:
                    self.send_header("Mcp-Session-Id", session)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Logs nothing."""

        listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=listener.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{listener.server_port}/mcp"

    def answer(self, message: dict[str, Any], session: str | None) -> tuple[int, dict[str, Any] | None, str | None]:
        """Returns the status of the response, its message and its session."""
        match message["method"]:
            case "initialize":
                self.begun.append("new" if self.begun else "old")
                return 200, {"id": message["id"], "result": INITIALIZE_RESULT}, self.begun[-1]
            case "tools/list":
                return 200, {"id": message["id"], "result": LIST_RESULT}, None
            case "tools/call":
                self.calls.append(session)
                if len(self.calls) > 1 and session != "old":
                    return 200, {"id": message["id"], "result": {"content": []}}, None
                error = {"code": -32001, "message": "Session not found"}
                return 404, {"id": message["id"], "error": error}, None
            case _:
                return 202, None, None

    def report(self) -> int:
        """Prints the session of the call after the 404; returns 0 if it is the old one."""
        if len(self.calls) < 2:
            print("after the 404, the client sent no second call")
            return 1
        if len(self.begun) > 1 and self.calls[1] != "old":
            print(f'after the 404, the client began another session, and sent the second call in "{self.calls[1]}"')
            return 1
        print(f'after the 404, the second call was sent in the session "{self.calls[1]}"')
        return 0


if __name__ == "__main__":
    serve_stdio(*map(json.loads, sys.argv[1:]))
