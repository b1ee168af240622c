"""A server with a man in the middle: between.py WAY PROGRAM [ARGUMENT...] hands lines on, and does to the answers what
the way says. With `--stdio-server` among the arguments it is a server; without, an adapter, to which nothing is done."""

import json
import os
import subprocess
import sys
import threading

way, *command = sys.argv[1:]
if "--stdio-server" not in command:
    os.execv(command[0], command)

server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def hand_on():
    for line in sys.stdin.buffer:
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def changed(message):
    """What is written in place of a message, each a line."""
    result = message.get("result", {})
    if way.startswith("line "):
        return [way[5:], message]
    if way.startswith("error ") and "error" in message:
        return [{**message, "error": json.loads(way[6:])}]
    if way.startswith("cursor") and "tools" in result:
        return [{**message, "result": {**result, "nextCursor": json.loads(way[7:])}}]
    if way.startswith("shadow") and "tools" in result:
        bare = [{**tool, "inputSchema": {"type": "object"}} for tool in result["tools"]]
        wrong = {**message, "result": {**result, "tools": bare}}
        if way == "shadow notification":
            return [{"jsonrpc": "2.0", "method": "notifications/message", "result": result}, wrong]
        return [{**message, "id": 4711}, wrong]
    if way == "leave" and "content" in result:
        return [{**message, "result": {"content": 7}}]
    return [message]


threading.Thread(target=hand_on, daemon=True).start()
for line in server.stdout:
    for one in changed(json.loads(line)):
        text = one if isinstance(one, str) else json.dumps(one)
        if way == "unended" and '"content"' in text:
            os.write(1, text.encode())
            os._exit(0)
        os.write(1, text.encode() + b"\n")
if way == "leave":
    print(json.dumps({"cannot": "tell"}), file=sys.stderr, flush=True)
    os._exit(3)
os._exit(server.wait())
