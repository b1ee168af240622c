"""A server of 2025-11-25 with one tool, sound but for the fault that its first argument names. With a
second argument it serves Streamable HTTP, and prints its URL; otherwise it reads standard input."""

import json
import os
import sys

MODE = sys.argv[1]
VERSIONS = ["2025-06-18", "2025-11-25"]
TOOL = {"name": "book", "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}}
FORM = {"message": "Which day?", "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}}}
state = {"probed": False, "sessions": set(), "opened": 0}


def error(code, message):
    return {"error": {"code": code, "message": message}}


def text(words, **more):
    return {"result": {"content": [{"type": "text", "text": words}], **more}}


def initialize(params):
    state["opened"] += 1
    if MODE == "one-session" and state["opened"] > 1 or MODE == "probe-poisons" and state["probed"]:
        return error(-32600, "the server is initialized already")
    asked = params.get("protocolVersion")
    version = asked if asked in VERSIONS or MODE == "any-version" else VERSIONS[-1]
    result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
    if MODE == "capabilities-missing":
        del result["capabilities"]
    if MODE == "tools-undeclared":
        result["capabilities"] = {}
    return {"result": result}


def listed():
    if MODE == "cursor-null":
        return {"tools": [TOOL], "nextCursor": None}
    if MODE == "hint-as-text":
        return {"tools": [{**TOOL, "annotations": {"readOnlyHint": "yes"}}]}
    return {"tools": [TOOL]}


def call(params, ask):
    arguments = params.get("arguments", {})
    if params.get("name") != "book" or not isinstance(arguments, dict):
        return error(-32602, "unknown tool or odd arguments")
    if not isinstance(arguments.get("day"), str):
        return text("`day` must be a text", isError=True)
    if MODE == "crashes" or MODE == "ascii-alone" and not arguments["day"].isascii():
        os._exit(3)
    if MODE == "hangs":
        return None
    while MODE == "asks-again" and "content" not in ask(FORM).get("result", {}):
        pass
    token = params.get("_meta", {}).get("progressToken")
    if MODE == "progress-back" and token is not None:
        for progress in (2, 1):
            write({"method": "notifications/progress", "params": {"progressToken": token, "progress": progress}})
    if MODE == "image-as-text":
        return {"result": {"content": [{"type": "image", "data": "***", "mimeType": "image/png"}]}}
    if MODE == "decline-crashes" and "content" not in ask(FORM).get("result", {}):
        os._exit(3)
    return text("booked: für dich")


def answer(message, ask=None):
    """The response to a message, without its id; `None` if there is none."""
    if not isinstance(message, dict):
        return error(-32600, "not a message")
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict):
        return None if MODE == "envelope-unanswered" else error(-32600, "not a request")
    if "id" not in message:
        return {"result": {}} if MODE == "notification-answered" and method != "notifications/initialized" else None
    if method == "initialize":
        return initialize(params)
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return error(-32602, "unknown cursor") if "cursor" in params else {"result": listed()}
    if method == "tools/call":
        return call(params, ask)
    state["probed"] |= method == "server/discover"
    return error(-32601, "unknown method")


def read(line):
    try:
        message = json.loads(line)
    except ValueError:
        return {}, {"id": None, **error(-32700, "not JSON")}
    return message, None


def write(message):
    line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n"
    sys.stdout.buffer.write(line.encode("latin-1" if MODE == "latin-1" else "utf-8"))
    sys.stdout.buffer.flush()


def ask(form):
    write({"id": "q", "method": "elicitation/create", "params": form})
    return json.loads(sys.stdin.readline())


def serve_http():
    """Prints the URL and answers until the end. A server over stdio starts for many tests, without these modules."""
    import uuid
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def reply(self, status, message=None, **headers):
            body = b"" if message is None else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.send_response(status)
            for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers.items()]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def stream(self, *events, **headers):
            """Event streams that end with the connection."""
            self.send_response(200)
            for name, value in [("Content-Type", "text/event-stream"), ("Connection", "close"), *headers.items()]:
                self.send_header(name, value)
            self.end_headers()
            for event in events:
                self.wfile.write(event + b"\n\n")
                self.wfile.flush()
            self.close_connection = True

        def do_GET(self):
            if MODE != "text-on-get":
                return self.reply(405)
            if self.headers.get("Origin"):
                return self.reply(403)
            self.stream(b"data: connected")

        def do_DELETE(self):
            self.reply(405)

        def do_POST(self):
            message, refusal = read(self.rfile.read(int(self.headers["Content-Length"])))
            is_loose, id = MODE == "loose", message.get("id") if isinstance(message, dict) else None
            if self.headers.get("Origin") and not is_loose:
                return self.reply(403, {"id": id, **error(-32600, "another origin")})
            if refusal or not isinstance(message, dict):
                return self.reply(400, refusal or {"id": None, **error(-32600, "a batch")})
            session, version = self.headers.get("Mcp-Session-Id"), self.headers.get("MCP-Protocol-Version", VERSIONS[0])
            is_opening = message.get("method") == "initialize"
            if not is_loose and not is_opening and session not in state["sessions"]:
                return self.reply(404 if session else 400, {"id": id, **error(-32600, "no session")})
            if not is_loose and not is_opening and version not in VERSIONS:
                return self.reply(400, {"id": id, **error(-32600, "unknown version")})
            response = answer(message)
            if MODE == "cancellation-refused" and message.get("method") == "notifications/cancelled":
                return self.reply(400, {"id": None, **error(-32600, "no such request")})
            if response is None or "id" not in message:
                return self.reply(200 if is_loose else 202, {"id": None, "result": {}} if is_loose else None)
            opened = {}
            if is_opening and "result" in response:
                opened = {"Mcp-Session-Id": uuid.uuid4().hex}
                state["sessions"].update(opened.values())
            if MODE == "ping-in-stream":
                ping, whole = {"id": "p", "method": "ping"}, {"id": id, **response}
                events = [json.dumps({"jsonrpc": "2.0", **one}).encode() for one in (ping, whole)]
                return self.stream(b"event: heartbeat\ndata: 17", *(b"data: " + one for one in events), **opened)
            self.reply(200 if "result" in response or isinstance(message.get("method"), str) else 400, {"id": id, **response}, **opened)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
    server.serve_forever()


if len(sys.argv) > 2:
    serve_http()
for line in sys.stdin:
    message, refusal = read(line)
    response = refusal or answer(message, ask)
    method = message.get("method") if isinstance(message, dict) else None
    if MODE == "cancellation-ends" and method == "notifications/cancelled":
        os._exit(3)
    if MODE == "result-for-nobody" and method == "tools/list":
        write({"id": 9999, "result": {}})
    if MODE == "cancels-the-list" and method == "tools/list":
        write({"method": "notifications/cancelled", "params": {"requestId": message["id"]}})
    if MODE == "method-as-number" and method == "tools/list":
        write({"method": 5})
    if MODE == "announces" and method == "initialize":
        write({"method": "notifications/resources/list_changed"})
    if MODE == "progresses" and method == "tools/call":
        write({"method": "notifications/progress", "params": {"progressToken": "own", "progress": 1}})
    if response is not None:
        is_lost = MODE == "error-id-null" and method == "tools/call" and "error" in response
        has_id = isinstance(message, dict) and not refusal and not is_lost
        write({"id": message.get("id") if has_id else None, **response})
