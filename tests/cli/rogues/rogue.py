"""A target that works correctly except in one place, where it runs Python code with the functions below:

rogue.py call|list|hello|serve|stop CODE [--stdio-server FILE]

`call` is a call of the tool `lose`. At `call` and `list` the server misbehaves, at the others the adapter.
"""

import inspect
import json
import os
import signal
import socket
import sys
import threading
import time

PLACE, CODE = sys.argv[1], inspect.cleandoc(sys.argv[2])
FUNCTIONS = ("id", "answer", "begun", "put", "say", "head", "events", "flood", "endless")
OUT = sys.stdout.buffer


class Exchange:
    """A request, the stream for its answer, and the functions with which the code of a rogue answers."""

    def __init__(self, asked, out, over_http, end=lambda: os.close(1)):
        self.asked, self.out, self.over_http, self.end = asked, out, over_http, end
        self.id = asked.get("id")

    def answer(self, id=None, **result):
        """The correct answer as text; `id` overrides the id of the request."""
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("lose", "keep")]
        listed = {"tools": tools, "ttlMs": 0, "cacheScope": "private"}
        right = listed if self.asked.get("method") == "tools/list" else {"content": []}
        result = {"resultType": "complete", **right, **result}
        return json.dumps({"jsonrpc": "2.0", "id": self.id if id is None else id, "result": result})

    def begun(self):
        """The beginning of a correct answer, up to the value of a member; `}}` completes it."""
        return self.answer(structuredContent=0)[:-3]

    def put(self, *parts):
        """Writes parts as they are."""
        self.out.write(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts))
        self.out.flush()

    def say(self, *texts):
        """Sends messages in the form of the transport: lines, or one body, or an event stream for several messages."""
        texts = [text if isinstance(text, bytes) else text.encode() for text in texts]
        if not self.over_http:
            self.put(*(text + b"\n" for text in texts))
        elif len(texts) == 1:
            self.put(self.head(length=len(texts[0])), texts[0])
        else:
            self.put(self.events(), *(b"data: " + text + b"\n\n" for text in texts))

    def head(self, *more, type="application/json", length=None, status="HTTP/1.1 200 OK"):
        """The head of an HTTP response. Without a length, the body ends with the connection."""
        length = [] if length is None else [f"content-length: {length}"]
        return "\r\n".join([status, f"content-type: {type}", "connection: close", *length, *more, "", ""])

    def events(self, *more, length=None):
        """The head of an HTTP response with an event stream."""
        return self.head(*more, type="text/event-stream", length=length)

    def flood(self, megabytes, byte=b" "):
        """Writes this many megabytes in pieces."""
        for _ in range(megabytes):
            self.put(byte * ((1 << 20) // len(byte)))

    def endless(self, part):
        """Writes a part again and again, without end."""
        while True:
            self.put(part * max(1, 4096 // len(part)))

    def functions(self):
        own = {name: getattr(self, name) for name in FUNCTIONS}
        own |= {"end": self.end, "in_process": self.out is OUT}
        return {**own, "json": json, "os": os, "signal": signal, "sys": sys, "time": time, "hang": hang}

    def misbehaves_at(self, place):
        """Returns whether the rogue misbehaves here."""
        called = self.asked.get("params", {}).get("name")
        return place == PLACE and (place != "call" or called == "lose")

    def run(self, place, correct):
        exec(CODE, self.functions()) if self.misbehaves_at(place) else correct()


def hang():
    time.sleep(1000)


def serve(exchange):
    """Answers one message, correctly or with the code of the rogue."""
    place = {"tools/list": "list", "tools/call": "call"}.get(exchange.asked.get("method"))
    exchange.run(place, lambda: exchange.say(exchange.answer()))


def serve_connection(connection):
    with connection, connection.makefile("rwb") as wire:
        try:
            length = 0
            while line := wire.readline().strip().lower():
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length:
                serve(Exchange(json.loads(wire.read(length)), wire, True))
        except OSError:
            pass  # The client has closed the connection.


def listen():
    """Starts a server over HTTP, and returns its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            threading.Thread(target=serve_connection, args=listener.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def stream(port, word):
    """Starts a server over stdio on a stream, and returns the connection."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(word.encode() + b"\n")

    def answer_lines():
        with connection, connection.makefile("rwb") as wire:
            try:
                for line in wire:
                    serve(Exchange(json.loads(line), wire, False, lambda: connection.shutdown(socket.SHUT_WR)))
            except OSError:
                pass  # The connection was closed.

    threading.Thread(target=answer_lines, daemon=True).start()
    return connection


if "--stdio-server" in sys.argv:
    for line in sys.stdin.buffer:
        serve(Exchange(json.loads(line), OUT, False))
    sys.exit()

def start(asked):
    if place := asked["serve"].get("stream"):
        streams[asked["id"]] = stream(**place)
        return {}
    return {"url": listen()}


def stop(asked):
    if served := streams.pop(asked["stop"]["serving"], None):
        try:
            served.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The connection is closed already.
    return True


streams = {}
HELLO = {"roles": ["server"], "transports": ["stdio", "http"], "revisions": ["2026-07-28"], "streams": True}
GOOD = {"hello": lambda _: HELLO, "serve": start, "stop": stop}
NAMES = {"hello": "hello", "serve": "serving", "stop": "stopped"}
for line in sys.stdin.buffer:
    asked = json.loads(line)
    kind = next((key for key in asked if key in GOOD), "unknown")
    exchange = Exchange(asked, OUT, False)
    good = lambda: json.dumps({"id": asked["id"], NAMES[kind]: GOOD[kind](asked)})
    more = {"asked": asked, "good": good, "hello": HELLO, "listen": listen, "stream": stream}
    if kind == PLACE and ("lose" in line.decode() or kind != "serve"):
        exec(CODE, {**exchange.functions(), **more})
    else:
        exchange.say(good() if kind in GOOD else json.dumps({"id": asked["id"], "unsupported": "no such request"}))
