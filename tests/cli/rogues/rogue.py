"""A target that does what it should, but at one place, where it does what it is told in Python, with the words below:

rogue.py call|list|hello|serve|stop WHAT [--stdio-server FILE]

`call` is a call of the tool `lose`. At the last three it is the adapter that misbehaves, at the first two its server.
"""

import inspect
import json
import os
import signal
import socket
import sys
import threading
import time

PLACE, WHAT = sys.argv[1], inspect.cleandoc(sys.argv[2])
WORDS = ("id", "answer", "begun", "put", "say", "head", "events", "flood", "endless")
OUT = sys.stdout.buffer


class Talk:
    """One exchange: what was asked, where an answer goes, and the words with which a rogue says it."""

    def __init__(self, asked, out, over_http, end=lambda: os.close(1)):
        self.asked, self.out, self.over_http, self.end = asked, out, over_http, end
        self.id = asked.get("id")

    def answer(self, id=None, **result):
        """The right answer as text, or that to another request."""
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("lose", "keep")]
        listed = {"tools": tools, "ttlMs": 0, "cacheScope": "private"}
        right = listed if self.asked.get("method") == "tools/list" else {"content": []}
        result = {"resultType": "complete", **right, **result}
        return json.dumps({"jsonrpc": "2.0", "id": self.id if id is None else id, "result": result})

    def begun(self):
        """The right answer, up to a value that is to follow; `}}` ends it."""
        return self.answer(structuredContent=0)[:-3]

    def put(self, *parts):
        """Bytes as they are."""
        self.out.write(b"".join(part if isinstance(part, bytes) else part.encode() for part in parts))
        self.out.flush()

    def say(self, *texts):
        """Messages as the transport wants them: lines, a body, or where there are several a stream of events."""
        texts = [text if isinstance(text, bytes) else text.encode() for text in texts]
        if not self.over_http:
            self.put(*(text + b"\n" for text in texts))
        elif len(texts) == 1:
            self.put(self.head(length=len(texts[0])), texts[0])
        else:
            self.put(self.events(), *(b"data: " + text + b"\n\n" for text in texts))

    def head(self, *more, type="application/json", length=None, status="HTTP/1.1 200 OK"):
        """The beginning of a reply over HTTP, which ends with the connection where it has no length."""
        length = [] if length is None else [f"content-length: {length}"]
        return "\r\n".join([status, f"content-type: {type}", "connection: close", *length, *more, "", ""])

    def events(self, *more, length=None):
        """The beginning of a stream of events."""
        return self.head(*more, type="text/event-stream", length=length)

    def flood(self, megabytes, byte=b" "):
        """So much of it, in pieces."""
        for _ in range(megabytes):
            self.put(byte * ((1 << 20) // len(byte)))

    def endless(self, part):
        """The same for ever."""
        while True:
            self.put(part * max(1, 4096 // len(part)))

    def words(self):
        own = {name: getattr(self, name) for name in WORDS}
        own |= {"end": self.end, "in_process": self.out is OUT}
        return {**own, "json": json, "os": os, "signal": signal, "sys": sys, "time": time, "hang": hang}

    def at(self, place):
        """Whether this is where it happens."""
        called = self.asked.get("params", {}).get("name")
        return place == PLACE and (place != "call" or called == "lose")

    def go(self, place, well):
        exec(WHAT, self.words()) if self.at(place) else well()


def hang():
    time.sleep(1000)


def serve(talk):
    """Answers one message, well or not."""
    place = {"tools/list": "list", "tools/call": "call"}.get(talk.asked.get("method"))
    talk.go(place, lambda: talk.say(talk.answer()))


def converse(connection):
    with connection, connection.makefile("rwb") as wire:
        try:
            length = 0
            while line := wire.readline().strip().lower():
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length:
                serve(Talk(json.loads(wire.read(length)), wire, True))
        except OSError:
            pass  # Nobody reads any more.


def listen():
    """The address of a server over HTTP."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            threading.Thread(target=converse, args=listener.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def stream(port, word):
    """A server over stdio, on a stream; gives what cuts it off."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(word.encode() + b"\n")

    def speak():
        with connection, connection.makefile("rwb") as wire:
            try:
                for line in wire:
                    serve(Talk(json.loads(line), wire, False, lambda: connection.shutdown(socket.SHUT_WR)))
            except OSError:
                pass  # It was cut off.

    threading.Thread(target=speak, daemon=True).start()
    return connection


if "--stdio-server" in sys.argv:
    for line in sys.stdin.buffer:
        serve(Talk(json.loads(line), OUT, False))
    sys.exit()

def put_up(asked):
    if place := asked["serve"].get("stream"):
        streams[asked["id"]] = stream(**place)
        return {}
    return {"url": listen()}


def take_down(asked):
    if served := streams.pop(asked["stop"]["serving"], None):
        try:
            served.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended by itself.
    return True


streams = {}
HELLO = {"roles": ["server"], "transports": ["stdio", "http"], "revisions": ["2026-07-28"], "streams": True}
GOOD = {"hello": lambda _: HELLO, "serve": put_up, "stop": take_down}
NAMES = {"hello": "hello", "serve": "serving", "stop": "stopped"}
for line in sys.stdin.buffer:
    asked = json.loads(line)
    kind = next((key for key in asked if key in GOOD), "unknown")
    talk = Talk(asked, OUT, False)
    good = lambda: json.dumps({"id": asked["id"], NAMES[kind]: GOOD[kind](asked)})
    words = {"asked": asked, "good": good, "hello": HELLO, "listen": listen, "stream": stream}
    if kind == PLACE and ("lose" in line.decode() or kind != "serve"):
        exec(WHAT, {**talk.words(), **words})
    else:
        talk.say(good() if kind in GOOD else json.dumps({"id": asked["id"], "unsupported": "no such request"}))
